#include "matching/groups.hpp"

#include <algorithm>
#include <bit>

namespace neardup {
namespace {

struct Entry {
    uint64_t key;
    int64_t member;  // document · 2 + looks
};

bool before(const Entry &x, const Entry &y) { return x.key != y.key ? x.key < y.key : x.member < y.member; }

// Keys are hashes, so buckets by leading bits are even; inside a bucket a comparison sort is short.
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

// A document may hold one key twice: it is one member, and looks if either entry does.
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

constexpr size_t kPartEntries = size_t{1} << 20;

}  // namespace

void shared_groups(const uint64_t *keys, const int64_t *offsets, const int32_t *probes, size_t documents, Groups &out) {
    const size_t total = documents ? static_cast<size_t>(offsets[documents] - offsets[0]) : 0;
    const int part_bits = std::clamp<int>(std::bit_width(total / kPartEntries), 0, 12);
    std::vector<Entry> entries, scratch;
    entries.reserve((total >> part_bits) + (total >> (part_bits + 4)) + 16);
    for (uint64_t part = 0; part < uint64_t{1} << part_bits; ++part) {
        entries.clear();
        for (size_t d = 0; d < documents; ++d)
            for (int64_t k = offsets[d]; k < offsets[d + 1]; ++k)
                if (part_bits == 0 || keys[k] >> (64 - part_bits) == part)
                    entries.push_back({keys[k], static_cast<int64_t>(d) * 2 + (k - offsets[d] < probes[d])});
        sort_entries(entries, scratch, part_bits);
        append_groups(entries, out);
    }
}

void group_pairs(const int64_t *members, const uint8_t *probes, const int64_t *offsets, size_t groups,
                 std::vector<int64_t> &a, std::vector<int64_t> &b) {
    std::vector<std::pair<int64_t, int64_t>> pairs;
    for (size_t g = 0; g < groups; ++g)
        for (int64_t i = offsets[g]; i < offsets[g + 1]; ++i)
            for (int64_t j = i + 1; j < offsets[g + 1]; ++j)
                if (probes[i] | probes[j]) pairs.emplace_back(members[i], members[j]);
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    a.reserve(pairs.size());
    b.reserve(pairs.size());
    for (const auto &[x, y] : pairs) a.push_back(x), b.push_back(y);
}

}  // namespace neardup
