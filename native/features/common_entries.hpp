// Finds the entries of two sorted rows whose features, the upper halves, are equal.
//
// The speed is bound by one merge step per entry, without branches on features.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "families.hpp"

namespace neardup {

struct Match {
    uint64_t p, q;
};

// Writes every step to the output and advances it only after a match. Sums are computed afterwards: there are many steps
// and few matches, and sums would delay the steps.
struct Merge {
    Entries p, q;
    Match *out;

    // So many steps can be made without looking at the ends again: a step advances each side by one at most.
    ptrdiff_t steps() const { return std::min(p.end - p.begin, q.end - q.begin); }

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

// Calls take(begin, end) for the matches of each quarter of the features; together they are all. A step waits for the
// loads of the step before, so four quarters are merged alternately. Features are hashes, so about a quarter of each
// side falls into each. `room` only avoids allocations.
template <typename Take>
void for_common_entries(Entries p, Entries q, std::vector<Match> &room, Take take) {
    constexpr size_t parts = 4;
    // There are at most as many matches as entries, and one more entry is written before the comparison.
    const auto size = static_cast<size_t>(p.size()), most = size + parts;
    if (room.size() < most) room.resize(most);
    std::array<Merge, parts> merges;
    for (size_t i = 0; i < parts; ++i) {
        const size_t begin = size * i / parts, end = size * (i + 1) / parts;
        const uint64_t *const q_end = end == size ? q.end : std::lower_bound(q.begin, q.end, p.begin[end] >> 32 << 32);
        merges[i] = {{p.begin + begin, p.begin + end}, {q.begin, q_end}, room.data() + begin + i};
        q.begin = q_end;
    }
    auto [first, second, third, fourth] = merges;
    while (ptrdiff_t steps = std::min({first.steps(), second.steps(), third.steps(), fourth.steps()}))
        for (; steps > 0; --steps) first.step(), second.step(), third.step(), fourth.step();
    merges = {first, second, third, fourth};
    for (size_t i = 0; i < parts; ++i) {
        while (merges[i].steps() > 0) merges[i].step();
        take(room.data() + size * i / parts + i, merges[i].out);
    }
}

}  // namespace neardup
