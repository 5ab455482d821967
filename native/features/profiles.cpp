#include "profiles.hpp"

#include <algorithm>
#include <vector>

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

struct Match {
    uint64_t p, q;
};

// Writes down every step and goes on only after those that match. The steps do nothing else: they are
// many, matches are few, and a sum would wait for them.
size_t matches(Entries p, Entries q, Match *out) {
    Match *const begin = out;
    while (p.begin < p.end && q.begin < q.end) {
        *out = {*p.begin, *q.begin};
        const uint64_t x = *p.begin >> 32, y = *q.begin >> 32;
        out += x == y;
        p.begin += x <= y;
        q.begin += y <= x;
    }
    return static_cast<size_t>(out - begin);
}

FamilySums summed(const Match *match, size_t count) {
    FamilySums sums{};
    sums.features = static_cast<int64_t>(count);
    for (const Match *end = match + count; match < end; ++match) {
        const int64_t wp = weight_of(match->p), wq = weight_of(match->q), least = std::min(wp, wq);
        const uint64_t rarity = match->p & 3;
        const int64_t rare = -static_cast<int64_t>(rarity != kCommon), lone = -static_cast<int64_t>(rarity >= kLone);
        sums.weight += least;
        sums.product += wp * wq;
        sums.rare -= rare;
        sums.rare_weight += least & rare;
        sums.lone_weight += least & lone;
    }
    return sums;
}

// Matches are at most as many as entries, and one more is written before it is known to be none.
FamilySums compared(Entries p, Entries q, std::vector<Match> &room) {
    const auto most = static_cast<size_t>(std::min(p.end - p.begin, q.end - q.begin)) + 1;
    if (room.size() < most) room.resize(most);
    return summed(room.data(), matches(p, q, room.data()));
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
    std::vector<Match> room;
    for (size_t i = 0; i < pairs; ++i) {
        Families left = families_of(values, offsets, a[i], families);
        Families right = families_of(values, offsets, b[i], families);
        for (size_t f = 0; f < families; ++f) *out++ = compared(left.take(f), right.take(f), room);
    }
}

void profile_sizes(const uint64_t *values, const int64_t *offsets, size_t families, size_t documents, FamilySizes *out) {
    for (size_t d = 0; d < documents; ++d) {
        Families own = families_of(values, offsets, static_cast<int64_t>(d), families);
        for (size_t f = 0; f < families; ++f) *out++ = sized(own.take(f));
    }
}

}  // namespace neardup
