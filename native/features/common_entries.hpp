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
#include "simd.hpp"

#if NEARDUP_X86
#include <immintrin.h>
#endif

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

#if NEARDUP_X86
// The upper halves of eight entries; entry kEighth[i] is in lane i.
inline constexpr std::array<uint8_t, 8> kEighth{0, 1, 4, 5, 2, 3, 6, 7};
NEARDUP_AVX2 NEARDUP_INLINE __m256i eight_features(const uint64_t *entries) {
    const auto *const halves = reinterpret_cast<const float *>(entries);
    return _mm256_castps_si256(_mm256_shuffle_ps(_mm256_loadu_ps(halves), _mm256_loadu_ps(halves + 8), _MM_SHUFFLE(3, 1, 3, 1)));
}

NEARDUP_AVX2 NEARDUP_INLINE uint32_t equal_lanes(__m256i x, __m256i y) {
    return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(x, y))));
}

// All bits of the lanes of x that are equal to the lane of y, or to that of z.
NEARDUP_AVX2 NEARDUP_INLINE __m256i equal_to_one(__m256i x, __m256i y, __m256i z) {
    return _mm256_or_si256(_mm256_cmpeq_epi32(x, y), _mm256_cmpeq_epi32(x, z));
}

// Lanes of x that are equal to any lane of y.
NEARDUP_AVX2 NEARDUP_INLINE uint32_t lanes_in(__m256i x, __m256i y) {
    const __m256i z = _mm256_permute2x128_si256(y, y, 1);
    const __m256i first = _mm256_or_si256(equal_to_one(x, y, z), equal_to_one(x, _mm256_shuffle_epi32(y, 0x39), _mm256_shuffle_epi32(z, 0x39)));
    const __m256i second = _mm256_or_si256(equal_to_one(x, _mm256_shuffle_epi32(y, 0x4E), _mm256_shuffle_epi32(z, 0x4E)),
                                           equal_to_one(x, _mm256_shuffle_epi32(y, 0x93), _mm256_shuffle_epi32(z, 0x93)));
    return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_or_si256(first, second))));
}

// Writes the matches and returns their end; eight entries are compared with eight at a time. Sixteen steps of a merge,
// each of which waits for the one before, become one or two.
NEARDUP_AVX2 inline Match *matches_avx2(Entries p, Entries q, Match *out) {
    while (p.size() >= 8 && q.size() >= 8) {
        const __m256i x = eight_features(p.begin), y = eight_features(q.begin);
        const uint64_t x_last = p.begin[7] >> 32, y_last = q.begin[7] >> 32;
        for (uint32_t in = lanes_in(x, y); in; in &= in - 1) {
            const uint64_t entry = p.begin[kEighth[static_cast<size_t>(__builtin_ctz(in))]];
            const uint32_t same = equal_lanes(y, _mm256_set1_epi32(static_cast<int>(entry >> 32)));
            *out++ = {entry, q.begin[kEighth[static_cast<size_t>(__builtin_ctz(same))]]};
        }
        p.begin += 8 * ((x_last - y_last - 1) >> 63);
        q.begin += 8 * ((y_last - x_last - 1) >> 63);
    }
    Merge rest{p, q, out};
    while (rest.steps() > 0) rest.step();
    return rest.out;
}
#endif

// The same for rows without repeated features; take may be called once.
template <typename Take>
void for_common_distinct(Entries p, Entries q, std::vector<Match> &room, Take take) {
#if NEARDUP_X86
    if (instructions() >= Instructions::avx2) {
        // Repeats would only be matched in another way: every eight entries meet every eight at most once.
        const auto most = static_cast<size_t>(p.size() + q.size()) + 1;
        if (room.size() < most) room.resize(most);
        return take(room.data(), matches_avx2(p, q, room.data()));
    }
#endif
    for_common_entries(p, q, room, take);
}

}  // namespace neardup
