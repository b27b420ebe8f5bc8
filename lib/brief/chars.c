#include "brief/chars.h"

enum {
	D = HF_CH_DIGIT, U = HF_CH_UPPER, L = HF_CH_LOWER,
	X = HF_CH_LOWER | HF_CH_HEX
};

const uint16_t hf_chars_sets[256] = {
	['%'] = HF_CH_PERCENT, ['+'] = HF_CH_PLUS, ['-'] = HF_CH_DASH,
	['.'] = HF_CH_DOT, ['/'] = HF_CH_PLUS,
	['0'] = D, ['1'] = D, ['2'] = D, ['3'] = D, ['4'] = D, ['5'] = D,
	['6'] = D, ['7'] = D, ['8'] = D, ['9'] = D,
	['='] = HF_CH_EQUAL,
	['A'] = U, ['B'] = U, ['C'] = U, ['D'] = U, ['E'] = U, ['F'] = U,
	['G'] = U, ['H'] = U, ['I'] = U, ['J'] = U, ['K'] = U, ['L'] = U,
	['M'] = U, ['N'] = U, ['O'] = U, ['P'] = U, ['Q'] = U, ['R'] = U,
	['S'] = U, ['T'] = U, ['U'] = U, ['V'] = U, ['W'] = U, ['X'] = U,
	['Y'] = U, ['Z'] = U,
	['_'] = HF_CH_UNDER,
	['a'] = X, ['b'] = X, ['c'] = X, ['d'] = X, ['e'] = X, ['f'] = X,
	['g'] = L, ['h'] = L, ['i'] = L, ['j'] = L, ['k'] = L, ['l'] = L,
	['m'] = L, ['n'] = L, ['o'] = L, ['p'] = L, ['q'] = L, ['r'] = L,
	['s'] = L, ['t'] = L, ['u'] = L, ['v'] = L, ['w'] = L, ['x'] = L,
	['y'] = L, ['z'] = L,
	['~'] = HF_CH_TILDE
};
