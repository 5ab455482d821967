// Groups documents that share a key.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

// Groups of two or more entries with equal keys. An entry is a document, and whether it searches with the key (probe) or
// can only be found by it. Groups are in the order of keys, members in the order of places.
struct Groups {
    std::vector<int64_t> members, ends;
    std::vector<uint8_t> probes;
};

// Row r has keys[offsets[r] .. offsets[r+1]), of which the first probes[r] are probes; the document at place p has row
// rows[p]. The key space is processed in parts, so that additional memory is a fraction of the input. `share` of `shares`
// gets its own range of keys: the groups of all shares in order are those of one call, so that threads can take one each.
void shared_groups(const uint64_t *keys, const int64_t *offsets, const int32_t *probes, const int64_t *rows, size_t places,
                   size_t share, size_t shares, Groups &out);

// distinct[g] = 1 for the first of all groups with the same entries; similar documents share many keys.
void distinct_groups(const int64_t *members, const uint8_t *probes, const int64_t *offsets, size_t groups,
                     uint8_t *distinct);

// Entries by parts of the key space: those of part p are ends[p] .. ends[p + 1]. A member is place · 2 + whether the key
// is a probe.
struct KeyParts {
    std::vector<uint64_t> keys;
    std::vector<uint32_t> members;
    std::vector<int64_t> ends;
};

// The keys of some rows, divided by their `part_bits` leading bits. Row r has the place places[r], or −1 if it is left
// out; its keys are changed by spread[r] (null: by nothing). Parts keep the order of the rows.
void part_keys(const uint64_t *keys, const int64_t *offsets, const int32_t *probes, const int32_t *places,
               const uint64_t *spread, size_t rows, int part_bits, KeyParts &out);

// The groups of the entries of one part: in the order of parts they are those of shared_groups.
void entry_groups(const uint64_t *keys, const uint32_t *members, size_t entries, int part_bits, Groups &out);

// Groups as one list of numbers: the size of each, and its members as place · 2 + whether it is a probe.
void pack_groups(const int64_t *members, const uint8_t *probes, const int64_t *offsets, size_t groups, std::vector<uint32_t> &out);

// Appends the packed groups in which a place from `first` to `last` meets one before it, without places from `last` on.
void groups_between(const uint32_t *packed, size_t size, uint32_t first, uint32_t last, Groups &out);

// One number for each group, equal for groups with the same entries.
void group_digests(const int64_t *members, const uint8_t *probes, const int64_t *offsets, size_t groups, uint64_t *digests);

// shared[i] = 1 if documents a[i] and b[i] share a key that is a probe of at least one of them.
void share_key(const uint64_t *keys, const int64_t *offsets, const int32_t *probes, const int64_t *a,
               const int64_t *b, size_t pairs, uint8_t *shared);

// counts[i]: how many keys a[i] and b[i] share with which one of the two looks. The keys of a document are sorted.
void shared_keys(const uint64_t *keys, const int64_t *offsets, const int32_t *probes, const int64_t *a,
                 const int64_t *b, size_t pairs, int64_t *counts);

}  // namespace neardup
