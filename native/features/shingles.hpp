// Word w-shingles: 64-bit hashes for MinHash, sorted sets of 32-bit features as evidence.
//
// A shingle is hashed by cyclic polynomial over its word hashes (Cohen 1997; pairwise independent
// by Lemire & Kaser 2010) and scrambled by a bijection. Its upper 32 bits are the feature: sorted,
// that is in random order, so prefix filters take the head and verification merges.
// The error of 32 bits: two sets of n features share n²/2³² by accident, so a score is too high by
// about n/2³² (2·10⁻⁷ for a news article, 2·10⁻⁶ for 10,000 words); two shingles of one text fall
// together with probability n²/2³³, which moves a score by about 1/n.
// A text of fewer than w words has one shingle: all its words.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

// The most words a shingle may have: rotations of a 64-bit word repeat after that.
inline constexpr uint32_t kMostWords = 32;

// One hash a shingle, in text order, repeats included.
void shingle_hashes(const uint64_t *words, size_t count, uint32_t width, std::vector<uint64_t> &out);

// The upper halves of the hashes, sorted, without repeats. Linear because hashes are uniform, and
// never worse than n log n. `counts` is only there to be used again.
void feature_set(const std::vector<uint64_t> &hashes, std::vector<uint32_t> &out, std::vector<uint32_t> &counts);

}  // namespace neardup
