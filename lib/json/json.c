#include "json/json.h"

#include <stdlib.h>
#include <string.h>
#include <yyjson.h>

#include "base/mem.h"
#include "json/lex.h"
#include "json/num.h"
#include "json/skim.h"

enum { DEPTH_MAX = 512, MEMORY_MIN = 64 << 20, STEP = 1 << 20, PADDING = 4 };

/* A piece of memory that the next parse takes over. yyjson wants two: the
 * text's copy and the values. */
struct slot {
	void *p;
	size_t cap;
	bool taken;
};

struct hf_json {
	yyjson_doc *doc;
	yyjson_alc alc;
	struct slot slot[2];
	size_t max;			/* bytes for one of them */
	struct hf_buf own;		/* mended text */
	struct hf_skim skim;
	bool skimmed;			/* then the values are there */
};

/* ---- memory ---- */

static size_t
roomy(size_t n)
{
	return n < STEP ? n * 2 : n + STEP;
}

static struct slot *
slot_of(struct hf_json *j, const void *p)
{
	for (size_t i = 0; i < 2; i++)
		if (j->slot[i].taken && j->slot[i].p == p)
			return &j->slot[i];
	return NULL;
}

static void *
slot_malloc(void *ctx, size_t n)
{
	struct hf_json *j = ctx;

	if (n > j->max)
		return NULL;
	for (size_t i = 0; i < 2; i++) {
		struct slot *s = &j->slot[i];

		if (s->taken)
			continue;
		if (s->cap < n) {
			free(s->p);
			s->cap = roomy(n);
			s->p = hf_malloc(s->cap);
		}
		s->taken = true;
		return s->p;
	}
	return hf_malloc(n);
}

static void *
slot_realloc(void *ctx, void *p, size_t old, size_t n)
{
	struct hf_json *j = ctx;
	struct slot *s = slot_of(j, p);

	(void)old;
	if (n > j->max)
		return NULL;
	if (s == NULL)
		return hf_reallocarray(p, n, 1);
	if (s->cap < n) {
		s->cap = roomy(n);
		s->p = hf_reallocarray(s->p, s->cap, 1);
	}
	return s->p;
}

static void
slot_free(void *ctx, void *p)
{
	struct slot *s = slot_of(ctx, p);

	if (s != NULL)
		s->taken = false;
	else
		free(p);
}

static void *
heap_malloc(void *ctx, size_t n)
{
	(void)ctx;
	return hf_malloc(n);
}

static void *
heap_realloc(void *ctx, void *p, size_t old, size_t n)
{
	(void)ctx;
	(void)old;
	return hf_reallocarray(p, n, 1);
}

static void
heap_free(void *ctx, void *p)
{
	(void)ctx;
	free(p);
}

static const yyjson_alc heap = { heap_malloc, heap_realloc, heap_free, NULL };

/* ---- casts ---- */

static yyjson_val *
val(const struct hf_jval *v)
{
	union { const struct hf_jval *hf; yyjson_val *yy; } u = { v };

	return u.yy;
}

static const struct hf_jval *
jval(const yyjson_val *v)
{
	return (const struct hf_jval *)(const void *)v;
}

static yyjson_mut_val *
mut(const struct hf_jnode *n)
{
	union { const struct hf_jnode *hf; yyjson_mut_val *yy; } u = { n };

	return u.yy;
}

static struct hf_jnode *
jnode(yyjson_mut_val *v)
{
	return (struct hf_jnode *)(void *)v;
}

static yyjson_mut_doc *
doc_of(struct hf_jtree *t)
{
	return (yyjson_mut_doc *)(void *)t;
}

/* ---- parsing ---- */

static bool
blank(struct hf_str a)
{
	for (size_t i = 0; i < a.n; i++)
		if (a.s[i] != ' ' && a.s[i] != '\t' && a.s[i] != '\r' &&
		    a.s[i] != '\n')
			return false;
	return true;
}

/* yyjson has no limit of its own. Values lie in the order of the text, each
 * container knowing where it ends. */
static bool
too_deep(yyjson_doc *doc)
{
	yyjson_val *end[DEPTH_MAX], *v, *last;
	size_t n = 0;

	if (yyjson_doc_get_val_count(doc) <= DEPTH_MAX)
		return false;
	last = unsafe_yyjson_get_next(doc->root);
	for (v = doc->root; v < last; v++) {
		while (n > 0 && v >= end[n - 1])
			n--;
		if (!unsafe_yyjson_is_ctn(v))
			continue;
		if (n == DEPTH_MAX)
			return true;
		end[n++] = unsafe_yyjson_get_next(v);
	}
	return false;
}

static void
forget(struct hf_json *j)
{
	yyjson_doc_free(j->doc);
	j->doc = NULL;
	j->skimmed = false;
}

static int
fail(struct hf_err *err, struct hf_str text, size_t pos, const char *what)
{
	size_t lines = 1;

	if (pos > text.n)
		pos = text.n;
	if (text.n == 0 || memchr(text.s, '\n', text.n) == NULL)
		return hf_err_set(err, HF_E_INVALID, "byte %zu: %s", pos + 1,
		    what);
	for (size_t i = 0; i < pos; i++)
		lines += text.s[i] == '\n';
	return hf_err_set(err, HF_E_INVALID, "line %zu: %s", lines, what);
}

/* Without comments yyjson always stops behind the value: told so it begins
 * with few values and adds what is needed; else it takes three times the
 * text's length at once. *used gets the bytes read. */
static int
parse(struct hf_json *j, struct hf_str text, yyjson_read_flag insitu,
    unsigned flags, size_t *used, struct hf_err *err)
{
	yyjson_read_flag how = YYJSON_READ_NUMBER_AS_RAW | insitu;
	yyjson_read_err bad = { 0 };
	struct hf_str rest;

	if (flags & HF_JSON_COMMENTS)
		how |= YYJSON_READ_ALLOW_COMMENTS |
		    YYJSON_READ_ALLOW_TRAILING_COMMAS;
	if ((flags & HF_JSON_PREFIX) || !(flags & HF_JSON_COMMENTS))
		how |= YYJSON_READ_STOP_WHEN_DONE;
	/* yyjson changes the text only when told INSITU. */
	j->doc = yyjson_read_opts((char *)(uintptr_t)text.s, text.n, how,
	    &j->alc, &bad);
	if (j->doc == NULL)
		return fail(err, text, bad.pos,
		    bad.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION ?
		    "too many values" : bad.msg);
	*used = yyjson_doc_get_read_size(j->doc);
	if (too_deep(j->doc)) {
		forget(j);
		return fail(err, text, 0, "nested more than 512 levels deep");
	}
	if (flags & (HF_JSON_PREFIX | HF_JSON_COMMENTS))
		return 0;
	rest = hf_strn(text.s + *used, text.n - *used);
	if (!blank(rest)) {
		forget(j);
		return fail(err, text, *used, "something follows the value");
	}
	*used = text.n;
	return 0;
}

/* Parses what is in j's own buffer, which then holds the strings. */
static int
parse_own(struct hf_json *j, unsigned flags, size_t *used,
    struct hf_err *err)
{
	if (hf_buf_room(&j->own, PADDING) == NULL)
		return hf_err_set(err, HF_E_INVALID, "byte 1: too long");
	memset(j->own.data + j->own.len, 0, PADDING);
	return parse(j, hf_buf_view(&j->own), YYJSON_READ_INSITU, flags,
	    used, err);
}

/* Of a text that does not parse: mends it and parses that. With PREFIX only
 * the first object or array is looked at. 0, or -1 where that is no help. */
static int
parse_mended(struct hf_json *j, struct hf_str text, unsigned flags,
    size_t *used)
{
	struct hf_lex lex = { 0, false, false };
	struct hf_str part = text;
	size_t got;

	if (flags & HF_JSON_PREFIX) {
		part.n = hf_lex_value(&lex, text.s, text.n);
		if (part.n == SIZE_MAX)
			return -1;
	}
	hf_buf_clear(&j->own);
	if (!hf_lex_mend(&j->own, part, (flags & HF_JSON_ESCAPES) != 0) ||
	    parse_own(j, flags, &got, NULL) < 0)
		return -1;
	*used = part.n;
	return 0;
}

static struct hf_json *
json_new(void)
{
	struct hf_json *j = hf_calloc(1, sizeof(*j));

	j->alc = (yyjson_alc){ slot_malloc, slot_realloc, slot_free, j };
	return j;
}

/* Its values are as good as yyjson's. */
_Static_assert(sizeof(struct hf_skim_val) == sizeof(yyjson_val) &&
    offsetof(struct hf_skim_val, u) == offsetof(yyjson_val, uni) &&
    YYJSON_TAG_BIT == 8 && HF_SKIM_RAW == YYJSON_TYPE_RAW &&
    HF_SKIM_NULL == YYJSON_TYPE_NULL && HF_SKIM_STR == YYJSON_TYPE_STR &&
    HF_SKIM_FALSE == (YYJSON_TYPE_BOOL | YYJSON_SUBTYPE_FALSE) &&
    HF_SKIM_TRUE == (YYJSON_TYPE_BOOL | YYJSON_SUBTYPE_TRUE) &&
    HF_SKIM_ARR == YYJSON_TYPE_ARR && HF_SKIM_OBJ == YYJSON_TYPE_OBJ,
    "skim.h lays values out as yyjson does");

size_t
hf_json_skim(struct hf_json **jp, struct hf_str text)
{
	struct hf_json *j = *jp != NULL ? *jp : json_new();
	size_t n;

	*jp = j;
	forget(j);
	n = hf_skim(&j->skim, text.s, text.n);
	j->skimmed = n > 0;
	return n;
}

int
hf_json_again(struct hf_json **jp, struct hf_str text, unsigned flags,
    size_t *used, bool *mended, struct hf_err *err)
{
	struct hf_json *j = *jp != NULL ? *jp : json_new();
	size_t got = 0;
	bool did = false;

	*jp = j;
	forget(j);
	if (text.n == 0)
		return hf_err_set(err, HF_E_INVALID, "byte 1: no JSON");
	if (text.n > (SIZE_MAX - MEMORY_MIN) / 4)
		return hf_err_set(err, HF_E_INVALID, "byte 1: too long");
	j->max = MEMORY_MIN + 2 * text.n;
	if (parse(j, text, 0, flags, &got, err) < 0) {
		if (!(flags & HF_JSON_MEND) ||
		    parse_mended(j, text, flags, &got) < 0)
			return -1;
		did = true;
	}
	if (used != NULL)
		*used = got;
	if (mended != NULL)
		*mended = did;
	return 0;
}

struct hf_json *
hf_json_parse(struct hf_str text, unsigned flags, size_t *used,
    bool *mended, struct hf_err *err)
{
	struct hf_json *j = NULL;

	if (hf_json_again(&j, text, flags, used, mended, err) < 0) {
		hf_json_free(j);
		return NULL;
	}
	return j;
}

void
hf_json_free(struct hf_json *j)
{
	if (j == NULL)
		return;
	forget(j);
	for (size_t i = 0; i < 2; i++)
		free(j->slot[i].p);
	hf_buf_release(&j->own);
	hf_skim_release(&j->skim);
	free(j);
}

const struct hf_jval *
hf_json_root(const struct hf_json *j)
{
	if (j != NULL && j->skimmed)
		return (const struct hf_jval *)(const void *)j->skim.v;
	return j != NULL ? jval(yyjson_doc_get_root(j->doc)) : NULL;
}

/* ---- values ---- */

static enum hf_jtype
type_of(yyjson_type t)
{
	switch (t) {
	case YYJSON_TYPE_NULL:
		return HF_J_NULL;
	case YYJSON_TYPE_BOOL:
		return HF_J_BOOL;
	case YYJSON_TYPE_RAW:
	case YYJSON_TYPE_NUM:
		return HF_J_NUM;
	case YYJSON_TYPE_STR:
		return HF_J_STR;
	case YYJSON_TYPE_ARR:
		return HF_J_ARR;
	case YYJSON_TYPE_OBJ:
		return HF_J_OBJ;
	default:
		return HF_J_NONE;
	}
}

enum hf_jtype
hf_json_type(const struct hf_jval *v)
{
	return type_of(yyjson_get_type(val(v)));
}

const struct hf_jval *
hf_json_getn(const struct hf_jval *v, const char *key, size_t n)
{
	return jval(yyjson_obj_getn(val(v), key, n));
}

const struct hf_jval *
hf_json_at(const struct hf_jval *v, const char *path)
{
	for (;;) {
		size_t n = strcspn(path, ".");

		v = hf_json_getn(v, path, n);
		if (v == NULL || path[n] == '\0')
			return v;
		path += n + 1;
	}
}

size_t
hf_json_size(const struct hf_jval *v)
{
	return yyjson_is_ctn(val(v)) ? unsafe_yyjson_get_len(val(v)) : 0;
}

const struct hf_jval *
hf_json_elem(const struct hf_jval *v, size_t i)
{
	return jval(yyjson_arr_get(val(v), i));
}

struct hf_str
hf_json_str(const struct hf_jval *v)
{
	if (!yyjson_is_str(val(v)))
		return HF_STR_NONE;
	return hf_strn(unsafe_yyjson_get_str(val(v)),
	    unsafe_yyjson_get_len(val(v)));
}

bool
hf_json_is(const struct hf_jval *v, const char *lit)
{
	return hf_str_is(hf_json_str(v), lit);
}

bool
hf_json_true(const struct hf_jval *v)
{
	return yyjson_is_true(val(v));
}

struct hf_str
hf_json_num(const struct hf_jval *v)
{
	if (!yyjson_is_raw(val(v)))
		return HF_STR_NONE;
	return hf_strn(unsafe_yyjson_get_raw(val(v)),
	    unsafe_yyjson_get_len(val(v)));
}

bool
hf_json_int(const struct hf_jval *v, int64_t *out)
{
	return hf_num_int(hf_json_num(v), out);
}

int64_t
hf_json_count(const struct hf_jval *v)
{
	int64_t n;

	return hf_num_count(hf_json_num(v), &n) ? n : 0;
}

int64_t
hf_json_ms(const struct hf_jval *v)
{
	struct hf_str a = hf_json_num(v);
	int64_t n;

	if (hf_str_starts(a, "-") || !hf_num_count(a, &n) ||
	    n == HF_NUM_COUNT_MAX)
		return -1;
	return n;
}

void
hf_json_iter(struct hf_jiter *it, const struct hf_jval *v)
{
	it->obj = yyjson_is_obj(val(v));
	it->left = hf_json_size(v);
	it->next = it->left > 0 ? jval(unsafe_yyjson_get_first(val(v))) :
	    NULL;
}

const struct hf_jval *
hf_json_next(struct hf_jiter *it, struct hf_str *key)
{
	yyjson_val *v = val(it->next);
	struct hf_str name = HF_STR_NONE;

	if (it->left == 0)
		return NULL;
	if (it->obj) {
		name = hf_json_str(it->next);
		v++;
	}
	if (key != NULL)
		*key = name;
	it->left--;
	it->next = jval(unsafe_yyjson_get_next(v));
	return jval(v);
}

/* Adds what a writer of yyjson gave; NULL is a text that cannot be. Its
 * length is looked at here, once the writer has set it. */
static void
add_text(struct hf_buf *out, char *text, const size_t *n)
{
	if (text == NULL)
		out->full = true;
	else
		hf_buf_add(out, text, *n);
	free(text);
}

void
hf_json_write(struct hf_buf *out, const struct hf_jval *v)
{
	size_t n = 0;

	if (v == NULL)
		hf_buf_puts(out, "null");
	else
		add_text(out, yyjson_val_write_opts(val(v), 0, &heap, &n,
		    NULL), &n);
}

void
hf_json_quote(struct hf_buf *out, struct hf_str a)
{
	hf_buf_putc(out, '"');
	hf_lex_escape(out, a);
	hf_buf_putc(out, '"');
}

/* ---- trees ---- */

struct hf_jtree *
hf_jtree_new(void)
{
	return (struct hf_jtree *)(void *)yyjson_mut_doc_new(&heap);
}

void
hf_jtree_free(struct hf_jtree *t)
{
	yyjson_mut_doc_free(doc_of(t));
}

struct hf_jnode *
hf_jtree_obj(struct hf_jtree *t)
{
	return jnode(yyjson_mut_obj(doc_of(t)));
}

struct hf_jnode *
hf_jtree_arr(struct hf_jtree *t)
{
	return jnode(yyjson_mut_arr(doc_of(t)));
}

static yyjson_mut_val *
string(struct hf_jtree *t, struct hf_str a)
{
	struct hf_buf mended = HF_BUF_INIT;
	yyjson_mut_val *v;

	if (!hf_utf8_valid(a)) {
		hf_utf8_repair(&mended, a);
		a = hf_buf_view(&mended);
	}
	v = yyjson_mut_strncpy(doc_of(t), a.s, a.n);
	hf_buf_release(&mended);
	return v;
}

struct hf_jnode *
hf_jtree_str(struct hf_jtree *t, struct hf_str a)
{
	return a.s != NULL ? jnode(string(t, a)) : hf_jtree_null(t);
}

struct hf_jnode *
hf_jtree_int(struct hf_jtree *t, int64_t n)
{
	return jnode(yyjson_mut_sint(doc_of(t), n));
}

struct hf_jnode *
hf_jtree_bool(struct hf_jtree *t, bool b)
{
	return jnode(yyjson_mut_bool(doc_of(t), b));
}

struct hf_jnode *
hf_jtree_null(struct hf_jtree *t)
{
	return jnode(yyjson_mut_null(doc_of(t)));
}

struct hf_jnode *
hf_jtree_num(struct hf_jtree *t, struct hf_str spelling)
{
	return jnode(yyjson_mut_rawncpy(doc_of(t), spelling.s, spelling.n));
}

struct hf_jnode *
hf_jtree_ppm(struct hf_jtree *t, int64_t ppm)
{
	uint64_t n = ppm < 0 ? 0 - (uint64_t)ppm : (uint64_t)ppm;
	struct hf_buf b = HF_BUF_INIT;
	struct hf_jnode *node;

	hf_buf_printf(&b, "%s%llu.%06llu", ppm < 0 ? "-" : "",
	    (unsigned long long)(n / 1000000),
	    (unsigned long long)(n % 1000000));
	while (b.data[b.len - 1] == '0')
		hf_buf_cut(&b, b.len - 1);
	if (b.data[b.len - 1] == '.')
		hf_buf_cut(&b, b.len - 1);
	node = hf_jtree_num(t, hf_buf_view(&b));
	hf_buf_release(&b);
	return node;
}

struct hf_jnode *
hf_jtree_copy(struct hf_jtree *t, const struct hf_jval *v)
{
	if (v == NULL)
		return hf_jtree_null(t);
	return jnode(yyjson_val_mut_copy(doc_of(t), val(v)));
}

void
hf_jset(struct hf_jtree *t, struct hf_jnode *obj, const char *key,
    struct hf_jnode *v)
{
	yyjson_mut_obj_put(mut(obj), string(t, hf_str(key)), mut(v));
}

void
hf_jset_str(struct hf_jtree *t, struct hf_jnode *obj, const char *key,
    struct hf_str a)
{
	hf_jset(t, obj, key, hf_jtree_str(t, a));
}

void
hf_jset_cstr(struct hf_jtree *t, struct hf_jnode *obj, const char *key,
    const char *s)
{
	hf_jset_str(t, obj, key, hf_str(s));
}

void
hf_jset_int(struct hf_jtree *t, struct hf_jnode *obj, const char *key,
    int64_t n)
{
	hf_jset(t, obj, key, hf_jtree_int(t, n));
}

void
hf_jset_bool(struct hf_jtree *t, struct hf_jnode *obj, const char *key,
    bool b)
{
	hf_jset(t, obj, key, hf_jtree_bool(t, b));
}

void
hf_jset_null(struct hf_jtree *t, struct hf_jnode *obj, const char *key)
{
	hf_jset(t, obj, key, hf_jtree_null(t));
}

void
hf_jdel(struct hf_jnode *obj, const char *key)
{
	yyjson_mut_obj_remove_key(mut(obj), key);
}

struct hf_jnode *
hf_jget(struct hf_jnode *obj, const char *key)
{
	return jnode(yyjson_mut_obj_get(mut(obj), key));
}

enum hf_jtype
hf_jtype(const struct hf_jnode *n)
{
	return type_of(yyjson_mut_get_type(mut(n)));
}

struct hf_str
hf_jstr(const struct hf_jnode *n)
{
	if (!yyjson_mut_is_str(mut(n)))
		return HF_STR_NONE;
	return hf_strn(unsafe_yyjson_get_str(mut(n)),
	    unsafe_yyjson_get_len(mut(n)));
}

bool
hf_jtrue(const struct hf_jnode *n)
{
	return yyjson_mut_is_true(mut(n));
}

size_t
hf_jsize(const struct hf_jnode *n)
{
	return yyjson_mut_is_ctn(mut(n)) ? unsafe_yyjson_get_len(mut(n)) : 0;
}

void
hf_jpush(struct hf_jnode *arr, struct hf_jnode *v)
{
	yyjson_mut_arr_append(mut(arr), mut(v));
}

void
hf_jpush_str(struct hf_jtree *t, struct hf_jnode *arr, struct hf_str a)
{
	hf_jpush(arr, hf_jtree_str(t, a));
}

void
hf_jtree_write(struct hf_buf *out, const struct hf_jnode *n, bool pretty)
{
	size_t len = 0;
	char *text;

	text = yyjson_mut_val_write_opts(mut(n), 0, &heap, &len, NULL);
	if (text != NULL && pretty) {
		/* yyjson 0.10 forgets the indent before raw numbers. */
		hf_lex_pretty(out, hf_strn(text, len));
		free(text);
	} else {
		add_text(out, text, &len);
	}
}
