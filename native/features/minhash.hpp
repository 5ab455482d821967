// MinHash: the minimum of a set of shingle hashes under each of m hash functions.
//
// A hash's 64 bits are split into x (low half) and y (high half), and h_i = y + a_i·x mod 2^32.
// The multipliers a_i are fixed (methods/minhash.py) and distinct modulo the next power of two ≥ m.
// What is proven, taking hashes as random 64-bit values (shingles.hpp scrambles them):
//  - each h_i is uniform, so a position agrees with probability r, the resemblance (Broder 1997);
//  - for i ≠ j the map (x, y) → (h_i, h_j) is 2^v-to-one with 2^v the largest power of two dividing
//    a_i − a_j, v ≤ log2 m: positions are pairwise independent but for v bits of 64, so the estimate has
//    the binomial variance r(1−r)/m. An affine map of 32 bits alone cannot have this: there h_j is
//    a function of h_i.
// tests/features/test_minhash.py measures bias and variance against the ideal.
// Bound: the multiplier. Three vector instructions for 16 values (AVX-512), 8 (AVX2) or 4 (SSE4.1); SSE2 has no
// multiplication of 32-bit lanes and needs three times as many.
#pragma once
#include <cstddef>
#include <cstdint>

namespace neardup {

// minima[i] for i < m; m must be a multiple of 16 (pad multipliers). Repeats do not matter. No hashes: all
// 2^32 − 1.
void minhash(const uint64_t *hashes, size_t count, const uint32_t *multipliers, size_t m, uint32_t *minima);

// The key of a band: `rows` values and the number of the band.
uint64_t band_key(const uint32_t *minima, uint32_t rows, uint32_t band);

// Band keys of sets of 32-bit features, `bands` a set; scrambled, a feature serves as its 64-bit hash.
void band_keys(const uint32_t *features, const int64_t *offsets, size_t sets, const uint32_t *multipliers, size_t m,
               uint32_t bands, uint32_t rows, uint64_t *keys);

}  // namespace neardup
