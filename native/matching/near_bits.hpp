// All pairs of fingerprints within k bits of each other, a table at a time (Manku et al. 2007).
//
// A table is a mask: fingerprints that agree under it meet. The masks together are such that any two
// fingerprints within k bits agree under at least one; a pair is given by the first of these only.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace neardup {

struct NearPairs {
    std::vector<int64_t> a, b;     // a < b, within k bits
    std::vector<int64_t> members;  // of crowds: so many near ones that pairs would not be linear
    std::vector<int64_t> ends;
};

struct BitTables {
    std::span<const uint64_t> masks;  // `lanes` words a table
    size_t lanes;
    uint32_t k;
    size_t size() const { return masks.size() / lanes; }
};

// `values` has tables.lanes words a document; `codes` is empty or has one a document, and only equal
// ones meet. At most about `most_pairs` pairs are given; what is beyond them is in crowds.
void near_pairs(std::span<const uint64_t> values, std::span<const int64_t> codes, const BitTables &tables, size_t table,
                size_t most_pairs, NearPairs &out);

// How many bits differ.
void bit_distances(const uint64_t *values, const int64_t *offsets, const int64_t *a, const int64_t *b, size_t pairs,
                   int64_t *out);

}  // namespace neardup
