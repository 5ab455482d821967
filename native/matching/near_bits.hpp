// Finds all pairs of fingerprints within k bits of each other, one table at a time (Manku et al. 2007).
//
// A table is a mask: fingerprints that agree in its bits are compared. Any two fingerprints within k bits agree under at
// least one of the masks; a pair is reported only for the first such mask.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace neardup {

struct NearPairs {
    std::vector<int64_t> a, b;     // a < b, within k bits
    std::vector<int64_t> members;  // of crowds: too many similar fingerprints to list their pairs in linear space
    std::vector<int64_t> ends;
};

struct BitTables {
    std::span<const uint64_t> masks;  // `lanes` words per table
    size_t lanes;
    uint32_t k;
    size_t size() const { return masks.size() / lanes; }
};

// `values` has tables.lanes words per document. `codes` is empty or has one code per document, and only documents with
// equal codes are compared. At most about `most_pairs` pairs are listed; the remaining ones are in crowds.
void near_pairs(std::span<const uint64_t> values, std::span<const int64_t> codes, const BitTables &tables, size_t table,
                size_t most_pairs, NearPairs &out);

// The number of bits that differ.
void bit_distances(const uint64_t *values, const int64_t *offsets, const int64_t *a, const int64_t *b, size_t pairs,
                   int64_t *out);

}  // namespace neardup
