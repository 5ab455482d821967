#include "matching/rare.hpp"

#include <algorithm>

#include "hash.hpp"

namespace neardup {
namespace {

uint64_t key_of(uint64_t feature) { return scramble(feature ^ kSecret[1]); }

}  // namespace

void count_features(const uint32_t *features, size_t size, uint32_t *counts, size_t slots) {
    for (size_t i = 0; i < size; ++i) ++counts[features[i] & (slots - 1)];
}

void rare_prefixes(const uint32_t *features, const int64_t *offsets, const int64_t *sizes, size_t documents,
                   const uint32_t *counts, size_t slots, bool all, uint64_t part, uint64_t parts, RareKeys &out) {
    std::vector<uint64_t> order;  // count above, feature below
    for (size_t d = 0; d < documents; ++d) {
        order.clear();
        for (int64_t i = offsets[d]; i < offsets[d + 1]; ++i)
            order.push_back(uint64_t{counts[features[i] & (slots - 1)]} << 32 | features[i]);
        const size_t size = std::min(static_cast<size_t>(sizes[d]), order.size());
        if (size > 0 && size < order.size())
            std::nth_element(order.begin(), order.begin() + static_cast<ptrdiff_t>(size - 1), order.end());
        int32_t probes = 0;
        for (size_t i = 0; i < (all ? order.size() : size); ++i) {
            const uint64_t key = key_of(order[i] & 0xffffffffu);
            if (key % parts != part) continue;
            out.keys.push_back(key);
            probes += i < size;
        }
        out.ends.push_back(static_cast<int64_t>(out.keys.size()));
        out.probes.push_back(probes);
    }
}

void rare_weighted_prefixes(const uint64_t *entries, const int64_t *offsets, const uint64_t *needed, size_t documents,
                            bool squared, const uint32_t *counts, size_t slots, uint64_t part, uint64_t parts,
                            RareKeys &out) {
    struct Entry {
        uint64_t order;  // count or lightness above, feature below
        uint64_t mass;
        bool operator<(const Entry &other) const { return order < other.order; }
    };
    std::vector<Entry> set;
    for (size_t d = 0; d < documents; ++d) {
        set.clear();
        uint64_t left = 0;
        for (int64_t i = offsets[d]; i < offsets[d + 1]; ++i) {
            const uint64_t feature = entries[i] >> 32, weight = entries[i] & 0xffffffffu;
            const uint64_t above = slots ? counts[feature & (slots - 1)] : 0xffffffffu - weight;
            set.push_back({above << 32 | feature, squared ? weight * weight : weight});
            left += set.back().mass;
        }
        std::sort(set.begin(), set.end());
        int32_t probes = 0;
        for (size_t i = 0; i < set.size() && left >= std::max<uint64_t>(needed[d], 1); ++i) {
            left -= set[i].mass;
            const uint64_t key = key_of(set[i].order & 0xffffffffu);
            if (key % parts != part) continue;
            out.keys.push_back(key);
            ++probes;
        }
        out.ends.push_back(static_cast<int64_t>(out.keys.size()));
        out.probes.push_back(probes);
    }
}

void rare_vector_pairs(const uint64_t *entries, const int64_t *offsets, const uint64_t *needed, size_t documents,
                       const uint32_t *counts, size_t slots, uint32_t common, uint64_t part, uint64_t parts,
                       RareKeys &out) {
    struct Entry {
        uint64_t order, mass;  // order: count above, feature below
        bool operator<(const Entry &other) const { return order < other.order; }
    };
    std::vector<Entry> set;
    std::vector<uint64_t> often;  // keys of the common features of the head
    for (size_t d = 0; d < documents; ++d) {
        set.clear();
        often.clear();
        uint64_t left = 0, heaviest = 0;
        for (int64_t i = offsets[d]; i < offsets[d + 1]; ++i) {
            const uint64_t feature = entries[i] >> 32, weight = entries[i] & 0xffffffffu;
            set.push_back({uint64_t{counts[feature & (slots - 1)]} << 32 | feature, weight * weight});
            left += set.back().mass;
            heaviest = std::max(heaviest, set.back().mass);
        }
        std::sort(set.begin(), set.end());
        const size_t before = out.keys.size();
        const auto give = [&](uint64_t key) {
            if (key % parts == part) out.keys.push_back(key);
        };
        for (size_t i = 0; i < set.size() && left + heaviest >= needed[d]; ++i) {
            left -= set[i].mass;
            const uint64_t key = key_of(set[i].order & 0xffffffffu);
            const bool rare = set[i].order >> 32 <= common;
            if (rare || set[i].mass >= needed[d]) give(key);
            if (rare) continue;
            for (uint64_t other : often) give(scramble(fold_multiply(other, kSecret[2]) ^ key));
            often.push_back(key);
        }
        out.ends.push_back(static_cast<int64_t>(out.keys.size()));
        out.probes.push_back(static_cast<int32_t>(out.keys.size() - before));
    }
}

}  // namespace neardup
