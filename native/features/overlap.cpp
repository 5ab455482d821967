#include "features/overlap.hpp"

#include <algorithm>
#include <vector>

namespace neardup {
namespace {

// Advances by comparison results instead of branches: hashes are random, so every second branch would be mispredicted.
// The chain of load, compare and add bounds the speed, with about 5 cycles per step.
int64_t merge_count(const uint32_t *a, const uint32_t *a_end, const uint32_t *b, const uint32_t *b_end, int64_t needed) {
    constexpr ptrdiff_t block = 64;
    int64_t count = 0;
    while (a_end - a > block && b_end - b > block) {
        if (count + std::min(a_end - a, b_end - b) < needed) return count;  // in the first round: the sizes differ too much
        for (ptrdiff_t step = 0; step < block; ++step) {
            const uint32_t x = *a, y = *b;
            count += x == y;
            a += x <= y;
            b += y <= x;
        }
    }
    while (a < a_end && b < b_end) {
        const uint32_t x = *a, y = *b;
        count += x == y;
        a += x <= y;
        b += y <= x;
    }
    return count;
}

// For sets of very different sizes: each feature of the small set is searched in the rest of the large set.
int64_t lookup_count(const uint32_t *small, const uint32_t *small_end, const uint32_t *large, const uint32_t *large_end) {
    int64_t count = 0;
    for (; small < small_end && large < large_end; ++small) {
        large = std::lower_bound(large, large_end, *small);
        count += large < large_end && *large == *small;
    }
    return count;
}

}  // namespace

int64_t overlap(const uint32_t *a, size_t a_size, const uint32_t *b, size_t b_size, int64_t needed) {
    if (a_size > b_size) std::swap(a, b), std::swap(a_size, b_size);
    return b_size > 32 * a_size ? lookup_count(a, a + a_size, b, b + b_size)
                                : merge_count(a, a + a_size, b, b + b_size, needed);
}

void overlaps(const uint32_t *values, const int64_t *offsets, const int64_t *a, const int64_t *b,
              const int64_t *needed, size_t pairs, int64_t *counts) {
    for (size_t i = 0; i < pairs; ++i) {
        const int64_t p = offsets[a[i]], q = offsets[b[i]];
        const auto size_p = static_cast<size_t>(offsets[a[i] + 1] - p), size_q = static_cast<size_t>(offsets[b[i] + 1] - q);
        counts[i] = overlap(values + p, size_p, values + q, size_q, needed[i]);
    }
}

void overlaps_in_order(const uint64_t *entries, const int64_t *offsets, const int64_t *a, const int64_t *b,
                       const int64_t *needed, size_t pairs, int64_t *counts) {
    std::vector<uint64_t> both;   // place << 32 | place of the common features
    std::vector<uint32_t> ends;   // by length: the smallest last place of an ascending run
    for (size_t i = 0; i < pairs; ++i) {
        const uint64_t *p = entries + offsets[a[i]], *p_end = entries + offsets[a[i] + 1];
        const uint64_t *q = entries + offsets[b[i]], *q_end = entries + offsets[b[i] + 1];
        both.clear();
        ends.clear();
        while (p < p_end && q < q_end) {
            const uint64_t x = *p >> 32, y = *q >> 32;
            if (x == y) both.push_back(*p << 32 | (*q & 0xffffffffu));
            p += x <= y;
            q += y <= x;
        }
        if (static_cast<int64_t>(both.size()) < needed[i]) {
            counts[i] = 0;
            continue;
        }
        std::sort(both.begin(), both.end());
        for (const uint64_t places : both) {
            const auto place = static_cast<uint32_t>(places);
            const auto at = std::lower_bound(ends.begin(), ends.end(), place);
            if (at == ends.end()) ends.push_back(place);
            else *at = place;
        }
        counts[i] = static_cast<int64_t>(ends.size());
    }
}

void weighted_overlaps(const uint64_t *values, const int64_t *offsets, const int64_t *a, const int64_t *b, bool dot,
                       size_t pairs, uint64_t *sums) {
    for (size_t i = 0; i < pairs; ++i) {
        const uint64_t *p = values + offsets[a[i]], *p_end = values + offsets[a[i] + 1];
        const uint64_t *q = values + offsets[b[i]], *q_end = values + offsets[b[i] + 1];
        uint64_t sum = 0;
        while (p < p_end && q < q_end) {
            const uint64_t x = *p >> 32, y = *q >> 32, wx = *p & 0xffffffffu, wy = *q & 0xffffffffu;
            if (x == y) sum += dot ? wx * wy : std::min(wx, wy);
            p += x <= y;
            q += y <= x;
        }
        sums[i] = sum;
    }
}

void shared_by_rarity(const uint64_t *values, const int64_t *offsets, const int64_t *weights, const int64_t *a,
                      const int64_t *b, const int64_t *needed, size_t pairs, SharedByRarity *out) {
    constexpr int block = 64;
    for (size_t i = 0; i < pairs; ++i) {
        const uint64_t *p = values + offsets[a[i]], *p_end = values + offsets[a[i] + 1];
        const uint64_t *q = values + offsets[b[i]], *q_end = values + offsets[b[i] + 1];
        int64_t left_p = weights[a[i]], left_q = weights[b[i]];
        SharedByRarity shared{};
        while (p < p_end && q < q_end && shared.weight + std::min(left_p, left_q) >= needed[i]) {
            for (int step = 0; step < block && p < p_end && q < q_end; ++step) {
                const uint64_t x = *p >> 32, y = *q >> 32;
                const auto wx = static_cast<int64_t>(*p & 0xffffffffu), wy = static_cast<int64_t>(*q & 0xffffffffu);
                const int64_t both = -static_cast<int64_t>(x == y);
                shared.weight += std::min(wx, wy) & both;  // noise in one document may be unique in the other
                shared.features -= both;
                const int64_t rare = both & -static_cast<int64_t>((wx & 3) != kCommon);
                shared.rare_weight += wx & rare;
                shared.rare -= rare;
                left_p -= wx & -static_cast<int64_t>(x <= y);
                left_q -= wy & -static_cast<int64_t>(y <= x);
                p += x <= y;
                q += y <= x;
            }
        }
        out[i] = shared;
    }
}

void sizes_by_rarity(const uint64_t *values, const int64_t *offsets, size_t documents, int64_t *weights, int64_t *lone,
                     int64_t *noise) {
    for (size_t d = 0; d < documents; ++d) {
        weights[d] = lone[d] = noise[d] = 0;
        for (int64_t i = offsets[d]; i < offsets[d + 1]; ++i) {
            const uint64_t entry = values[i] & 0xffffffffu;
            weights[d] += static_cast<int64_t>(entry);
            lone[d] += (entry & 3) >= kLone;
            noise[d] += (entry & 3) == kNoise;
        }
    }
}

void equal_pairs(const uint8_t *values, const int64_t *offsets, const int64_t *a, const int64_t *b, size_t pairs,
                 uint8_t *equal) {
    for (size_t i = 0; i < pairs; ++i) {
        const int64_t size = offsets[a[i] + 1] - offsets[a[i]];
        const uint8_t *p = values + offsets[a[i]], *q = values + offsets[b[i]];  // empty texts may have no address
        equal[i] = size == offsets[b[i] + 1] - offsets[b[i]] && std::equal(p, p + size, q);
    }
}

}  // namespace neardup
