// Runs of words that two texts surely share: those with k words in a row that stand once in either text.
//
// As patience diff takes lines that are unique in both files, this takes unique k-grams; of all that were
// found, the chain with most words is kept in which both texts have the same order. Linear in the words, and
// B·log B in the runs found. Of long texts a sample of the k-grams is looked at, chosen by their hash.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "text/subsequence.hpp"

namespace neardup {

// Holds scratch memory: one for each thread.
class Anchors {
  public:
    // Clears `out`; blocks in order that do not overlap.
    void find(const uint64_t *a, size_t n, const uint64_t *b, size_t m, size_t k, std::vector<Block> &out);

  private:
    struct Gram {
        uint64_t hash;
        uint32_t a, b;
    };
    // `last` is where the last k-gram begins, in a: only the begins of k-grams must be in order.
    struct Run {
        Block block;
        uint32_t last, before;
        uint64_t weight;
    };

    void read_first(const uint64_t *a, size_t n, size_t k, unsigned skip);
    void read_second(const uint64_t *b, size_t m, size_t k, unsigned skip);
    Gram *slot(uint64_t hash);
    void make_runs(const uint64_t *a, const uint64_t *b, size_t k);
    void chain(std::vector<Block> &out);

    std::vector<Gram> table_;
    std::vector<Gram> grams_;
    std::vector<Run> runs_;
    std::vector<uint32_t> ends_, best_;  // begins of last k-grams in b, sorted; a Fenwick tree over them
};

}  // namespace neardup
