#include "methods/majority.hpp"

#include <bit>
#include <cstring>

#include "simd.hpp"

namespace neardup {
namespace {

constexpr size_t kColumns = 8, kRows = 8, kGroup = kColumns * kRows;
constexpr size_t kDigits = 40;  // of a count, in binary

// Adds two bits to a digit in each of 64 places; returns what is carried.
NEARDUP_INLINE uint64_t add(uint64_t &digit, uint64_t a, uint64_t b) {
    const uint64_t u = a ^ b, carried = (a & b) | (u & digit);
    digit ^= u;
    return carried;
}

// How often each bit was 1 (Harley and Seal), apart for each of eight columns: as many words as the widest
// register holds, so that loops over columns become single instructions.
struct Counts {
    uint64_t digits[kDigits][kColumns] = {};
    size_t groups = 0;

    size_t used() const { return 3 + static_cast<size_t>(std::bit_width(groups)); }

    NEARDUP_INLINE void add_group(const uint64_t *hashes) {
        uint64_t carried[kColumns];
        for (size_t c = 0; c < kColumns; ++c) {
            uint64_t ones = digits[0][c], twos = digits[1][c], fours = digits[2][c], two[4], four[2];
            for (size_t i = 0; i < 4; ++i)
                two[i] = add(ones, hashes[2 * i * kColumns + c], hashes[(2 * i + 1) * kColumns + c]);
            for (size_t i = 0; i < 2; ++i) four[i] = add(twos, two[2 * i], two[2 * i + 1]);
            carried[c] = add(fours, four[0], four[1]);
            digits[0][c] = ones, digits[1][c] = twos, digits[2][c] = fours;
        }
        ++groups;
        // Through all digits that the count can have: whether a carry dies earlier, nobody could predict.
        for (size_t d = 3; d < used(); ++d)
            for (size_t c = 0; c < kColumns; ++c) carried[c] = add(digits[d][c], carried[c], 0);
    }
};

// The counts of all columns together.
void add_columns(const Counts &counts, uint64_t (&sum)[kDigits]) {
    for (size_t c = 0; c < kColumns; ++c) {
        uint64_t carried = 0;
        for (size_t d = 0; d < counts.used() + 3; ++d) carried = add(sum[d], counts.digits[d][c], carried);
    }
}

// Bits whose count is at least `least`.
uint64_t at_least(const uint64_t (&sum)[kDigits], uint64_t least) {
    uint64_t above = 0, equal = ~uint64_t{0};
    for (size_t i = kDigits; i-- > 0;) {
        if (least >> i & 1) {
            equal &= sum[i];
        } else {
            above |= equal & sum[i];
            equal &= ~sum[i];
        }
    }
    return above | equal;
}

template <Instructions>
NEARDUP_INLINE void count_on(const uint64_t *hashes, size_t size, Counts &counts) {
    for (; size >= kGroup; size -= kGroup, hashes += kGroup) counts.add_group(hashes);
    if (size == 0) return;
    uint64_t rest[kGroup] = {};  // zeros count for nothing
    std::memcpy(rest, hashes, size * sizeof *hashes);
    counts.add_group(rest);
}

NEARDUP_EACH_LEVEL(void, count, (const uint64_t *hashes, size_t size, Counts &counts), (hashes, size, counts))

}  // namespace

uint64_t majority(const uint64_t *hashes, size_t size) {
    if (size == 0) return 0;
    Counts counts;
    count(hashes, size, counts);
    uint64_t sum[kDigits] = {};
    add_columns(counts, sum);
    return at_least(sum, size / 2 + 1);  // more ones than zeros: the sum of ±1 is above 0
}

}  // namespace neardup
