// How a seed grows: word by word, and behind gaps where enough words agree again, as BLAST does with its drop-off.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace neardup {

constexpr uint32_t agreeing = 3;  // words that must agree behind a gap
constexpr int gap_cost = 2, drop_off = 24;

// Where the two texts agree behind a gap: so many words further in each.
struct Gap {
    uint32_t target, source;
};

// One side of an extension. `at` counts words away from the seed.
struct Side {
    uint32_t target = 0, source = 0, matched = 0;
};

// Words to the right of a place, or to its left in reverse, up to an end.
template <bool left>
struct Reader {
    const uint32_t *place;
    uint32_t size;
    uint32_t operator[](uint32_t i) const { return left ? place[-1 - static_cast<ptrdiff_t>(i)] : place[i]; }
};

template <typename R>
uint32_t agreement(const R &a, uint32_t i, const R &b, uint32_t j) {
    const uint32_t most = std::min(a.size - i, b.size - j);
    uint32_t n = 0;
    while (n < most && a[i + n] == b[j + n]) ++n;
    return n;
}

template <typename R>
bool agrees(const R &a, uint32_t i, const R &b, uint32_t j, uint32_t count) {
    if (i + count > a.size || j + count > b.size) return false;
    for (uint32_t n = 0; n < count; ++n)
        if (a[i + n] != b[j + n]) return false;
    return true;
}

// The smallest gap behind which the texts agree again.
template <typename R>
bool crossing(const R &a, uint32_t i, const R &b, uint32_t j, uint32_t most, Gap &gap) {
    for (uint32_t both = 1; both <= 2 * most; ++both)
        for (uint32_t x = both > most ? both - most : 0; x <= std::min(both, most); ++x)
            if (agrees(a, i + x, b, j + both - x, agreeing)) {
                gap = {x, both - x};
                return true;
            }
    return false;
}

// Extends from both starts; the end is where the score was best: +1 for a word that agrees, -2 for one in a gap. `at`
// is how far was looked, but for what may lie behind one more gap.
template <typename R>
Side extended(const R &a, const R &b, uint32_t most_gap, Side &at) {
    at = {};
    Side best;
    int score = 0, best_score = 0;
    while (true) {
        const uint32_t run = agreement(a, at.target, b, at.source);
        at = {at.target + run, at.source + run, at.matched + run};
        score += static_cast<int>(std::min(run, 1u << 20));
        if (score > best_score) {
            best = at;
            best_score = score;
        }
        score = std::min(score, 1 << 20);
        best_score = std::min(best_score, 1 << 20);
        Gap gap{};
        if (!most_gap || !crossing(a, at.target, b, at.source, most_gap, gap)) return best;
        at.target += gap.target;
        at.source += gap.source;
        score -= gap_cost * static_cast<int>(std::max(gap.target, gap.source));
        if (score < best_score - drop_off) return best;
    }
}

template <typename R>
Side extended(const R &a, const R &b, uint32_t most_gap) {
    Side at;
    return extended(a, b, most_gap, at);
}

}  // namespace neardup
