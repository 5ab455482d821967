#include "profiles.hpp"

#include <algorithm>
#include <vector>

#include "families.hpp"
#include "overlap.hpp"

namespace neardup {

namespace {

int64_t weight_of(uint64_t entry) { return static_cast<int64_t>(entry & 0xffffffffu) >> 2; }

struct Match {
    uint64_t p, q;
};

// Writes every step to the output and advances it only after a match. Sums are computed afterwards: there are many steps
// and few matches, and sums would delay the steps.
struct Merge {
    Entries p, q;
    Match *out;

    bool goes_on() const { return p.begin < p.end && q.begin < q.end; }

    // x <= y and y <= x by shifts: GCC turns comparisons into branches, which are unpredictable for hashes.
    void step() {
        const uint64_t x = *p.begin >> 32, y = *q.begin >> 32;
        *out = {*p.begin, *q.begin};
        const uint64_t p_goes = (x - y - 1) >> 63, q_goes = (y - x - 1) >> 63;
        out += p_goes & q_goes;
        p.begin += p_goes;
        q.begin += q_goes;
    }
};

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

// A step waits for the loads of the step before, so two halves are merged alternately. Features are hashes, so about
// half of each side is below the middle of the other.
FamilySums compared(Entries p, Entries q, std::vector<Match> &room) {
    FamilySums sums{};
    if (p.begin == p.end) return sums;
    const uint64_t *const p_middle = p.begin + (p.end - p.begin) / 2;
    const uint64_t *const q_middle = std::lower_bound(q.begin, q.end, *p_middle >> 32 << 32);
    // There are at most as many matches as entries, and one more entry is written before the comparison.
    const auto half = static_cast<size_t>(p_middle - p.begin) + 1, most = static_cast<size_t>(p.end - p.begin) + 2;
    if (room.size() < most) room.resize(most);
    Merge low{{p.begin, p_middle}, {q.begin, q_middle}, room.data()};
    Merge high{{p_middle, p.end}, {q_middle, q.end}, room.data() + half};
    while (low.goes_on() && high.goes_on()) low.step(), high.step();
    while (low.goes_on()) low.step();
    while (high.goes_on()) high.step();
    add(room.data(), low.out, sums);
    add(room.data() + half, high.out, sums);
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
