// Paths: keys for sets that share much, longer where more would meet (Christiani & Pagh 2017, "Set
// similarity beyond MinHash"; the end by size from Christiani, Pagh & Sivertsen 2018, CPSJoin).
//
// A path is a sequence of features. A set x that is on a path goes on with those of its features that lie
// in a window of the 2³² values: it begins where the hash of the path says, and is 2³² / m(x) wide. Features are
// hashes, so if x and y have at least max(m(x), m(y)) features in common, at least one of them is in the
// windows of both, on average, and the paths that they share are a branching process of mean 1 or more: it
// lives to depth k with probability q(k) or more, where q(0) = 1, q(k + 1) = 1 − exp(−q(k)), however common
// these features are. Unlike sets part at the first feature that one of them lacks.
//
// How long a path gets is the same for all sets on it: by the rarity of its features it goes on until few
// are expected to be on it, and again where there are too many all the same (meetings.hpp). So paths of rare
// features are short, and how rare a feature is taken to be changes the cost and not the bound.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

// A path as one number: a hash, how many are on it (the bits of that number) and its depth.
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

// Paths of documents: document d is on values[offsets[d] .. offsets[d+1]).
struct Paths {
    std::vector<uint64_t> values;
    std::vector<int64_t> offsets;
};

// Goes on from all paths until about 2^few_bits are expected on each, by one feature at least and to depth
// `deepest` at most; only three features where these part next to nobody.
void longer_paths(const Features &sets, const int64_t *m, const uint64_t *paths, const int64_t *offsets,
                  size_t documents, int few_bits, uint32_t deepest, Paths &out);

}  // namespace neardup
