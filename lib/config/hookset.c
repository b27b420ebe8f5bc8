#include "config/hookset.h"

#include <string.h>

#include "base/mem.h"
#include "config/layout.h"
#include "json/json.h"

enum { ROUNDS = 256 };		/* hooks of ours that are taken out */

bool
hf_hookset_is(struct hf_str c)
{
	static const struct hf_str name = { "handoff", 7 };
	size_t i = hf_str_find(c, name, 0);

	for (; i != SIZE_MAX; i = hf_str_find(c, name, i + 1)) {
		struct hf_str rest = hf_strn(c.s + i + name.n,
		    c.n - i - name.n);

		if (i > 0 && strchr("/ '\"", c.s[i - 1]) == NULL)
			continue;
		if (rest.n > 0 && (rest.s[0] == '\'' || rest.s[0] == '"'))
			rest = hf_strn(rest.s + 1, rest.n - 1);
		if (hf_str_is(rest, " hook") || hf_str_starts(rest, " hook "))
			return true;
	}
	return false;
}

/* ---- is it what we think it is ---- */

static int
check_hooks(const struct hf_jval *root, struct hf_err *err)
{
	const struct hf_jval *hooks = NULL, *v;
	struct hf_jiter it;
	struct hf_str key;

	hf_json_iter(&it, root);
	while ((v = hf_json_next(&it, &key)) != NULL) {
		if (!hf_str_is(key, "hooks"))
			continue;
		if (hooks != NULL)
			return hf_err_set(err, HF_E_CONFIG,
			    "it has 'hooks' twice");
		hooks = v;
	}
	if (hooks != NULL && hf_json_type(hooks) != HF_J_OBJ)
		return hf_err_set(err, HF_E_CONFIG,
		    "its 'hooks' is not an object");
	return 0;
}

/* The parsed text; *t is an empty object's where it is blank. */
static struct hf_json *
parse(struct hf_str *t, struct hf_err *err)
{
	size_t bom = hf_str_starts(*t, "\xef\xbb\xbf") ? 3 : 0;
	struct hf_json *j;

	if (hf_str_trim(*t).n == 0)
		*t = HF_STR("{}\n");
	j = hf_json_parse(hf_strn(t->s + bom, t->n - bom), HF_JSON_RAW |
	    HF_JSON_COMMENTS, NULL, NULL, err);
	if (j == NULL) {
		err->code = HF_E_CONFIG;
		return NULL;
	}
	if (hf_json_type(hf_json_root(j)) != HF_J_OBJ)
		hf_err_set(err, HF_E_CONFIG, "it is not an object");
	else if (check_hooks(hf_json_root(j), err) == 0)
		return j;
	hf_json_free(j);
	return NULL;
}

/* ---- finding ours ---- */

struct place {
	struct hf_layout groups, hooks;	/* their m is the one */
	bool only_hook, only_group;
};

static size_t
count(struct hf_layout l)
{
	size_t n = 0;

	hf_layout_enter(&l, l.t, l.open);
	while (hf_layout_next(&l))
		n++;
	return n;
}

/* The command of the hook whose bracket is at at; the caller's to free. */
static bool
is_ours(struct hf_str t, const struct hf_member *m)
{
	struct hf_json *j = hf_json_parse(hf_strn(t.s + m->value,
	    m->end - m->value), HF_JSON_COMMENTS, NULL, NULL, NULL);
	bool ours = hf_hookset_is(hf_json_get_str(hf_json_root(j),
	    "command"));

	hf_json_free(j);
	return ours;
}

/* The first hook of ours in the array of an event that is at open. */
static bool
find_ours(struct hf_str t, size_t open, struct place *p)
{
	struct hf_layout inner;

	hf_layout_enter(&p->groups, t, open);
	while (hf_layout_next(&p->groups)) {
		if (t.s[p->groups.m.value] != '{' ||
		    !hf_layout_find(&inner, t, p->groups.m.value,
		    HF_STR("hooks")) || t.s[inner.m.value] != '[')
			continue;
		hf_layout_enter(&p->hooks, t, inner.m.value);
		while (hf_layout_next(&p->hooks))
			if (t.s[p->hooks.m.value] == '{' &&
			    is_ours(t, &p->hooks.m)) {
				p->only_hook = count(p->hooks) == 1;
				p->only_group = count(p->groups) == 1;
				return true;
			}
	}
	return false;
}

/* ---- adding ---- */

static void
write_hook(struct hf_buf *out, const struct hf_hookset *h,
    const char *command)
{
	hf_buf_puts(out, "{\"type\":\"command\",\"command\":");
	hf_json_quote(out, hf_str(command));
	if (h->timeout > 0)
		hf_buf_printf(out, ",\"timeout\":%lld",
		    (long long)h->timeout);
	hf_buf_putc(out, '}');
}

static void
write_group(struct hf_buf *out, const struct hf_hookset *h,
    const char *command)
{
	hf_buf_puts(out, "{\"hooks\":[");
	write_hook(out, h, command);
	hf_buf_puts(out, "]}");
}

/* What the event's array gets, with the brackets that are missing. */
static void
write_missing(struct hf_buf *out, const struct hf_hookset *h,
    const char *command, bool event)
{
	if (!event) {
		hf_buf_putc(out, '{');
		hf_json_quote(out, hf_str(h->event));
		hf_buf_putc(out, ':');
	}
	hf_buf_putc(out, '[');
	write_group(out, h, command);
	hf_buf_puts(out, event ? "]" : "]}");
}

/* Our hook of an event is there: with another command it gets this one. */
static int
renew(struct hf_buf *out, struct hf_str t, const struct place *p,
    const struct hf_hookset *h, const char *command)
{
	const struct hf_member *m = &p->hooks.m;
	struct hf_json *j = hf_json_parse(hf_strn(t.s + m->value,
	    m->end - m->value), HF_JSON_COMMENTS, NULL, NULL, NULL);
	struct hf_buf value = HF_BUF_INIT;
	struct hf_layout l;
	int changed = 0;

	(void)h;
	if (!hf_str_is(hf_json_get_str(hf_json_root(j), "command"),
	    command) && hf_layout_find(&l, t, m->value, HF_STR("command"))) {
		hf_json_quote(&value, hf_str(command));
		hf_layout_replace(out, t, &l.m, hf_buf_view(&value));
		changed = 1;
	}
	hf_json_free(j);
	hf_buf_release(&value);
	return changed;
}

static int
add_one(struct hf_buf *out, struct hf_str t, const struct hf_hookset *h,
    const char *command, struct hf_err *err)
{
	struct hf_buf value = HF_BUF_INIT;
	struct hf_layout root, hooks, list;
	struct place p;
	int rc = 1;

	if (!hf_layout_find(&root, t, hf_layout_root(t), HF_STR("hooks"))) {
		write_missing(&value, h, command, false);
		hf_layout_add(out, &root, HF_STR("hooks"),
		    hf_buf_view(&value), true);
	} else if (!hf_layout_find(&hooks, t, root.m.value,
	    hf_str(h->event))) {
		write_missing(&value, h, command, true);
		hf_layout_add(out, &hooks, hf_str(h->event),
		    hf_buf_view(&value), true);
	} else if (t.s[hooks.m.value] != '[') {
		rc = hf_err_set(err, HF_E_CONFIG,
		    "its 'hooks.%s' is not an array", h->event);
	} else if (find_ours(t, hooks.m.value, &p)) {
		rc = renew(out, t, &p, h, command);
	} else {
		hf_layout_enter(&list, t, hooks.m.value);
		while (hf_layout_next(&list))
			continue;
		write_group(&value, h, command);
		hf_layout_add(out, &list, HF_STR_NONE, hf_buf_view(&value),
		    true);
	}
	hf_buf_release(&value);
	return rc;
}

/* What came of it must be such settings too, whatever was in the text. */
static int
finish(struct hf_buf *out, const struct hf_buf *now, int changed,
    struct hf_err *err)
{
	struct hf_str t = hf_buf_view(now);
	struct hf_json *j;

	if (changed == 0)
		return 0;
	if (now->full || (j = parse(&t, err)) == NULL)
		return hf_err_set(err, HF_E_CONFIG,
		    "it cannot be changed without damage: edit it by hand");
	hf_json_free(j);
	hf_buf_str(out, hf_buf_view(now));
	return 1;
}

int
hf_hookset_add(struct hf_buf *out, struct hf_str text,
    const struct hf_hookset *set, const char *command, struct hf_err *err)
{
	struct hf_buf now = HF_BUF_INIT, next = HF_BUF_INIT;
	struct hf_json *j = parse(&text, err);
	int changed = 0, rc = 0;

	if (j == NULL)
		return -1;
	hf_json_free(j);
	hf_buf_str(&now, text);
	for (; set->event != NULL && rc >= 0; set++) {
		hf_buf_clear(&next);
		rc = add_one(&next, hf_buf_view(&now), set, command, err);
		if (rc > 0) {
			hf_buf_clear(&now);
			hf_buf_str(&now, hf_buf_view(&next));
			changed = 1;
		}
	}
	if (rc >= 0)
		rc = finish(out, &now, changed, err);
	hf_buf_release(&now);
	hf_buf_release(&next);
	return rc;
}

/* ---- removing ---- */

/* Takes the first one out: 1, or 0 when there is none. */
static int
remove_one(struct hf_buf *out, struct hf_str t)
{
	struct hf_layout root, hooks, all;
	struct place p;

	if (!hf_layout_find(&root, t, hf_layout_root(t), HF_STR("hooks")))
		return 0;
	hf_layout_enter(&hooks, t, root.m.value);
	while (hf_layout_next(&hooks)) {
		if (t.s[hooks.m.value] != '[' ||
		    !find_ours(t, hooks.m.value, &p))
			continue;
		all = hooks;
		if (!p.only_hook)
			hf_layout_remove(out, t, &p.hooks.m);
		else if (!p.only_group)
			hf_layout_remove(out, t, &p.groups.m);
		else if (count(all) > 1)
			hf_layout_remove(out, t, &hooks.m);
		else
			hf_layout_remove(out, t, &root.m);
		return 1;
	}
	return 0;
}

static bool
is_blank_object(struct hf_str t)
{
	t = hf_str_trim(t);
	return t.n >= 2 && t.s[0] == '{' && t.s[t.n - 1] == '}' &&
	    hf_str_trim(hf_strn(t.s + 1, t.n - 2)).n == 0;
}

int
hf_hookset_remove(struct hf_buf *out, struct hf_str text,
    struct hf_err *err)
{
	struct hf_buf now = HF_BUF_INIT, next = HF_BUF_INIT;
	struct hf_json *j = parse(&text, err);
	int changed = 0, rc;

	if (j == NULL)
		return -1;
	hf_json_free(j);
	hf_buf_str(&now, text);
	for (rc = 1; rc > 0 && changed < ROUNDS; changed += rc) {
		hf_buf_clear(&next);
		rc = remove_one(&next, hf_buf_view(&now));
		if (rc > 0) {
			hf_buf_clear(&now);
			hf_buf_str(&now, hf_buf_view(&next));
		}
	}
	if (changed > 0 && is_blank_object(hf_buf_view(&now)))
		rc = 1;
	else
		rc = finish(out, &now, changed, err);
	hf_buf_release(&now);
	hf_buf_release(&next);
	return rc;
}

/* ---- looking ---- */

int
hf_hookset_count(struct hf_str text, const struct hf_hookset *set,
    char **command, struct hf_err *err)
{
	struct hf_json *j = parse(&text, err);
	struct hf_layout root, hooks, hook;
	struct place p;
	int n = 0;

	*command = NULL;
	if (j == NULL)
		return -1;
	hf_json_free(j);
	if (!hf_layout_find(&root, text, hf_layout_root(text),
	    HF_STR("hooks")))
		return 0;
	for (; set->event != NULL; set++) {
		if (!hf_layout_find(&hooks, text, root.m.value,
		    hf_str(set->event)) || text.s[hooks.m.value] != '[' ||
		    !find_ours(text, hooks.m.value, &p))
			continue;
		if (n++ > 0 || !hf_layout_find(&hook, text,
		    p.hooks.m.value, HF_STR("command")))
			continue;
		j = hf_json_parse(hf_strn(text.s + hook.m.value,
		    hook.m.end - hook.m.value), 0, NULL, NULL, NULL);
		if (j != NULL)
			*command = hf_strndup(hf_json_str(hf_json_root(j)).s,
			    hf_json_str(hf_json_root(j)).n);
		hf_json_free(j);
	}
	return n;
}
