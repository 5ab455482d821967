#include "matching/groups.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <unordered_set>

#include "hash.hpp"

namespace neardup {
namespace {

struct Entry {
    uint64_t key;
    int64_t member;  // place · 2 + whether the key is a probe
};

bool before(const Entry &x, const Entry &y) { return x.key != y.key ? x.key < y.key : x.member < y.member; }

// Keys are hashes, so buckets by leading bits have similar sizes, and the comparison sort of a bucket is short.
void sort_entries(std::vector<Entry> &entries, std::vector<Entry> &scratch, int skipped_bits) {
    const int bits = std::clamp<int>(std::bit_width(entries.size()) - 3, 1, 20);
    std::vector<size_t> ends((size_t{1} << bits) + 1, 0);
    const auto bucket = [&](uint64_t key) { return (key << skipped_bits) >> (64 - bits); };
    for (const Entry &e : entries) ++ends[bucket(e.key) + 1];
    for (size_t b = 1; b < ends.size(); ++b) ends[b] += ends[b - 1];
    scratch.resize(entries.size());
    for (const Entry &e : entries) scratch[ends[bucket(e.key)]++] = e;
    size_t begin = 0;
    for (size_t b = 0; b + 1 < ends.size(); ++b) {
        std::sort(scratch.begin() + static_cast<ptrdiff_t>(begin), scratch.begin() + static_cast<ptrdiff_t>(ends[b]), before);
        begin = ends[b];
    }
    entries.swap(scratch);
}

// A document that has a key twice is one member, and a probe if either entry is.
void append_group(const Entry *first, const Entry *last, Groups &out) {
    const size_t begin = out.members.size();
    for (const Entry *e = first; e < last; ++e) {
        const int64_t document = e->member >> 1;
        const uint8_t looks = e->member & 1;
        if (out.members.size() > begin && out.members.back() == document) {
            out.probes.back() |= looks;
        } else {
            out.members.push_back(document);
            out.probes.push_back(looks);
        }
    }
    const auto looking = std::count(out.probes.begin() + static_cast<ptrdiff_t>(begin), out.probes.end(), 1);
    if (out.members.size() - begin < 2 || looking == 0) {
        out.members.resize(begin);
        out.probes.resize(begin);
    } else {
        out.ends.push_back(static_cast<int64_t>(out.members.size()));
    }
}

void append_groups(const std::vector<Entry> &entries, Groups &out) {
    for (size_t i = 0, j; i < entries.size(); i = j) {
        for (j = i + 1; j < entries.size() && entries[j].key == entries[i].key;) ++j;
        if (j - i > 1) append_group(entries.data() + i, entries.data() + j, out);
    }
}

// Every part reads all keys once, so the number of parts is limited; beyond this limit, parts grow.
constexpr size_t kPartEntries = size_t{1} << 20;
constexpr int kMostPartBits = 4;

}  // namespace

void shared_groups(const uint64_t *keys, const int64_t *offsets, const int32_t *probes, const int64_t *rows, size_t places,
                   size_t share, size_t shares, Groups &out) {
    size_t total = 0;
    for (size_t p = 0; p < places; ++p) total += static_cast<size_t>(offsets[rows[p] + 1] - offsets[rows[p]]);
    const int least_bits = std::bit_width(shares - 1);
    const int part_bits = std::clamp<int>(std::bit_width(total / kPartEntries), least_bits, std::max(kMostPartBits, least_bits));
    const uint64_t parts = uint64_t{1} << part_bits;
    std::vector<Entry> entries, scratch;
    entries.reserve((total >> part_bits) + (total >> (part_bits + 4)) + 16);
    for (uint64_t part = parts * share / shares; part < parts * (share + 1) / shares; ++part) {
        entries.clear();
        for (size_t p = 0; p < places; ++p) {
            const int64_t begin = offsets[rows[p]], end = offsets[rows[p] + 1], looks = begin + probes[rows[p]];
            for (int64_t k = begin; k < end; ++k)
                if (part_bits == 0 || keys[k] >> (64 - part_bits) == part)
                    entries.push_back({keys[k], static_cast<int64_t>(p) * 2 + (k < looks)});
        }
        sort_entries(entries, scratch, part_bits);
        append_groups(entries, out);
    }
}

void part_keys(const uint64_t *keys, const int64_t *offsets, const int32_t *probes, const int32_t *places,
               const uint64_t *spread, size_t rows, int part_bits, KeyParts &out) {
    const auto each = [&](auto &&use) {
        for (size_t r = 0; r < rows; ++r) {
            if (places[r] < 0) continue;
            const uint64_t change = spread ? spread[r] : 0;
            for (int64_t k = offsets[r]; k < offsets[r + 1]; ++k) {
                const uint64_t key = keys[k] ^ change;
                use(part_bits ? key >> (64 - part_bits) : 0, key, static_cast<uint32_t>(places[r]) * 2 + (k < offsets[r] + probes[r]));
            }
        }
    };
    out.ends.assign((size_t{1} << part_bits) + 1, 0);
    each([&](uint64_t part, uint64_t, uint32_t) { ++out.ends[part + 1]; });
    for (size_t p = 1; p < out.ends.size(); ++p) out.ends[p] += out.ends[p - 1];
    out.keys.resize(static_cast<size_t>(out.ends.back()));
    out.members.resize(out.keys.size());
    std::vector<int64_t> next(out.ends.begin(), out.ends.end() - 1);
    each([&](uint64_t part, uint64_t key, uint32_t member) {
        const auto at = static_cast<size_t>(next[part]++);
        out.keys[at] = key;
        out.members[at] = member;
    });
}

void entry_groups(const uint64_t *keys, const uint32_t *members, size_t entries, int part_bits, Groups &out) {
    std::vector<Entry> sorted(entries), scratch;
    for (size_t i = 0; i < entries; ++i) sorted[i] = {keys[i], members[i]};
    sort_entries(sorted, scratch, part_bits);
    append_groups(sorted, out);
}

void pack_groups(const int64_t *members, const uint8_t *probes, const int64_t *offsets, size_t groups, std::vector<uint32_t> &out) {
    out.reserve(groups + static_cast<size_t>(offsets[groups]));
    for (size_t g = 0; g < groups; ++g) {
        out.push_back(static_cast<uint32_t>(offsets[g + 1] - offsets[g]));
        for (int64_t i = offsets[g]; i < offsets[g + 1]; ++i)
            out.push_back(static_cast<uint32_t>(members[i]) * 2 + (probes[i] != 0));
    }
}

void groups_between(const uint32_t *packed, size_t size, uint32_t first, uint32_t last, Groups &out) {
    for (const uint32_t *group = packed, *end; group < packed + size; group = end) {
        end = group + 1 + *group;
        const uint32_t *upto = end;  // members ascend
        while (upto > group + 1 && upto[-1] >> 1 >= last) --upto;
        if (upto - group < 3 || upto[-1] >> 1 < first) continue;
        for (const uint32_t *member = group + 1; member < upto; ++member) {
            out.members.push_back(*member >> 1);
            out.probes.push_back(*member & 1);
        }
        out.ends.push_back(static_cast<int64_t>(out.members.size()));
    }
}

void group_digests(const int64_t *members, const uint8_t *probes, const int64_t *offsets, size_t groups, uint64_t *digests) {
    std::vector<uint64_t> entries;
    for (size_t g = 0; g < groups; ++g) {
        entries.clear();
        for (int64_t i = offsets[g]; i < offsets[g + 1]; ++i)
            entries.push_back(static_cast<uint64_t>(members[i]) * 2 + (probes[i] != 0));
        digests[g] = sequence_digest(entries.data(), entries.size(), 1);
    }
}

void distinct_groups(const int64_t *members, const uint8_t *probes, const int64_t *offsets, size_t groups,
                     uint8_t *distinct) {
    std::unordered_set<uint64_t> seen;
    std::vector<uint64_t> digests(groups);
    group_digests(members, probes, offsets, groups, digests.data());
    for (size_t g = 0; g < groups; ++g) distinct[g] = seen.insert(digests[g]).second;
}

void shared_keys(const uint64_t *keys, const int64_t *offsets, const int32_t *probes, const int64_t *a,
                 const int64_t *b, size_t pairs, int64_t *counts) {
    for (size_t i = 0; i < pairs; ++i) {
        const int64_t x_begin = offsets[a[i]], x_end = offsets[a[i] + 1], y_end = offsets[b[i] + 1];
        const int64_t x_looks = x_begin + probes[a[i]], y_looks = offsets[b[i]] + probes[b[i]];
        int64_t count = 0;
        for (int64_t x = x_begin, y = offsets[b[i]]; x < x_end && y < y_end;) {
            const uint64_t p = keys[x], q = keys[y];
            count += p == q && (x < x_looks || y < y_looks);
            x += p <= q;
            y += q <= p;
        }
        counts[i] = count;
    }
}

// Whether one of the `looking` keys is among the others. There are a few dozen keys, so a simple loop suffices.
static bool looks_at(const uint64_t *looking, int64_t count, const uint64_t *others, int64_t size) {
    for (int64_t i = 0; i < count; ++i)
        if (std::find(others, others + size, looking[i]) != others + size) return true;
    return false;
}

void share_key(const uint64_t *keys, const int64_t *offsets, const int32_t *probes, const int64_t *a,
               const int64_t *b, size_t pairs, uint8_t *shared) {
    for (size_t i = 0; i < pairs; ++i) {
        const uint64_t *x = keys + offsets[a[i]], *y = keys + offsets[b[i]];
        const int64_t x_size = offsets[a[i] + 1] - offsets[a[i]], y_size = offsets[b[i] + 1] - offsets[b[i]];
        shared[i] = looks_at(x, probes[a[i]], y, y_size) || looks_at(y, probes[b[i]], x, x_size);
    }
}

}  // namespace neardup
