#include "brief/cues.h"

#include <string.h>

enum cue_kind { RULE, NOT_RULE, DECISION, FILLER, CONTINUES, NEXT, CHECK };
enum {
	WORD = 1,	/* bounded by characters that are no ASCII letter,
			 * digit or underscore */
	START = 2	/* only at the beginning */
};

static const struct cue {
	enum cue_kind kind;
	int how;
	const char *text;	/* lower case */
} cues[] = {
	/* English */
	{ RULE, WORD, "must" }, { RULE, WORD, "mustn't" },
	{ RULE, WORD, "never" }, { RULE, WORD, "always" },
	{ RULE, WORD, "only" }, { RULE, WORD, "do not" },
	{ RULE, WORD, "don't" }, { RULE, WORD, "dont" },
	{ RULE, WORD, "don\xe2\x80\x99t" }, { RULE, WORD, "may not" },
	{ RULE, WORD, "should not" }, { RULE, WORD, "shouldn't" },
	{ RULE, WORD, "shall" }, { RULE, WORD, "prefer" },
	{ RULE, WORD, "avoid" }, { RULE, WORD, "from now on" },
	{ RULE, WORD, "make sure" }, { RULE, WORD, "be sure to" },
	{ RULE, WORD, "ensure" }, { RULE, WORD, "at most" },
	{ RULE, WORD, "at least" }, { RULE, WORD, "no more than" },
	{ RULE, WORD, "not allowed" }, { RULE, WORD, "is allowed" },
	{ RULE, WORD, "are allowed" }, { RULE, WORD, "you may" },
	{ RULE, WORD, "forbidden" }, { RULE, WORD, "required" },
	{ RULE, WORD, "requirement" }, { RULE, WORD, "has to" },
	{ RULE, WORD, "have to" }, { RULE, WORD, "needs to" },
	{ RULE, WORD, "stick to" }, { RULE, WORD, "no new" },
	{ RULE, WORD, "under no circumstances" },
	{ RULE, WORD, "without" }, { RULE, WORD, "under any" },
	{ RULE, WORD | START, "keep" }, { RULE, WORD | START, "no" },
	{ NOT_RULE, WORD, "don't know" }, { NOT_RULE, WORD, "do not know" },
	{ NOT_RULE, WORD, "don't understand" },
	{ NOT_RULE, WORD, "don't see" }, { NOT_RULE, WORD, "don't think" },
	{ NOT_RULE, WORD, "only happens" }, { NOT_RULE, WORD, "only fails" },
	{ NOT_RULE, WORD, "only works" }, { NOT_RULE, WORD, "only occurs" },
	{ NOT_RULE, WORD, "never mind" }, { NOT_RULE, WORD, "must have been" },
	{ NOT_RULE, WORD | START, "no problem" },
	{ NOT_RULE, WORD | START, "no worries" },
	{ DECISION, WORD, "instead" }, { DECISION, WORD, "rather than" },
	{ DECISION, WORD, "let's use" }, { DECISION, WORD, "let us use" },
	{ DECISION, WORD, "go with" }, { DECISION, WORD, "we decided" },
	{ DECISION, WORD, "i decided" }, { DECISION, WORD, "decision:" },
	{ DECISION, WORD, "switch to" }, { DECISION, WORD, "i choose" },
	{ DECISION, WORD, "we will use" }, { DECISION, WORD, "we'll use" },
	{ DECISION, WORD, "let's go" }, { DECISION, WORD, "let's keep" },
	{ DECISION, WORD | START, "no," },
	{ DECISION, WORD | START, "actually" },
	{ DECISION, WORD | START, "option" },
	{ FILLER, WORD, "yes" }, { FILLER, WORD, "y" }, { FILLER, WORD, "ok" },
	{ FILLER, WORD, "okay" }, { FILLER, WORD, "k" },
	{ FILLER, WORD, "sure" }, { FILLER, WORD, "yep" },
	{ FILLER, WORD, "yeah" }, { FILLER, WORD, "please" },
	{ FILLER, WORD, "continue" }, { FILLER, WORD, "go on" },
	{ FILLER, WORD, "go ahead" }, { FILLER, WORD, "go for it" },
	{ FILLER, WORD, "proceed" }, { FILLER, WORD, "carry on" },
	{ FILLER, WORD, "keep going" }, { FILLER, WORD, "do it" },
	{ FILLER, WORD, "next" }, { FILLER, WORD, "thanks" },
	{ FILLER, WORD, "thank you" }, { FILLER, WORD, "great" },
	{ FILLER, WORD, "good" }, { FILLER, WORD, "nice" },
	{ FILLER, WORD, "perfect" }, { FILLER, WORD, "cool" },
	{ FILLER, WORD, "looks good" }, { FILLER, WORD, "lgtm" },
	{ FILLER, WORD, "resume" }, { FILLER, WORD, "and" },
	{ FILLER, WORD, "with it" }, { FILLER, WORD, "sounds good" },
	{ FILLER, WORD, "fine" }, { FILLER, WORD, "right" },
	{ FILLER, WORD, "correct" }, { FILLER, WORD, "hello" },
	{ FILLER, WORD, "hi" }, { FILLER, WORD, "try again" },
	{ FILLER, WORD, "again" }, { FILLER, WORD, "retry" },
	{ FILLER, WORD, "from where you left off" },
	{ FILLER, WORD, "where you left off" },
	{ CONTINUES, WORD | START, "also" }, { CONTINUES, WORD | START, "and" },
	{ CONTINUES, WORD | START, "now" }, { CONTINUES, WORD | START, "then" },
	{ CONTINUES, WORD | START, "but" }, { CONTINUES, WORD | START, "next" },
	{ CONTINUES, WORD | START, "fix it" },
	{ CONTINUES, WORD | START, "fix that" },
	{ CONTINUES, WORD | START, "no," },
	{ CONTINUES, WORD | START, "instead" },
	{ CONTINUES, WORD | START, "actually" },
	{ CONTINUES, WORD | START, "commit" },
	{ CONTINUES, WORD | START, "run the" },
	{ CONTINUES, WORD | START, "it" }, { CONTINUES, WORD | START, "that" },
	{ CONTINUES, WORD | START, "this" },
	{ CONTINUES, WORD | START, "there" },
	{ NEXT, WORD, "next step" }, { NEXT, WORD, "next steps" },
	{ NEXT, WORD, "remaining" }, { NEXT, WORD, "still to do" },
	{ NEXT, WORD, "what's left" }, { NEXT, WORD, "to do next" },
	{ NEXT, WORD | START, "next" }, { NEXT, WORD, "todo" },
	{ NEXT, WORD, "left to do" }, { NEXT, WORD, "follow-up" },
	{ NEXT, WORD, "follow-ups" },
	/* Chinese */
	{ RULE, 0, "必须" }, { RULE, 0, "不要" }, { RULE, 0, "不能" },
	{ RULE, 0, "不得" }, { RULE, 0, "禁止" }, { RULE, 0, "务必" },
	{ RULE, 0, "始终" }, { RULE, 0, "总是" }, { RULE, 0, "永远" },
	{ RULE, 0, "永不" }, { RULE, 0, "绝不" }, { RULE, 0, "切勿" },
	{ RULE, 0, "请勿" }, { RULE, 0, "只能" }, { RULE, 0, "只用" },
	{ RULE, 0, "只许" }, { RULE, 0, "只可" }, { RULE, 0, "只修改" },
	{ RULE, 0, "只改" }, { RULE, 0, "仅限" }, { RULE, 0, "仅使用" },
	{ RULE, 0, "优先" }, { RULE, 0, "从现在起" },
	{ RULE, 0, "从现在开始" }, { RULE, 0, "今后" }, { RULE, 0, "以后都" },
	{ RULE, 0, "一律" }, { RULE, 0, "不许" }, { RULE, 0, "不准" },
	{ RULE, 0, "不可" }, { RULE, 0, "不应" }, { RULE, 0, "严禁" },
	{ RULE, 0, "避免" }, { RULE, 0, "确保" }, { RULE, 0, "应当" },
	{ RULE, 0, "应该" }, { RULE, 0, "至少" }, { RULE, 0, "最多" },
	{ RULE, 0, "不超过" }, { RULE, 0, "需要先" }, { RULE, 0, "允许" },
	{ RULE, START, "别" }, { RULE, 0, "千万" }, { RULE, 0, "每次都" },
	{ RULE, 0, "必需" }, { RULE, 0, "要求" }, { RULE, 0, "尽量" },
	{ NOT_RULE, 0, "不能工作" }, { NOT_RULE, 0, "不能运行" },
	{ NOT_RULE, 0, "不要紧" },
	{ DECISION, 0, "改用" }, { DECISION, 0, "改成" },
	{ DECISION, 0, "改为" }, { DECISION, 0, "换成" },
	{ DECISION, 0, "代替" }, { DECISION, 0, "而不是" },
	{ DECISION, 0, "决定" }, { DECISION, 0, "就用" },
	{ DECISION, 0, "选择" }, { DECISION, 0, "采用" },
	{ FILLER, 0, "继续" }, { FILLER, 0, "好的" }, { FILLER, 0, "好" },
	{ FILLER, 0, "可以" }, { FILLER, 0, "是的" }, { FILLER, 0, "是" },
	{ FILLER, 0, "行" }, { FILLER, 0, "对" }, { FILLER, 0, "嗯" },
	{ FILLER, 0, "谢谢" }, { FILLER, 0, "请" }, { FILLER, 0, "吧" },
	{ FILLER, 0, "开始" }, { FILLER, 0, "下一步" }, { FILLER, 0, "你好" },
	{ CONTINUES, START, "另外" }, { CONTINUES, START, "还有" },
	{ CONTINUES, START, "然后" }, { CONTINUES, START, "现在" },
	{ CONTINUES, START, "接着" }, { CONTINUES, START, "同时" },
	{ NEXT, 0, "下一步" }, { NEXT, 0, "接下来" }, { NEXT, 0, "剩余" },
	{ NEXT, 0, "待办" },
	/* German */
	{ RULE, WORD, "nie" }, { RULE, WORD, "niemals" },
	{ RULE, WORD, "immer" }, { RULE, WORD, "muss" },
	{ RULE, 0, "müssen" }, { RULE, WORD, "darf" },
	{ RULE, 0, "dürfen" }, { RULE, WORD, "nur" },
	{ RULE, WORD, "bitte nicht" }, { RULE, WORD, "keinesfalls" },
	{ RULE, WORD, "vermeide" }, { RULE, WORD, "ab jetzt" },
	{ RULE, WORD, "auf keinen fall" }, { RULE, WORD, "bevorzuge" },
	{ RULE, WORD, "verboten" }, { DECISION, WORD, "stattdessen" },
	{ FILLER, WORD, "ja" }, { FILLER, WORD, "weiter" },
	{ FILLER, WORD, "mach weiter" }, { FILLER, WORD, "danke" },
	{ FILLER, WORD, "bitte" }, { FILLER, WORD, "gut" },
	/* French */
	{ RULE, WORD, "jamais" }, { RULE, WORD, "toujours" },
	{ RULE, WORD, "doit" }, { RULE, WORD, "doivent" },
	{ RULE, WORD, "uniquement" }, { RULE, WORD, "seulement" },
	{ RULE, 0, "évite" }, { RULE, WORD, "interdit" },
	{ RULE, 0, "désormais" }, { RULE, WORD | START, "ne" },
	{ RULE, WORD, "il faut" }, { DECISION, 0, "plutôt que" },
	{ DECISION, 0, "à la place" },
	{ FILLER, WORD, "oui" }, { FILLER, WORD, "continue" },
	{ FILLER, WORD, "continuez" }, { FILLER, WORD, "merci" },
	/* Spanish, Portuguese */
	{ RULE, WORD, "nunca" }, { RULE, WORD, "siempre" },
	{ RULE, WORD, "debe" }, { RULE, WORD, "deben" },
	{ RULE, WORD, "solamente" }, { RULE, 0, "sólo" },
	{ RULE, WORD, "evita" }, { RULE, WORD, "a partir de ahora" },
	{ RULE, WORD, "prohibido" }, { RULE, WORD | START, "solo" },
	{ DECISION, WORD, "en lugar de" }, { DECISION, WORD, "en vez de" },
	{ RULE, WORD, "sempre" }, { RULE, WORD, "deve" },
	{ RULE, WORD, "devem" }, { RULE, WORD, "somente" },
	{ RULE, WORD, "apenas" }, { RULE, WORD, "evite" },
	{ RULE, WORD | START, "não" }, { RULE, WORD, "a partir de agora" },
	{ DECISION, WORD, "em vez de" },
	{ FILLER, 0, "sí" }, { FILLER, WORD, "si" }, { FILLER, WORD, "sim" },
	{ FILLER, WORD, "sigue" }, { FILLER, WORD, "siga" },
	{ FILLER, 0, "continúa" }, { FILLER, WORD, "gracias" },
	{ FILLER, WORD, "obrigado" },
	/* Japanese */
	{ RULE, 0, "必ず" }, { RULE, 0, "絶対" }, { RULE, 0, "しないで" },
	{ RULE, 0, "ないでください" }, { RULE, 0, "常に" },
	{ RULE, 0, "決して" }, { RULE, 0, "てはいけない" },
	{ RULE, 0, "ては駄目" }, { RULE, 0, "べき" }, { RULE, 0, "のみ" },
	{ RULE, 0, "今後は" }, { RULE, 0, "避けて" },
	{ DECISION, 0, "代わりに" }, { FILLER, 0, "はい" },
	{ FILLER, 0, "続けて" }, { FILLER, 0, "ください" },
	/* Korean */
	{ RULE, 0, "반드시" }, { RULE, 0, "절대" }, { RULE, 0, "항상" },
	{ RULE, 0, "하지 마" }, { RULE, 0, "금지" }, { RULE, 0, "앞으로" },
	{ RULE, 0, "해야" }, { DECISION, 0, "대신" }, { FILLER, 0, "네" },
	{ FILLER, 0, "계속" },
	/* Commands that check something. */
	{ CHECK, WORD, "test" }, { CHECK, WORD, "tests" },
	{ CHECK, WORD, "check" }, { CHECK, WORD, "make" },
	{ CHECK, WORD, "pytest" }, { CHECK, WORD, "tox" },
	{ CHECK, WORD, "unittest" }, { CHECK, WORD, "jest" },
	{ CHECK, WORD, "vitest" }, { CHECK, WORD, "mocha" },
	{ CHECK, WORD, "bats" }, { CHECK, WORD, "prove" },
	{ CHECK, WORD, "ctest" }, { CHECK, WORD, "rspec" },
	{ CHECK, WORD, "phpunit" }, { CHECK, WORD, "build" },
	{ CHECK, WORD, "lint" }, { CHECK, WORD, "eslint" },
	{ CHECK, WORD, "tsc" }, { CHECK, WORD, "mypy" },
	{ CHECK, WORD, "ruff" }, { CHECK, WORD, "flake8" },
	{ CHECK, WORD, "clippy" }, { CHECK, WORD, "vet" },
	{ CHECK, WORD, "verify" }, { CHECK, WORD, "validate" },
	{ CHECK, WORD, "shellcheck" }, { CHECK, WORD, "valgrind" },
	{ CHECK, WORD, "ninja" }, { CHECK, WORD, "mvn" },
	{ CHECK, WORD, "gradle" }, { CHECK, WORD, "gradlew" },
	{ CHECK, WORD, "gcc" }, { CHECK, WORD, "cc" },
};

static bool
wordy(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '_' || c >= 0x80;
}

/* The length of the cue at place i of text, 0 if it is not there. */
static size_t
at(const struct cue *c, struct hf_str text, size_t i)
{
	size_t n = strlen(c->text);

	if (!hf_str_istarts(hf_strn(text.s + i, text.n - i), c->text))
		return 0;
	if ((c->how & WORD) && ((i > 0 &&
	    wordy((unsigned char)text.s[i - 1])) || (i + n < text.n &&
	    wordy((unsigned char)text.s[i + n]) &&
	    wordy((unsigned char)c->text[n - 1]))))
		return 0;
	return n;
}

static bool
has(enum cue_kind kind, struct hf_str text)
{
	const struct cue *c;
	size_t i;

	for (c = cues; c < cues + sizeof(cues) / sizeof(cues[0]); c++) {
		if (c->kind != kind)
			continue;
		if (c->how & START) {
			if (at(c, text, 0) > 0)
				return true;
			continue;
		}
		for (i = 0; (i = hf_str_ifind(text, c->text, i)) != SIZE_MAX;
		    i++)
			if (at(c, text, i) > 0)
				return true;
	}
	return false;
}

/* "?" or its full-width form at the end. */
static bool
question(struct hf_str t)
{
	return hf_str_ends(t, "?") || hf_str_ends(t, "\xef\xbc\x9f");
}

bool
hf_cues_rule(struct hf_str sentence)
{
	return sentence.n >= 6 && sentence.n <= 1000 && !question(sentence) &&
	    has(RULE, sentence) && !has(NOT_RULE, sentence);
}

bool
hf_cues_decision(struct hf_str sentence)
{
	return sentence.n >= 6 && sentence.n <= 1000 &&
	    !question(sentence) && has(DECISION, sentence);
}

/* The longest filler at place i; a punctuation mark or blank counts one. */
static size_t
filler_at(struct hf_str text, size_t i)
{
	static const char *const marks[] = { ",", ".", "!", " ", "\n", "\t",
		"-", ":", ";", "?", "~", "\xef\xbc\x8c", "\xe3\x80\x82",
		"\xef\xbc\x81", "\xe3\x80\x81", "\xf0\x9f\x91\x8d", "\r" };
	const struct cue *c;
	size_t k, n, best = 0;

	for (k = 0; k < sizeof(marks) / sizeof(marks[0]); k++)
		if (hf_str_starts(hf_strn(text.s + i, text.n - i), marks[k]))
			return strlen(marks[k]);
	for (c = cues; c < cues + sizeof(cues) / sizeof(cues[0]); c++)
		if (c->kind == FILLER && (n = at(c, text, i)) > best)
			best = n;
	return best;
}

bool
hf_cues_filler(struct hf_str text)
{
	size_t i = 0, n;

	text = hf_str_trim(text);
	if (text.n > 80)
		return false;
	while (i < text.n) {
		if ((n = filler_at(text, i)) == 0)
			return false;
		i += n;
	}
	return true;
}

/* "Good. Go on with the crash." leans on what was said as much as "Also …"
 * does. */
bool
hf_cues_continues(struct hf_str text)
{
	size_t i;

	text = hf_str_trim(text);
	if (text.n == 0 || text.n >= 300)
		return false;
	if (has(CONTINUES, text))
		return true;
	for (i = 0; i < sizeof(cues) / sizeof(cues[0]); i++)
		if (cues[i].kind == FILLER && at(&cues[i], text, 0) > 0)
			return true;
	return false;
}

bool
hf_cues_next(struct hf_str line)
{
	return line.n < 120 && has(NEXT, line);
}

bool
hf_cues_check(struct hf_str command)
{
	return has(CHECK, command);
}

/* ---- sentences ---- */

/* Bytes of a mark that ends a sentence at place i, 0 if there is none. */
static size_t
end_at(struct hf_str t, size_t i)
{
	static const char *const wide[] = { "\xe3\x80\x82", "\xef\xbc\x81",
		"\xef\xbc\x9f", "\xef\xbc\x9b" };
	size_t k;

	if (t.s[i] == '\n')
		return 1;
	if (t.s[i] == '.' || t.s[i] == '!' || t.s[i] == '?')
		return i + 1 == t.n || t.s[i + 1] == ' ' ||
		    t.s[i + 1] == '\n' || t.s[i + 1] == '\t' ||
		    t.s[i + 1] == '\r' ? 1 : 0;
	for (k = 0; k < sizeof(wide) / sizeof(wide[0]); k++)
		if (hf_str_starts(hf_strn(t.s + i, t.n - i), wide[k]))
			return 3;
	return 0;
}

/* Steps over fenced code and quoted lines at the start of *t. */
static bool
skip_quoted(struct hf_str *t)
{
	struct hf_str line, rest;

	line = hf_str_trim(hf_str_line(*t, &rest));
	if (hf_str_starts(line, ">")) {
		*t = rest;
		return true;
	}
	if (!hf_str_starts(line, "```"))
		return false;
	while (rest.n > 0) {
		line = hf_str_trim(hf_str_line(rest, &rest));
		if (hf_str_starts(line, "```"))
			break;
	}
	*t = rest;
	return true;
}

/* Without the mark of a list item ("- ", "* ", "2. ", "3) "). */
static struct hf_str
unmark(struct hf_str s)
{
	size_t i = 0;

	if (s.n > 2 && (s.s[0] == '-' || s.s[0] == '*') && s.s[1] == ' ')
		return hf_str_trim(hf_strn(s.s + 2, s.n - 2));
	while (i < s.n && i < 3 && s.s[i] >= '0' && s.s[i] <= '9')
		i++;
	if (i > 0 && i + 1 < s.n && (s.s[i] == '.' || s.s[i] == ')') &&
	    s.s[i + 1] == ' ')
		return hf_str_trim(hf_strn(s.s + i + 2, s.n - i - 2));
	return s;
}

static bool
number_mark(struct hf_str t, size_t i)
{
	size_t k = i;

	while (k > 0 && t.s[k - 1] >= '0' && t.s[k - 1] <= '9')
		k--;
	return t.s[i] == '.' && k < i && i - k < 3 && k == 0;
}

struct hf_str
hf_cues_sentence(struct hf_str *text)
{
	struct hf_str s, t = *text;
	size_t i, n;

	while (t.n > 0) {
		t = hf_str_trim(t);
		if (t.n == 0)
			break;
		if (skip_quoted(&t))
			continue;
		for (i = 0, n = 0; i < t.n; i++)
			if ((n = end_at(t, i)) > 0 && !number_mark(t, i))
				break;
			else
				n = 0;
		s = unmark(hf_str_trim(hf_strn(t.s, i + n)));
		t = hf_strn(t.s + i + n, t.n - i - n);
		if (s.n > 0) {
			*text = t;
			return s;
		}
	}
	*text = hf_strn(t.s, 0);
	return HF_STR_NONE;
}
