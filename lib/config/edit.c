#include "config/edit.h"

#include <stdint.h>
#include <string.h>

#include "config/layout.h"
#include "json/json.h"

enum { ROUNDS = 64 };

/* name is split at its dot; group is none when it has none. */
struct name {
	struct hf_str whole, group, rest;
};

/* Looks for the member in the object at index root: as it is spelt, else
 * inside its group. *l is the object it is or would be in; *nested whether
 * that is the group. */
static bool
locate(struct hf_str t, size_t root, const struct name *name,
    struct hf_layout *l, bool *nested)
{
	struct hf_layout outer;

	*nested = false;
	if (hf_layout_find(l, t, root, name->whole) ||
	    name->group.s == NULL)
		return l->m.key != HF_NOWHERE;
	outer = *l;
	if (!hf_layout_find(&outer, t, root, name->group) ||
	    t.s[outer.m.value] != '{')
		return false;
	*nested = true;
	return hf_layout_find(l, t, outer.m.value, name->rest);
}

/* Once: 1 when something was changed. */
static int
edit(struct hf_buf *out, struct hf_str t, const struct name *name,
    struct hf_str value)
{
	struct hf_buf text = HF_BUF_INIT;
	size_t root = hf_layout_root(t);
	struct hf_layout l;
	bool nested, found;

	if (root == t.n) {
		t = HF_STR("{}\n");
		root = 0;
	}
	found = locate(t, root, name, &l, &nested);
	if (value.s == NULL) {
		if (found)
			hf_layout_remove(out, t, &l.m);
	} else if (found) {
		hf_layout_replace(out, t, &l.m, value);
	} else if (name->group.s != NULL && !nested) {
		hf_buf_putc(&text, '{');
		hf_json_quote(&text, name->rest);
		hf_buf_puts(&text, ": ");
		hf_buf_str(&text, value);
		hf_buf_putc(&text, '}');
		hf_layout_add(out, &l, name->group, hf_buf_view(&text),
		    false);
	} else {
		hf_layout_add(out, &l, name->group.s != NULL ? name->rest :
		    name->whole, value, false);
	}
	hf_buf_release(&text);
	return value.s != NULL || found;
}

/* Is text one in which name is value? */
static bool
holds(struct hf_str text, const struct name *name, struct hf_str value)
{
	size_t root = hf_str_starts(text, "\xef\xbb\xbf") ? 3 : 0;
	struct hf_json *j = hf_json_parse(hf_strn(text.s + root, text.n - root),
	    HF_JSON_COMMENTS, NULL, NULL, NULL);
	const struct hf_jval *v = hf_json_get(hf_json_root(j),
	    name->whole.s);
	struct hf_buf is = HF_BUF_INIT;
	bool good;

	if (v == NULL)
		v = hf_json_at(hf_json_root(j), name->whole.s);
	if (v != NULL)
		hf_json_write(&is, v);
	good = j != NULL && (value.s == NULL ? v == NULL :
	    hf_str_eq(hf_buf_view(&is), value));
	hf_buf_release(&is);
	hf_json_free(j);
	return good;
}

int
hf_edit_set(struct hf_buf *out, struct hf_str text, const char *name,
    struct hf_str value, struct hf_err *err)
{
	struct hf_buf now = HF_BUF_INIT, next = HF_BUF_INIT;
	size_t dot = strcspn(name, ".");
	struct name n = { hf_str(name), HF_STR_NONE, HF_STR_NONE };
	int changed = 0, rc;

	if (name[dot] != '\0') {
		n.group = hf_strn(name, dot);
		n.rest = hf_str(name + dot + 1);
	}
	hf_buf_str(&now, text);
	/* A key may be there more than once; all are removed. */
	do {
		hf_buf_clear(&next);
		rc = edit(&next, hf_buf_view(&now), &n, value);
		if (rc > 0) {
			hf_buf_clear(&now);
			hf_buf_str(&now, hf_buf_view(&next));
		}
		changed += rc;
	} while (rc > 0 && value.s == NULL && changed < ROUNDS);
	rc = changed > 0;
	if (rc > 0 && (now.full || !holds(hf_buf_view(&now), &n, value)))
		rc = hf_err_set(err, HF_E_CONFIG,
		    "cannot change '%s' in such a file: edit it", name);
	if (rc > 0)
		hf_buf_str(out, hf_buf_view(&now));
	hf_buf_release(&now);
	hf_buf_release(&next);
	return rc;
}
