# handoff: build, test, install. GNU make 4; 'sh scripts/setup' installs what
# a build needs. Say CC=, CFLAGS=, LDFLAGS=, PREFIX=, DESTDIR= as usual; DEV=1
# makes warnings errors, V=1 shows the commands.

VERSION = 0.1.0

BUILD = build
PREFIX = /usr/local
BINDIR = $(PREFIX)/bin
MANDIR = $(PREFIX)/share/man
BASHCOMPDIR = $(PREFIX)/share/bash-completion/completions
ZSHCOMPDIR = $(PREFIX)/share/zsh/site-functions
FISHCOMPDIR = $(PREFIX)/share/fish/vendor_completions.d
INSTALL ?= install
PKG_CONFIG ?= pkg-config
CLANG ?= clang
CFLAGS ?= -O2 -g

# ---- what there is ------------------------------------------------------

MODEL_SRCS := $(wildcard lib/net/*.c lib/model/*.c)
LIB_SRCS := $(filter-out $(MODEL_SRCS),$(wildcard lib/*/*.c))
CMD_SRCS := $(wildcard cmd/*.c)
UNIT_SRCS := $(wildcard t/unit/*.c)
HELPER_SRCS := $(wildcard t/helper/*.c)
EVAL_SRCS := $(wildcard t/eval/*.c)
FUZZ_SRCS := $(filter-out t/fuzz/replay.c,$(wildcard t/fuzz/*.c))
MAN_PAGES := $(wildcard man/*.[1-9])
BATS := $(wildcard t/*.bats)

CMDS := $(CMD_SRCS:cmd/%.c=%)
UNITS := $(UNIT_SRCS:t/unit/%.c=%)
HELPERS := $(HELPER_SRCS:t/helper/%.c=%)
FUZZERS := $(FUZZ_SRCS:t/fuzz/%.c=%)
DRIVER := $(if $(wildcard scripts/handoff),handoff)
# The commands that speak to a network; no other one links libcurl, which
# alone costs six milliseconds at every start.
NET_CMDS = hf-summarize hf-store-etcd

# ---- how it is compiled -------------------------------------------------

BASE_MODULES = yyjson libmd libzstd sqlite3 libxxhash
NET_MODULES = libcurl
pkg = $(shell $(PKG_CONFIG) $(1) 2>/dev/null)
PKG_CFLAGS := $(call pkg,--cflags $(BASE_MODULES) $(NET_MODULES))
BASE_LIBS := $(call pkg,--libs $(BASE_MODULES))
NET_LIBS := $(call pkg,--libs $(NET_MODULES))

WARN = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wcast-qual \
	-Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings \
	-Wpointer-arith -Wformat=2 -Wvla -Wundef -Wimplicit-fallthrough \
	$(if $(filter 1,$(DEV)),-Werror)
STD = -std=c17 -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE \
	-DHF_VERSION='"$(VERSION)"' -Ilib $(PKG_CFLAGS)
# Measured: none of this, eager binding included, costs time at the start.
HARDEN = -fPIE -fstack-protector-strong -D_FORTIFY_SOURCE=2
LINK = -pie -Wl,--as-needed -Wl,-z,relro -Wl,-z,now
SANITIZE = -fPIE -fsanitize=address,undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer -DHF_FAULTS

# A variant is a folder under $(BUILD) with its own flags. 'fault' has the
# named fault points compiled in, for the tests that crash a command; so has
# 'asan'. 'lint' is only compiled, never linked.
VARIANTS = release fault asan lint fuzz
CC_release = $(CC)
CC_fault = $(CC)
CC_asan = $(CC)
CC_lint = $(CC)
CC_fuzz = $(CLANG)
CFLAGS_release = $(HARDEN)
CFLAGS_fault = $(HARDEN) -DHF_FAULTS
CFLAGS_asan = $(SANITIZE)
CFLAGS_lint = $(HARDEN) -Werror
CFLAGS_fuzz = $(SANITIZE) -fsanitize=fuzzer-no-link
# libFuzzer brings its own main; elsewhere a fuzzer replays its corpus.
REPLAY = $(BUILD)/$(1)/obj/t/fuzz/replay.o
LDFLAGS_asan = -fsanitize=address,undefined
LDFLAGS_fuzz = -fsanitize=fuzzer,address,undefined

# What a rule asks for: all that decides an object's content.
compile = $(CC_$(1)) $(STD) $(WARN) $(CFLAGS_$(1)) $(CPPFLAGS) $(CFLAGS)
link = $(CC_$(1)) $(CFLAGS_$(1)) $(CFLAGS) $(LINK) $(LDFLAGS_$(1)) \
	$(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(BASE_LIBS)
link_net = $(call link,$(1)) $(NET_LIBS)

# Says in a word what is done to which file; with V=1, the command itself.
Q = $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-4s %s\n' '$(1)' '$(2)')

all: release-commands $(BUILD)/bin

# ---- rules, once a variant ----------------------------------------------

# Rewrites the file $@ only when what it says changes: what depends on it is
# remade when the flags or the list of sources do, and not otherwise.
note = mkdir -p $(@D); printf '%s\n' '$(subst ','\'',$(1))' >$@.new; \
	if cmp -s $@.new $@; then rm -f $@.new; else mv $@.new $@; fi

define variant
$(BUILD)/$(1)/flags: FORCE
	@$$(call note,$$(call compile,$(1)) $$(LDFLAGS_$(1)) $$(LDFLAGS))
$(BUILD)/$(1)/sources: FORCE
	@$$(call note,$$(LIB_SRCS) $$(MODEL_SRCS))

$(BUILD)/$(1)/obj/%.o: %.c $(BUILD)/$(1)/flags | deps
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)
	$$(Q)$$(call compile,$(1)) -MMD -MP -c -o $$@ $$<

$(BUILD)/$(1)/libhf.a: $(LIB_SRCS:%.c=$(BUILD)/$(1)/obj/%.o) \
		$(BUILD)/$(1)/sources
	@rm -f $$@
	$$(call say,AR,$$@)
	$$(Q)$$(AR) rcs $$@ $$(filter %.o,$$^)
$(BUILD)/$(1)/libhfmodel.a: $(MODEL_SRCS:%.c=$(BUILD)/$(1)/obj/%.o) \
		$(BUILD)/$(1)/sources
	@rm -f $$@
	$$(call say,AR,$$@)
	$$(Q)$$(AR) rcs $$@ $$(filter %.o,$$^)

$(addprefix $(BUILD)/$(1)/bin/,$(filter-out $(NET_CMDS),$(CMDS))): \
$(BUILD)/$(1)/bin/%: $(BUILD)/$(1)/obj/cmd/%.o $(BUILD)/$(1)/libhf.a
	@mkdir -p $$(@D)
	$$(call say,LINK,$$@)
	$$(Q)$$(call link,$(1))
$(addprefix $(BUILD)/$(1)/bin/,$(filter $(NET_CMDS),$(CMDS))): \
$(BUILD)/$(1)/bin/%: $(BUILD)/$(1)/obj/cmd/%.o $(BUILD)/$(1)/libhfmodel.a \
		$(BUILD)/$(1)/libhf.a
	@mkdir -p $$(@D)
	$$(call say,LINK,$$@)
	$$(Q)$$(call link_net,$(1))
$(BUILD)/$(1)/bin/handoff: scripts/handoff Makefile
	@mkdir -p $$(@D)
	$$(call say,COPY,$$@)
	$$(Q)sed 's/@VERSION@/$$(VERSION)/' scripts/handoff >$$@.tmp
	$$(Q)chmod 755 $$@.tmp && mv $$@.tmp $$@

$(UNITS:%=$(BUILD)/$(1)/unit/%): \
$(BUILD)/$(1)/unit/%: $(BUILD)/$(1)/obj/t/unit/%.o \
		$(BUILD)/$(1)/libhfmodel.a $(BUILD)/$(1)/libhf.a
	@mkdir -p $$(@D)
	$$(call say,LINK,$$@)
	$$(Q)$$(call link_net,$(1))
$(HELPERS:%=$(BUILD)/$(1)/helper/%): \
$(BUILD)/$(1)/helper/%: $(BUILD)/$(1)/obj/t/helper/%.o $(BUILD)/$(1)/libhf.a
	@mkdir -p $$(@D)
	$$(call say,LINK,$$@)
	$$(Q)$$(call link,$(1))
$(BUILD)/$(1)/eval: $(EVAL_SRCS:%.c=$(BUILD)/$(1)/obj/%.o) \
		$(BUILD)/$(1)/libhf.a
	$$(call say,LINK,$$@)
	$$(Q)$$(call link,$(1))
$(FUZZERS:%=$(BUILD)/$(1)/fuzz/%): \
$(BUILD)/$(1)/fuzz/%: $(BUILD)/$(1)/obj/t/fuzz/%.o \
		$(if $(filter-out fuzz,$(1)),$(REPLAY)) \
		$(BUILD)/$(1)/libhfmodel.a $(BUILD)/$(1)/libhf.a
	@mkdir -p $$(@D)
	$$(call say,LINK,$$@)
	$$(Q)$$(call link_net,$(1))

.PHONY: $(1)-commands $(1)-tests $(1)-objects
$(1)-commands: $(addprefix $(BUILD)/$(1)/bin/,$(CMDS) $(DRIVER)) \
	$(BUILD)/$(1)/libhf.a
$(1)-tests: $(UNITS:%=$(BUILD)/$(1)/unit/%) \
	$(HELPERS:%=$(BUILD)/$(1)/helper/%) \
	$(FUZZERS:%=$(BUILD)/$(1)/fuzz/%)
$(1)-objects: $(patsubst %.c,$(BUILD)/$(1)/obj/%.o,$(LIB_SRCS) \
	$(MODEL_SRCS) $(CMD_SRCS) $(UNIT_SRCS) $(HELPER_SRCS) \
	$(EVAL_SRCS) $(wildcard t/fuzz/*.c))
-include $(wildcard $(BUILD)/$(1)/obj/*/*.d $(BUILD)/$(1)/obj/*/*/*.d)
endef
$(foreach v,$(VARIANTS),$(eval $(call variant,$(v))))

$(BUILD)/bin:
	@mkdir -p $(BUILD)
	@ln -sfn release/bin $@

deps:
	@$(PKG_CONFIG) --exists $(BASE_MODULES) $(NET_MODULES) || { \
	for m in $(BASE_MODULES) $(NET_MODULES); do \
	$(PKG_CONFIG) --exists $$m || echo "make: library '$$m' not found:" \
	"run 'sh scripts/setup'" >&2; done; exit 1; }

# ---- tests --------------------------------------------------------------

RUN = HF_BUILD='$(abspath $(BUILD))' sh t/run

check: all fault-commands fault-tests
	$(RUN) release $(TESTS)

asan: asan-commands asan-tests
	$(RUN) asan $(TESTS)

# What is long over a real etcd; the rest of it is in 'check'.
etcd: all fault-commands fault-tests
	$(RUN) release t/etcd/cluster.bats

valgrind: all fault-commands fault-tests
	$(RUN) valgrind $(TESTS)

lint: all lint-objects
	HF_BUILD='$(abspath $(BUILD))' CLANG='$(CLANG)' \
	sh scripts/lint $(STD) $(WARN)

FUZZ_SECONDS = 60
fuzz: $(FUZZERS:%=$(BUILD)/fuzz/fuzz/%)
	HF_BUILD='$(abspath $(BUILD))' \
	sh scripts/fuzz $(FUZZ_SECONDS) $(FUZZERS)

interop: all
	sh t/interop/all "$(abspath $(BUILD))/bin"

# Each system call of a handoff fails, or is where it is killed.
torture: all fault-commands fault-tests
	HF_BUILD='$(abspath $(BUILD))' sh t/torture $(CALLS)

# What is left of a session after five handoffs; EVAL='-n 20 -v' and so on.
eval: all $(BUILD)/release/eval
	HF_BUILD='$(abspath $(BUILD))' sh t/eval/run $(EVAL)

bench: all $(addprefix $(BUILD)/release/helper/,paired ports)
	HF_BIN='$(abspath $(BUILD))/bin' \
	HF_HELPER='$(abspath $(BUILD))/release/helper' sh scripts/bench

# Two gigabytes and a row of 50 MB in 200 MB of memory.
big: all
	HF_BIN='$(abspath $(BUILD))/bin' sh scripts/big

demo: all
	sh scripts/demo $(BUILD)/bin

# ---- install and release ------------------------------------------------

PROGRAMS = $(CMDS) $(DRIVER)
COMPLETIONS = $(wildcard completions/handoff.bash completions/_handoff \
	completions/handoff.fish)
# Where a page or a completion goes.
mandest = $(MANDIR)/man$(subst .,,$(suffix $(1)))/$(notdir $(1))
compdest_.bash = $(BASHCOMPDIR)/handoff
compdest_.fish = $(FISHCOMPDIR)/handoff.fish
compdest_ = $(ZSHCOMPDIR)/_handoff
compdest = $(compdest_$(suffix $(1)))
# The command that puts a file there, with its folder.
place = $(INSTALL) -d '$(DESTDIR)$(dir $(2))' && \
	$(INSTALL) -m $(3) '$(1)' '$(DESTDIR)$(2)'
# Between commands of one recipe.
define newline

	$(empty)
endef

install: all
	$(foreach p,$(PROGRAMS),$(call place,$(BUILD)/release/bin/$(p),$\
	$(BINDIR)/$(p),755)$(newline))
	$(foreach m,$(MAN_PAGES),$(call place,$(m),$\
	$(call mandest,$(m)),644)$(newline))
	$(foreach c,$(COMPLETIONS),$(call place,$(c),$\
	$(call compdest,$(c)),644)$(newline))

uninstall:
	rm -f $(foreach p,$(PROGRAMS),'$(DESTDIR)$(BINDIR)/$(p)') \
	$(foreach m,$(MAN_PAGES),'$(DESTDIR)$(call mandest,$(m))') \
	$(foreach c,$(COMPLETIONS),'$(DESTDIR)$(call compdest,$(c))')

dist:
	sh scripts/dist '$(VERSION)' '$(BUILD)'

distcheck: dist
	sh scripts/dist -c '$(VERSION)' '$(BUILD)'

clean:
	rm -rf $(BUILD)

FORCE:
.PHONY: all check etcd lint asan valgrind bench demo eval install uninstall dist
.PHONY: distcheck clean big fuzz interop torture deps FORCE
.DELETE_ON_ERROR:
# Objects of tests are wanted again.
.SECONDARY:
