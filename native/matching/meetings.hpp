// Who is on the same path: where they are few they are compared, where they are many they go on.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "matching/paths.hpp"

namespace neardup {

// What documents are compared by before their evidence is: sizes and parity sketches. Two may pass only with
// num/den of the larger set in common.
struct Outlines {
    const int64_t *sizes;
    const uint64_t *words;
    const int64_t *offsets;  // the sketch of d is words[offsets[d] .. offsets[d+1])
    int64_t num, den;

    bool near_in_size(int64_t smaller, int64_t larger) const { return smaller * den >= larger * num; }
    // Never wrong where it says no.
    bool may_pass(uint32_t a, uint32_t b) const;
};

struct Rounds {
    int few_bits;       // a member is compared with fewer than 2^few_bits others, on average
    uint32_t deepest;   // where nobody goes on
    uint64_t part;      // only paths of this one of 2^part_bits shares of all
    int part_bits;
};

struct Meetings {
    std::vector<uint64_t> pairs;               // a << 32 | b with a < b, that may pass; sorted, each once
    std::vector<uint64_t> open;                // paths on which members go on,
    std::vector<uint32_t> open_documents;      // and who
    std::vector<int64_t> members, ends = {0};  // crowds: alike, or too many at the deepest
    int64_t compared = 0;
};

// by_size are all documents by ascending size, place[d] is where d is there. Only others that are near in size count.
void meet(const uint64_t *paths, const int64_t *offsets, const uint32_t *by_size, const uint32_t *place,
          size_t documents, const Outlines &outlines, const Rounds &rounds, Meetings &out);

}  // namespace neardup
