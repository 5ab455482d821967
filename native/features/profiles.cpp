#include "profiles.hpp"

#include <algorithm>

#include "overlap.hpp"

namespace neardup {

namespace {

struct Entries {
    const uint64_t *begin, *end;
};

// Walks the families of one profile.
class Families {
  public:
    Families(const uint64_t *row, int64_t size, size_t families) : counts_(row), next_(row) {
        const auto head = static_cast<int64_t>(families);
        uint64_t entries = 0;
        for (size_t f = 0; size >= head && f < families; ++f) entries += std::min(row[f], static_cast<uint64_t>(size));
        whole_ = size >= head && entries == static_cast<uint64_t>(size - head);
        if (whole_) next_ = row + head;
    }

    Entries take(size_t family) {
        const uint64_t *begin = next_;
        if (whole_) next_ += counts_[family];
        return {begin, next_};
    }

  private:
    const uint64_t *counts_, *next_;
    bool whole_;
};

int64_t weight_of(uint64_t entry) { return static_cast<int64_t>(entry & 0xffffffffu) >> 2; }

FamilySums compared(Entries p, Entries q) {
    FamilySums sums{};
    while (p.begin < p.end && q.begin < q.end) {
        const uint64_t x = *p.begin >> 32, y = *q.begin >> 32;
        const int64_t both = -static_cast<int64_t>(x == y);
        const int64_t wx = weight_of(*p.begin) & both, wy = weight_of(*q.begin);
        const int64_t rare = both & -static_cast<int64_t>((*p.begin & 3) != kCommon);
        const int64_t lone = -static_cast<int64_t>((*p.begin & 3) >= kLone);
        const int64_t least = std::min(wx, wy);
        sums.features -= both;
        sums.weight += least;
        sums.product += wx * wy;
        sums.rare -= rare;
        sums.rare_weight += least & rare;
        sums.lone_weight += least & lone;
        p.begin += x <= y;
        q.begin += y <= x;
    }
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

Families families_of(const uint64_t *values, const int64_t *offsets, int64_t document, size_t families) {
    return {values + offsets[document], offsets[document + 1] - offsets[document], families};
}

}  // namespace

void compare_profiles(const uint64_t *values, const int64_t *offsets, size_t families, const int64_t *a, const int64_t *b,
                      size_t pairs, FamilySums *out) {
    for (size_t i = 0; i < pairs; ++i) {
        Families left = families_of(values, offsets, a[i], families);
        Families right = families_of(values, offsets, b[i], families);
        for (size_t f = 0; f < families; ++f) *out++ = compared(left.take(f), right.take(f));
    }
}

void profile_sizes(const uint64_t *values, const int64_t *offsets, size_t families, size_t documents, FamilySizes *out) {
    for (size_t d = 0; d < documents; ++d) {
        Families own = families_of(values, offsets, static_cast<int64_t>(d), families);
        for (size_t f = 0; f < families; ++f) *out++ = sized(own.take(f));
    }
}

}  // namespace neardup
