// Weighted keywords (Raveena & Nandini 2014): the terms of greatest tf·idf of a document, or of each of its
// sentences, as weighted features or as ordered tuples.
//
// Weights are whole numbers below 2²⁰: tf(n)·idf / 2²⁰ with both factors from tables in fixed point, so that
// every machine has the same. Of equal weights the rarer term comes first, then the one of lower rank.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "features/terms.hpp"

namespace neardup {

struct KeywordSettings {
    TermFilter filter;
    uint32_t k;
    bool sentences, tuples;
    uint32_t first_rank;               // rarer terms are left out
    std::span<const uint32_t> idf;     // by rank, up to 2²⁰
    uint32_t unknown_idf;              // of terms that the table does not have; 0 leaves them out
    std::span<const uint32_t> tf;      // by number of occurrences, from 0; the last one stands for more
};

// Appends entries feature << 32 | weight, sorted by feature, and their end, for each document. The feature of
// a term is the upper half of its hash, that of a tuple the upper half of a digest of its terms in order. Of
// sentences, a word weighs by its occurrences in all those that have it as a keyword; a tuple weighs 1.
void keywords(const uint8_t *values, const int64_t *offsets, size_t documents, const TextOptions &options,
              const TermTable &table, const KeywordSettings &settings, std::vector<uint64_t> &entries,
              std::vector<int64_t> &ends);

}  // namespace neardup
