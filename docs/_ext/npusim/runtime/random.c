/* The Ascend random stream: the arithmetic of npusim/kernels/philox.py, which describes it. */
#include "npusim.h"

#include <math.h>

enum { ROUNDS = 10, WORDS = 4, PAIRS = 4 }; /* PAIRS: of normal values, computed at once */

static float uniform(uint32_t word) { return (float)(word & 0x7FFFFF) * 0x1p-23f; }

/* A block of the stream, by Philox4x32-10. */
static void block(uint64_t seed, uint64_t offset, uint64_t index, uint32_t words[WORDS]) {
    uint32_t k0 = seed, k1 = seed >> 32;
    uint32_t c0 = index, c1 = index >> 32, c2 = offset, c3 = offset >> 32;
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t p0 = (uint64_t)0xD2511F53 * c0, p1 = (uint64_t)0xCD9E8D57 * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = p0;
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    words[0] = c0, words[1] = c1, words[2] = c2, words[3] = c3;
}

/* For Python: the first `n` words of the stream. */
void npusim_random_words(uint64_t seed, uint64_t offset, uint64_t n, uint32_t *words) {
    for (uint64_t i = 0; i < n; i += WORDS) {
        uint32_t next[WORDS];
        block(seed, offset, i / WORDS, next);
        memcpy(words + i, next, sizeof *next * (n - i < WORDS ? n - i : WORDS));
    }
}

/* Logarithm, sine and cosine are computed in double, then rounded: published sums of hardware come out right
 * only so. The C library's functions would do, in three times the time; these series give the same floats for
 * each of the 2**23 values that a draw can have. */

typedef float Floats __attribute__((vector_size(4 * PAIRS)));
typedef int32_t Ints __attribute__((vector_size(4 * PAIRS)));
typedef double Doubles __attribute__((vector_size(8 * PAIRS)));

#define DOUBLES(x) __builtin_convertvector(x, Doubles)
#define FLOATS(x) __builtin_convertvector(x, Floats)

/* log x for 0 < x < 1: x = 2**k m with m around 1, log m = 2 artanh s. */
static inline void logarithm(Floats *x) {
    const int32_t one = 0x3F800000, root = 0x3F3504F3; /* bits of 1 and of the root of 1/2 */
    Ints bits = (Ints)*x + (one - root), k = (bits >> 23) - 127;
    Doubles m = DOUBLES((Floats)((bits & 0x7FFFFF) + root)), s = (m - 1) / (m + 1), z = s * s;
    Doubles series = 1. / 13 + z * (1. / 15 + z * (1. / 17 + z * (1. / 19 + z / 21)));
    series = 1. / 3 + z * (1. / 5 + z * (1. / 7 + z * (1. / 9 + z * (1. / 11 + z * series))));
    *x = FLOATS(DOUBLES(k) * M_LN2 + 2 * (s + s * z * series));
}

/* Sine and cosine of 0 <= x < 7: x = k pi/2 + r, and Taylor's series for r. */
static inline void sine_cosine(const Floats *angle, Floats *sine, Floats *cosine) {
    const double high = 0x1.921FB544p0, low = 0x1.0B4611A626331p-34; /* pi/2 in two parts: k * high is exact */
    Doubles x = DOUBLES(*angle);
    Ints k = __builtin_convertvector(x * M_2_PI + 0.5, Ints);
    Doubles r = (x - DOUBLES(k) * high) - DOUBLES(k) * low, z = r * r;
    Doubles s = 1. / 6227020800 + z * (-1. / 1307674368000 + z / 355687428096000);
    s = 1. / 120 + z * (-1. / 5040 + z * (1. / 362880 + z * (-1. / 39916800 + z * s)));
    Ints own = (Ints)FLOATS(r + r * z * (-1. / 6 + z * s));
    Doubles c = 1. / 479001600 + z * (-1. / 87178291200 + z / 20922789888000);
    c = 1. / 24 + z * (-1. / 720 + z * (1. / 40320 + z * (-1. / 3628800 + z * c)));
    Ints other = (Ints)FLOATS(1 + z * (-1. / 2 + z * c));
    Ints swap = (own ^ other) & -(k & 1); /* where k is odd, one is the other */
    *sine = (Floats)(own ^ swap ^ ((k & 2) << 30));
    *cosine = (Floats)(other ^ swap ^ (((k + 1) & 2) << 30));
}

/* Box and Muller's pairs from two blocks. */
static void normal_pairs(const uint32_t words[2 * PAIRS], float values[2 * PAIRS]) {
    Floats radius, angle, sine, cosine;
    for (int i = 0; i < PAIRS; i++) {
        radius[i] = fmaxf(uniform(words[2 * i]), 1e-7f);
        angle[i] = (float)(2 * M_PI) * uniform(words[2 * i + 1]);
    }
    logarithm(&radius);
    sine_cosine(&angle, &sine, &cosine);
    for (int i = 0; i < PAIRS; i++) {
        float r = sqrtf(-2.0f * radius[i]);
        values[2 * i] = sine[i] * r;
        values[2 * i + 1] = cosine[i] * r;
    }
}

/* For Python: the first `n` standard normal values of the stream. */
void npusim_random_normal(uint64_t seed, uint64_t offset, uint64_t n, float *values) {
    for (uint64_t i = 0; i < n; i += 2 * PAIRS) {
        uint32_t words[2 * PAIRS];
        float next[2 * PAIRS];
        for (int j = 0; j < 2 * PAIRS; j += WORDS)
            block(seed, offset, (i + j) / WORDS, words + j);
        normal_pairs(words, next);
        memcpy(values + i, next, sizeof *next * (n - i < 2 * PAIRS ? n - i : 2 * PAIRS));
    }
}
