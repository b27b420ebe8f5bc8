#include "brief/shapes.h"

#include <string.h>

#include "brief/chars.h"

enum {
	GLUED = 1,	/* letters may stand directly before it */
	MIXED = 2,	/* has a digit, or capitals and small letters */
	DENSE = 4	/* has a piece of 16 letters and digits, with both */
};

#define DIGIT	HF_CH_DIGIT
#define UPPER	HF_CH_UPPER
#define ALNUM	HF_CH_ALNUM
#define WORD	HF_CH_WORD
#define TOKEN	HF_CH_TOKEN
#define DOTTED	(HF_CH_TOKEN | HF_CH_DOT)
#define HEX	HF_CH_LHEX
#define DASHHEX	(HF_CH_LHEX | HF_CH_DASH)
#define BASE64	(HF_CH_BASE64 | HF_CH_EQUAL)
#define ANY64	(HF_CH_TOKEN | HF_CH_PLUS | HF_CH_EQUAL)

enum { PREFIX_MAX = 25 };

/* Sorted by the prefix's first byte. max 0: as long as it goes; else what
 * is longer is no token. */
static const struct shape {
	char prefix[PREFIX_MAX];
	uint8_t flags;
	uint16_t set, min, max;
} shape[] = {
	{ "1//0", MIXED, TOKEN, 40, 0 },	/* Google, refresh */
	{ "ABIA", 0, UPPER | DIGIT, 16, 16 },	/* AWS */
	{ "ACCA", 0, UPPER | DIGIT, 16, 16 },
	{ "AGE-SECRET-KEY-1", GLUED, UPPER | DIGIT, 50, 0 },
	{ "AIza", 0, TOKEN, 30, 0 },		/* Google */
	{ "AKCp", 0, ALNUM, 60, 0 },		/* Artifactory */
	{ "AKIA", 0, UPPER | DIGIT, 16, 16 },	/* AWS */
	{ "AKID", MIXED, ALNUM, 28, 36 },	/* Tencent */
	{ "AQ.", MIXED, TOKEN, 40, 0 },		/* Google */
	{ "ASIA", 0, UPPER | DIGIT, 16, 16 },	/* AWS, temporary */
	{ "ATATT3", 0, TOKEN | HF_CH_EQUAL, 40, 0 },	/* Atlassian */
	{ "ATBB", MIXED, ALNUM, 28, 36 },	/* Bitbucket */
	{ "ATCTT3", 0, TOKEN | HF_CH_EQUAL, 40, 0 },
	{ "CCIPAT_", 0, WORD, 30, 0 },		/* CircleCI */
	{ "CCIPRJ_", 0, WORD, 30, 0 },
	{ "CFPAT-", 0, TOKEN, 40, 0 },		/* Contentful */
	{ "GOCSPX-", 0, TOKEN, 20, 0 },		/* Google, OAuth client */
	{ "HRKU-", MIXED, TOKEN, 30, 0 },	/* Heroku */
	{ "LTAI", MIXED, ALNUM, 16, 26 },	/* Alibaba */
	{ "NRAK-", 0, UPPER | DIGIT, 27, 0 },	/* New Relic */
	{ "PMAK-", 0, DASHHEX, 50, 0 },		/* Postman */
	{ "SG.", MIXED, DOTTED, 60, 0 },	/* SendGrid */
	{ "SK", 0, HEX, 32, 32 },		/* Twilio */
	{ "amzn.mws.", 0, DASHHEX, 36, 0 },
	{ "api_org_", MIXED, ALNUM, 30, 0 },	/* Hugging Face */
	{ "apify_api_", 0, ALNUM, 30, 0 },
	{ "bkua_", 0, HEX, 40, 40 },		/* Buildkite */
	{ "cmVmdGtuO", 0, ALNUM, 50, 0 },	/* Artifactory */
	{ "csk-", MIXED, ALNUM, 40, 0 },	/* Cerebras */
	{ "ctx7sk-", 0, TOKEN, 20, 0 },		/* Context7 */
	{ "dapi", 0, HEX, 32, 32 },		/* Databricks */
	{ "dckr_oat_", 0, TOKEN, 20, 0 },	/* Docker */
	{ "dckr_pat_", 0, TOKEN, 20, 0 },
	{ "discord.com/api/webhooks/", 0, TOKEN | HF_CH_PLUS, 60, 0 },
	{ "doo_v1_", 0, HEX, 64, 64 },		/* DigitalOcean */
	{ "dop_v1_", 0, HEX, 64, 64 },
	{ "dor_v1_", 0, HEX, 64, 64 },
	{ "dp.ct.", 0, ALNUM, 40, 0 },		/* Doppler */
	{ "dp.pt.", 0, ALNUM, 40, 0 },
	{ "dp.st.", 0, DOTTED, 40, 0 },
	{ "dt0c01.", 0, DOTTED, 80, 0 },	/* Dynatrace */
	{ "e2b_", 0, HEX, 40, 40 },
	{ "fc-", 0, HEX, 32, 32 },		/* Firecrawl */
	{ "figd_", MIXED, TOKEN, 30, 0 },	/* Figma */
	{ "fm1a_", MIXED, ANY64, 60, 0 },	/* Fly */
	{ "fm1r_", MIXED, ANY64, 60, 0 },
	{ "fm2_", MIXED, ANY64, 60, 0 },
	{ "fo1_", MIXED, TOKEN, 40, 0 },
	{ "gho_", GLUED, WORD, 20, 0 },		/* GitHub */
	{ "ghp_", GLUED, WORD, 20, 0 },
	{ "ghr_", GLUED, WORD, 20, 0 },
	{ "ghs_", GLUED, DOTTED, 20, 0 },
	{ "ghu_", GLUED, WORD, 20, 0 },
	{ "github_pat_", GLUED, WORD, 20, 0 },
	{ "glagent-", GLUED, TOKEN, 20, 0 },	/* GitLab */
	{ "glc_", MIXED, BASE64, 40, 0 },	/* Grafana */
	{ "glcbt-", GLUED, DOTTED, 20, 0 },
	{ "gldt-", GLUED, DOTTED, 20, 0 },
	{ "glffct-", GLUED, DOTTED, 20, 0 },
	{ "glft-", GLUED, DOTTED, 20, 0 },
	{ "glimt-", GLUED, DOTTED, 20, 0 },
	{ "glpat-", GLUED, DOTTED, 20, 0 },
	{ "glptt-", GLUED, DOTTED, 20, 0 },
	{ "glrt-", GLUED, DOTTED, 20, 0 },
	{ "glsa_", 0, WORD, 30, 0 },		/* Grafana */
	{ "glsoat-", GLUED, DOTTED, 20, 0 },
	{ "gsk_", MIXED, ALNUM, 40, 0 },	/* Groq */
	{ "hf_", MIXED, ALNUM, 30, 0 },		/* Hugging Face */
	{ "hooks.slack.com/services/", 0, ALNUM | HF_CH_PLUS, 30, 0 },
	{ "hvb.", MIXED, TOKEN, 24, 0 },	/* Vault */
	{ "hvr.", MIXED, TOKEN, 24, 0 },
	{ "hvs.", MIXED, TOKEN, 24, 0 },
	{ "jina_", MIXED, TOKEN, 40, 0 },
	{ "lin_api_", 0, ALNUM, 30, 0 },	/* Linear */
	{ "lin_oauth_", 0, ALNUM, 30, 0 },
	{ "lsv2_pt_", 0, HEX | HF_CH_UNDER, 40, 0 },	/* LangSmith */
	{ "lsv2_sk_", 0, HEX | HF_CH_UNDER, 40, 0 },
	{ "napi_", MIXED, ALNUM, 40, 0 },	/* Neon */
	{ "nfp_", MIXED, ALNUM, 36, 0 },	/* Netlify */
	{ "npm_", GLUED | MIXED, ALNUM, 30, 0 },
	{ "ntn_", MIXED, ALNUM, 40, 0 },	/* Notion */
	{ "nvapi-", 0, TOKEN, 40, 0 },		/* NVIDIA */
	{ "ops_eyJ", 0, ANY64, 100, 0 },	/* 1Password */
	{ "oy2", MIXED, HF_CH_LOWER | DIGIT, 43, 43 },	/* NuGet */
	{ "phx_", MIXED, ALNUM, 40, 0 },	/* PostHog */
	{ "pnu_", MIXED, ALNUM, 36, 0 },	/* Prefect */
	{ "pplx-", MIXED, ALNUM, 40, 0 },	/* Perplexity */
	{ "pscale_oauth_", 0, DOTTED, 30, 0 },	/* PlanetScale */
	{ "pscale_pw_", 0, DOTTED, 30, 0 },
	{ "pscale_tkn_", 0, DOTTED, 30, 0 },
	{ "pul-", 0, HEX, 40, 40 },		/* Pulumi */
	{ "pypi-", MIXED, TOKEN, 50, 0 },
	{ "r8_", MIXED, ALNUM, 37, 37 },	/* Replicate */
	{ "rdme_", 0, HF_CH_LOWER | DIGIT, 60, 0 },
	{ "rk_live_", 0, ALNUM, 10, 0 },	/* Stripe */
	{ "rk_test_", 0, ALNUM, 10, 0 },
	{ "rubygems_", 0, HEX, 48, 48 },
	{ "sb_secret_", MIXED, TOKEN, 20, 0 },	/* Supabase */
	{ "sbp_", 0, HEX, 40, 40 },
	{ "secret_", MIXED, ALNUM, 43, 43 },	/* Notion */
	{ "sgp_", 0, HEX | HF_CH_UNDER, 40, 0 },	/* Sourcegraph */
	{ "sha256~", 0, TOKEN, 43, 43 },	/* OpenShift */
	{ "shippo_live_", 0, HEX, 40, 40 },
	{ "shpat_", 0, HEX, 32, 32 },		/* Shopify */
	{ "shpca_", 0, HEX, 32, 32 },
	{ "shppa_", 0, HEX, 32, 32 },
	{ "shpss_", 0, HEX, 32, 32 },
	{ "sk-", DENSE, TOKEN, 20, 0 },		/* OpenAI, DeepSeek … */
	{ "sk-admin-", MIXED, TOKEN, 20, 0 },
	{ "sk-ant-", GLUED | MIXED, TOKEN, 20, 0 },	/* Anthropic */
	{ "sk-lf-", 0, DASHHEX, 36, 0 },	/* Langfuse */
	{ "sk-or-", MIXED, TOKEN, 20, 0 },	/* OpenRouter */
	{ "sk-proj-", GLUED | MIXED, TOKEN, 20, 0 },	/* OpenAI */
	{ "sk-svcacct-", GLUED | MIXED, TOKEN, 20, 0 },
	{ "sk.eyJ", 0, DOTTED, 60, 0 },		/* Mapbox */
	{ "sk_", 0, HEX, 48, 48 },		/* ElevenLabs */
	{ "sk_live_", 0, ALNUM, 10, 0 },	/* Stripe, Clerk */
	{ "sk_test_", 0, ALNUM, 10, 0 },
	{ "sl.", MIXED, TOKEN, 100, 0 },	/* Dropbox */
	{ "sntrys_", 0, ANY64, 40, 0 },		/* Sentry */
	{ "sntryu_", 0, HEX, 64, 64 },
	{ "sq0atp-", 0, TOKEN, 22, 0 },		/* Square */
	{ "sq0csp-", 0, TOKEN, 22, 0 },
	{ "tfp_", MIXED, TOKEN, 40, 0 },	/* Typeform */
	{ "tgp_v1_", 0, TOKEN, 40, 0 },		/* Together */
	{ "tskey-", MIXED, TOKEN, 20, 0 },	/* Tailscale */
	{ "tvly-", MIXED, TOKEN, 20, 0 },	/* Tavily */
	{ "vercel_blob_rw_", 0, WORD, 20, 0 },
	{ "whsec_", MIXED, BASE64, 20, 0 },	/* Stripe, webhooks */
	{ "xai-", MIXED, ALNUM, 60, 0 },
	{ "xapp-", MIXED, TOKEN, 20, 0 },	/* Slack */
	{ "xkeysib-", 0, TOKEN, 60, 0 },	/* Brevo */
	{ "xoxa-", 0, TOKEN, 10, 0 },		/* Slack */
	{ "xoxb-", 0, TOKEN, 10, 0 },
	{ "xoxc-", 0, TOKEN, 10, 0 },
	{ "xoxd-", 0, TOKEN | HF_CH_PERCENT, 10, 0 },
	{ "xoxe-", 0, TOKEN, 10, 0 },
	{ "xoxe.xox", 0, TOKEN, 10, 0 },
	{ "xoxo-", 0, TOKEN, 10, 0 },
	{ "xoxp-", 0, TOKEN, 10, 0 },
	{ "xoxr-", 0, TOKEN, 10, 0 },
	{ "xoxs-", 0, TOKEN, 10, 0 },
	{ "ya29.", MIXED, DOTTED, 20, 0 },	/* Google, access */
};

#define NSHAPES	(sizeof(shape) / sizeof(shape[0]))
/* The index has bytes. */
_Static_assert(NSHAPES <= HF_SHAPES_MAX && NSHAPES < UINT8_MAX,
    "too many shapes");

void
hf_shapes_init(struct hf_shapes *s, struct hf_grams *g)
{
	memset(s->first, NSHAPES, sizeof(s->first));
	for (size_t i = NSHAPES; i-- > 0;) {
		s->first[(unsigned char)shape[i].prefix[0]] = (uint8_t)i;
		hf_grams_add(g, shape[i].prefix, shape[i].set);
	}
}

/* Behind "ESC [ 3 1 m" a word begins although the m is a letter. */
static bool
after_colour(struct hf_str text, size_t at, size_t edge)
{
	size_t i = at - 1;

	while (i > edge && at - i < 20 && ((hf_chars(text.s[i - 1]) &
	    HF_CH_DIGIT) != 0 || text.s[i - 1] == ';' ||
	    text.s[i - 1] == ':'))
		i--;
	return i >= edge + 2 && text.s[i - 1] == '[' &&
	    text.s[i - 2] == '\033';
}

bool
hf_shapes_edge(struct hf_str text, size_t at, size_t edge)
{
	if (at <= edge || (hf_chars(text.s[at - 1]) & HF_CH_ALNUM) == 0)
		return true;
	return (hf_chars(text.s[at - 1]) & HF_CH_LETTER) != 0 &&
	    after_colour(text, at, edge);
}

/* OpenAI's old keys and others' have no second prefix, and styles have
 * names such as sk-circle-fade-dot: one long piece tells them apart. */
static bool
dense(struct hf_str run)
{
	size_t i, from = 0;
	unsigned all;

	for (i = 0; i <= run.n; i++) {
		if (i < run.n && (hf_chars(run.s[i]) & ALNUM) != 0)
			continue;
		if (i - from >= 16) {
			all = hf_chars_all(hf_strn(run.s + from, i - from));
			if ((all & DIGIT) != 0 && (all & HF_CH_LETTER) != 0)
				return true;
		}
		from = i + 1;
	}
	return false;
}

/* Is the run [i, end) a token of this shape? If not, none that ends there
 * and begins later is, but for one that is too long. What has a maximum may
 * end only where no letter follows, so its set has no '-': else each token
 * of a row of them could be seen only when the next one was masked. */
static bool
is_token(const struct shape *sh, struct hf_str text, size_t i, size_t end)
{
	struct hf_str run = hf_strn(text.s + i, end - i);

	if (run.n < sh->min || hf_chars_same(run))
		return false;
	if (sh->max > 0 && (run.n > sh->max || (end < text.n &&
	    (hf_chars(text.s[end]) & WORD) != 0)))
		return false;
	/* A longer word that only begins like a token of letters. */
	if (sh->set == ALNUM && end < text.n && text.s[end] == '_')
		return false;
	if ((sh->flags & MIXED) != 0 && !hf_chars_mixed(run) &&
	    (hf_chars_all(run) & DIGIT) == 0)
		return false;
	return (sh->flags & DENSE) == 0 || dense(run);
}

/* The end of the token of this shape whose run begins at i, or 0. */
static size_t
run_end(const struct shape *sh, struct hf_shapes_memo *memo,
    struct hf_str text, size_t i)
{
	size_t *dead = &memo->dead[sh - shape], end;

	if (i < *dead)
		return 0;
	end = hf_chars_run(text, i, sh->set, sh->max > 0 ? sh->max + 1U :
	    SIZE_MAX);
	/* The dot behind the token is the sentence's. */
	while (end > i && text.s[end - 1] == '.')
		end--;
	/* The run need not be looked at again, in either case. */
	if (sh->max == 0) {
		*dead = end;
		memo->used = true;
	}
	return is_token(sh, text, i, end) ? end : 0;
}

void
hf_shapes_forget(struct hf_shapes_memo *memo)
{
	/* Most texts have nothing that even begins like a token. */
	if (memo->used)
		memset(memo, 0, sizeof(*memo));
}

bool
hf_shapes_at(const struct hf_shapes *s, struct hf_shapes_memo *memo,
    struct hf_str text, size_t at, size_t edge, struct hf_span *out)
{
	const char *p = text.s + at;
	size_t n = text.n - at, len, end, best = 0;
	size_t i = s->first[(unsigned char)p[0]];

	for (; i < NSHAPES && shape[i].prefix[0] == p[0]; i++) {
		if (n < 2 || shape[i].prefix[1] != p[1])
			continue;
		len = strlen(shape[i].prefix);
		if (n <= len || memcmp(p, shape[i].prefix, len) != 0 ||
		    ((shape[i].flags & GLUED) == 0 &&
		    !hf_shapes_edge(text, at, edge)))
			continue;
		end = run_end(&shape[i], memo, text, at + len);
		if (end > best)
			best = end;
	}
	*out = (struct hf_span){ at, best };
	return best > 0;
}
