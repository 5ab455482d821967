// Paths: keys for sets that share many features; a path is longer if more sets would share it (Christiani & Pagh 2017,
// "Set similarity beyond MinHash"; the stop by size from Christiani, Pagh & Sivertsen 2018, CPSJoin).
//
// A path is a sequence of features. A set x on a path continues with those of its features that lie in a window of the
// 2³² values; the hash of the path determines where the window begins, and its width is 2³² / m(x). Features are hashes,
// so if x and y have at least max(m(x), m(y)) features in common, on average at least one of them is in the windows of
// both. The paths that x and y share are then a branching process of mean 1 or more, which survives to depth k with
// probability q(k) or more, where q(0) = 1, q(k + 1) = 1 − exp(−q(k)), no matter how common the features are. Two sets
// separate at the first feature that one of them lacks.
//
// The length of a path is the same for all sets on it: it continues until the rarity of its features lets few sets be
// expected on it, and further if there are still too many (meetings.hpp). Paths of rare features are therefore short,
// and an error in the assumed rarity changes the cost but not the bound.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

// A path as one number: a hash, the bit length of the number of other sets on it, and its depth.
namespace path {
inline constexpr uint64_t kDepth = 0xf, kCrowd = 0x3f0, kHash = ~uint64_t{0x3ff};
inline constexpr int kCrowdAt = 4;
}  // namespace path

struct Features {
    const uint32_t *values;
    const int64_t *offsets;  // set d is values[offsets[d] .. offsets[d+1]), sorted, without repeats
    const uint8_t *rarity;   // by the low bits of a feature, in eighths of a bit: −8·log2 of its share of all sets
    size_t slots;
};

// Document d is on the paths values[offsets[d] .. offsets[d+1]).
struct Paths {
    std::vector<uint64_t> values;
    std::vector<int64_t> offsets;
};

// Extends all paths until about 2^few_bits sets are expected on each, by at least one feature and to depth `deepest` at
// most; by only three features if these separate almost no sets.
void longer_paths(const Features &sets, const int64_t *m, const uint64_t *paths, const int64_t *offsets,
                  size_t documents, int few_bits, uint32_t deepest, Paths &out);

}  // namespace neardup
