// Anchors: runs of words that two texts certainly share, found by k-grams that occur once in each text.
//
// Patience diff uses lines that are unique in both files; this uses unique k-grams. Of all anchors, the chain with
// the most words is kept that has the same order in both texts. The cost is linear in the words and B·log B in the
// number of runs B. In long texts a sample of the k-grams is examined, chosen by hash.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "text/subsequence.hpp"

namespace neardup {

// Holds scratch memory; each thread needs its own.
class Anchors {
  public:
    // Replaces `out` by blocks in order that do not overlap.
    void find(const uint64_t *a, size_t n, const uint64_t *b, size_t m, size_t k, std::vector<Block> &out);

  private:
    struct Gram {
        uint64_t hash;
        uint32_t a, b;  // where it is in each text; only the first gram of several that are equal says so
    };
    // `last` is the beginning of the last k-gram in a; only the beginnings of k-grams must be in order.
    struct Run {
        Block block;
        uint32_t last, before;
        uint64_t weight;
    };

    void read_first(const uint64_t *a, size_t n, size_t k, unsigned skip);
    void read_second(const uint64_t *a, const uint64_t *b, size_t m, size_t k, unsigned skip);
    uint32_t &slot(uint64_t hash);
    void make_runs(const uint64_t *a, const uint64_t *b, size_t k);
    void chain(std::vector<Block> &out);

    std::vector<Gram> grams_;      // of a, in order
    std::vector<uint32_t> table_;  // grams by hash, as their number + 1; 0: an empty slot
    std::vector<uint32_t> first_;  // of each gram the first that is equal to it
    std::vector<Run> runs_;
    std::vector<uint32_t> ends_, best_;  // sorted beginnings of last k-grams in b; a Fenwick tree over them
};

}  // namespace neardup
