// Word w-shingles as sorted sets of 64-bit features.
//
// A shingle is hashed by cyclic polynomial over its word hashes (Cohen 1997; pairwise independent
// by Lemire & Kaser 2010) and scrambled by a bijection, so the set can be sorted by value, that is
// in random order: MinHash reads it, prefix filters take its head, verification merges it.
// A text of fewer than w words has one shingle: all its words.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

// The most words a shingle may have: rotations of a 64-bit word repeat after that.
inline constexpr uint32_t kMostWords = 32;

// One feature a shingle, in text order, repeats included.
void shingle_hashes(const uint64_t *words, size_t count, uint32_t width, std::vector<uint64_t> &out);

// Sorts values that are uniform (they are hashes) and drops repeats. Linear for such values and
// never worse than n log n. `scratch` and `counts` are only there to be used again.
void sort_unique(std::vector<uint64_t> &values, std::vector<uint64_t> &scratch, std::vector<uint32_t> &counts);

}  // namespace neardup
