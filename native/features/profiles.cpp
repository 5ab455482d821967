#include "profiles.hpp"

#include <algorithm>
#include <vector>

#include "common_entries.hpp"
#include "families.hpp"
#include "overlap.hpp"

namespace neardup {

namespace {

int64_t weight_of(uint64_t entry) { return static_cast<int64_t>(entry & 0xffffffffu) >> 2; }

void add(const Match *match, const Match *end, FamilySums &sums) {
    sums.features += end - match;
    for (; match < end; ++match) {
        const int64_t wp = weight_of(match->p), wq = weight_of(match->q), least = std::min(wp, wq);
        const uint64_t rarity = match->p & 3;
        const int64_t rare = -static_cast<int64_t>(rarity != kCommon), lone = -static_cast<int64_t>(rarity >= kLone);
        sums.weight += least;
        sums.product += wp * wq;
        sums.rare -= rare;
        sums.rare_weight += least & rare;
        sums.lone_weight += least & lone;
    }
}

FamilySums compared(Entries p, Entries q, std::vector<Match> &room) {
    FamilySums sums{};
    for_common_entries(p, q, room, [&](const Match *begin, const Match *end) { add(begin, end, sums); });
    return sums;
}

FamilySizes sized(Entries entries) {
    FamilySizes sizes{};
    sizes.features = entries.end - entries.begin;
    for (; entries.begin < entries.end; ++entries.begin) {
        const int64_t weight = weight_of(*entries.begin);
        const uint64_t rarity = *entries.begin & 3;
        const int64_t lone = -static_cast<int64_t>(rarity >= kLone), rare = -static_cast<int64_t>(rarity == kRare);
        sizes.weight += weight;
        sizes.square += weight * weight;
        sizes.rare -= rare;
        sizes.rare_weight += weight & rare;
        sizes.lone -= lone;
        sizes.lone_weight += weight & lone;
    }
    return sizes;
}

}  // namespace

void profile_rows(const std::vector<FeatureSets> &families, size_t documents, uint32_t *out, std::vector<int64_t> &ends) {
    const uint32_t *const begin = out;
    for (size_t d = 0; d < documents; ++d) {
        for (const FeatureSets &family : families) *out++ = static_cast<uint32_t>(family.size(d));
        for (const FeatureSets &family : families) {
            out = std::copy(family.values + family.offsets[d], family.values + family.offsets[d + 1], out);
        }
        ends.push_back(out - begin);
    }
}

void compare_profiles(const uint64_t *values, const int64_t *offsets, size_t families, size_t summed, const int64_t *a,
                      const int64_t *b, size_t pairs, FamilySums *out) {
    std::vector<Match> room;
    for (size_t i = 0; i < pairs; ++i) {
        Families left = families_of(values, offsets, a[i], families);
        Families right = families_of(values, offsets, b[i], families);
        for (size_t f = 0; f < summed; ++f) *out++ = compared(left.take(f), right.take(f), room);
    }
}

void profile_sizes(const uint64_t *values, const int64_t *offsets, size_t families, size_t summed, size_t documents,
                   FamilySizes *out) {
    for (size_t d = 0; d < documents; ++d) {
        Families own = families_of(values, offsets, static_cast<int64_t>(d), families);
        for (size_t f = 0; f < summed; ++f) *out++ = sized(own.take(f));
    }
}

}  // namespace neardup
