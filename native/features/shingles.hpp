// Word w-shingles: 64-bit hashes for MinHash, sorted sets of 32-bit features as evidence.
//
// A shingle is hashed by a cyclic polynomial over its word hashes (Cohen 1997; pairwise independent by
// Lemire & Kaser 2010) and scrambled by a bijection. Its upper 32 bits are the feature. Sorted features
// are in random order, so prefix filters take the first ones and verification merges the sets.
// The error of 32 bits: two sets of n features share n²/2³² features by accident, so a score is too high
// by about n/2³² (2·10⁻⁷ for a news article, 2·10⁻⁶ for 10,000 words). Two shingles of one text collide
// with probability n²/2³³, which changes a score by about 1/n.
// A text of fewer than w words has one shingle, which consists of all its words.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

// The greatest number of words of a shingle: more rotations of a 64-bit word would repeat.
inline constexpr uint32_t kMostWords = 32;

// One hash per shingle, in text order, including repeats.
void shingle_hashes(const uint64_t *words, size_t count, uint32_t width, std::vector<uint64_t> &out);

// The upper halves of the hashes, sorted, without repeats. The time is linear because hashes are uniform, and at worst
// n log n. `counts` only avoids allocations.
void feature_set(const std::vector<uint64_t> &hashes, std::vector<uint32_t> &out, std::vector<uint32_t> &counts);

}  // namespace neardup
