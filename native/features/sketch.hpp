// Sketches: samples of a shingle set from which resemblance is estimated, as the papers define them.
//
//  - Minima: the least value of the set under each of m functions. A position agrees with probability r,
//    so agreeing positions / m estimates r with standard error √(r(1−r)/m) (Broder 1997).
//  - Classic family: h_i(x) = (A_i·x + B_i) mod p of 32-bit features (Williams & Giles 2013), with the
//    prime p = 2³² − 5; their 2³² − 1 is 3·5·17·257·65537. There is no proof for this family, because two such
//    functions of 32 bits are functions of each other. tests/features/test_sketch.py measures the standard error.
//  - Sampled features: those ≡ 0 modulo m, and of these the s smallest (Broder et al. 1997); m = 1 is the
//    bottom-s sketch.
// Words are hashes, document by document (methods/reading.hpp); shingles in the sorted list `ignored` do not count.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace neardup {

struct Documents {
    const uint64_t *words;
    const int64_t *offsets;
    size_t count;
    uint32_t width;
    std::span<const uint64_t> ignored;
};

inline constexpr uint64_t kClassicPrime = (uint64_t{1} << 32) - 5;

// Without addends the family of minhash.hpp, with addends the classic one. Both are padded to a multiple of 16.
struct Family {
    std::span<const uint32_t> multipliers;
    std::span<const uint32_t> addends;
};

// Writes minima[i] for i < m, a multiple of 16. Without hashes, all minima are 2³² − 1.
void classic_minhash(const uint64_t *hashes, size_t count, const Family &family, uint32_t *minima);

// `values` minima per document; shingles[d] is the number of its shingles.
void sketch_minima(const Documents &documents, const Family &family, size_t values, std::vector<uint32_t> &minima,
                   std::vector<int64_t> &shingles);

// Sorted features ≡ 0 modulo `modulus`, the `limit` smallest of them (0: all).
void sample_features(const Documents &documents, uint32_t modulus, size_t limit, std::vector<uint32_t> &features,
                     std::vector<int64_t> &ends);

// The number of places at which entries a[i] and b[i] are equal; 0 if their lengths differ.
void equal_places(const uint32_t *values, const int64_t *offsets, const int64_t *a, const int64_t *b, size_t pairs,
                  int64_t *counts);

// For bottom-s sketches: the number of values among the s smallest of the union (`whole`), and how many of them are in
// both sketches (`shared`). A sketch of fewer than s values is the whole set; if both are, the whole union counts.
void bottom_overlaps(const uint32_t *values, const int64_t *offsets, const int64_t *a, const int64_t *b, size_t limit,
                     size_t pairs, int64_t *shared, int64_t *whole);

// |A ∩ B| of sorted sets of 64-bit values.
void common_values(const uint64_t *values, const int64_t *offsets, const int64_t *a, const int64_t *b, size_t pairs,
                   int64_t *counts);

}  // namespace neardup
