// Compares documents on the same path if they are few, and lets them continue on longer paths if they are many.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "matching/paths.hpp"

namespace neardup {

// Sizes and parity sketches, which are compared before the evidence. Two documents can pass only if they have num/den of
// the larger set in common.
struct Outlines {
    const int64_t *sizes;
    const uint64_t *words;
    const int64_t *offsets;  // the sketch of d is words[offsets[d] .. offsets[d+1])
    int64_t num, den;

    bool near_in_size(int64_t smaller, int64_t larger) const { return smaller * den >= larger * num; }
    void fetch(uint32_t document) const;
    // False only if the pair certainly cannot pass.
    bool may_pass(uint32_t a, uint32_t b) const;
};

// may[i] = 0 only if the pair of documents a[i] and b[i] certainly cannot pass.
void may_pass(const Outlines &outlines, const uint32_t *a, const uint32_t *b, size_t pairs, uint8_t *may);

struct Rounds {
    int few_bits;       // a member is compared with fewer than 2^few_bits members, on average
    uint32_t deepest;   // the depth at which paths end
    uint64_t part;      // only paths of this part are processed, one of 2^part_bits
    int part_bits;
};

struct Meetings {
    std::vector<uint64_t> pairs;               // a << 32 | b with a < b that may pass; sorted, each once
    std::vector<uint64_t> open;                // paths that continue,
    std::vector<uint32_t> open_documents;      // and the documents on them
    std::vector<int64_t> members, ends = {0};  // crowds: similar documents, or too many at the greatest depth
    int64_t compared = 0;
};

// by_size lists all documents by ascending size, and place[d] is the index of d there. Only documents of similar size
// count.
void meet(const uint64_t *paths, const int64_t *offsets, const uint32_t *by_size, const uint32_t *place,
          size_t documents, const Outlines &outlines, const Rounds &rounds, Meetings &out);

}  // namespace neardup
