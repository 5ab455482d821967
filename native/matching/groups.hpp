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
// Works through the key space in parts, so that memory beyond the input stays bounded.
void shared_groups(const uint64_t *keys, const int64_t *offsets, const int32_t *probes, size_t documents, Groups &out);

// Every pair (a < b) of entries of a group of which one looks; each pair once, sorted by (a, b).
void group_pairs(const int64_t *members, const uint8_t *probes, const int64_t *offsets, size_t groups,
                 std::vector<int64_t> &a, std::vector<int64_t> &b);

}  // namespace neardup
