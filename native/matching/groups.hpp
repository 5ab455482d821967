// Keys → groups of documents that share a key → candidate pairs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

// Groups of two or more entries with equal keys. An entry is a document and whether it looks
// (probe) or is only to be found. Groups come in key order, members in document order.
struct Groups {
    std::vector<int64_t> members, ends;
    std::vector<uint8_t> probes;
};

// Document d has keys[offsets[d] .. offsets[d+1]), of which the first probes[d] look.
// Works through the key space in parts, so that memory beyond the input is a fraction of it.
void shared_groups(const uint64_t *keys, const int64_t *offsets, const int32_t *probes, size_t documents, Groups &out);

// distinct[g] = 1 for the first of all groups with the same entries: alike documents share many keys.
void distinct_groups(const int64_t *members, const uint8_t *probes, const int64_t *offsets, size_t groups,
                     uint8_t *distinct);

// shared[i] = 1 where documents a[i] and b[i] share a key with which one of them looks.
void share_key(const uint64_t *keys, const int64_t *offsets, const int32_t *probes, const int64_t *a,
               const int64_t *b, size_t pairs, uint8_t *shared);

struct CandidatePairs {
    std::vector<int64_t> a, b;
    int64_t largest = 0;  // groups up to this size are in; larger ones were left out
};

// Every pair (a < b) of entries of a group of which one looks, each once, sorted by (a, b). Groups are
// taken by size, smallest first, as long as there are at most `budget` pairs; groups of one size
// stand or fall together, so the answer does not depend on their order.
void group_pairs(const int64_t *members, const uint8_t *probes, const int64_t *offsets, size_t groups,
                 int64_t budget, CandidatePairs &out);

}  // namespace neardup
