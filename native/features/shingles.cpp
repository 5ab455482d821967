#include "features/shingles.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "features/qgrams.hpp"
#include "hash.hpp"
#include "simd.hpp"

namespace neardup {

namespace {

constexpr size_t kTile = 256;  // shingles hashed at a time: the first-level cache holds them
constexpr uint32_t kMostDoubled = 32;
constexpr uint32_t kMostPasses = 8;  // of more words, each hash is faster made from the one before

// One pass a word position keeps the loops free of dependencies, so they vectorise.
NEARDUP_INLINE void cyclic_tile(const uint64_t *words, size_t shingles, uint32_t width, uint64_t *out) {
    for (size_t i = 0; i < shingles; ++i) out[i] = words[i + width - 1];
    for (uint32_t j = 1; j < width; ++j) {
        const uint64_t *shifted = words + (width - 1 - j);
        for (size_t i = 0; i < shingles; ++i) out[i] ^= (shifted[i] << j) | (shifted[i] >> (64 - j));
    }
    for (size_t i = 0; i < shingles; ++i) out[i] = scramble(out[i]);
}

NEARDUP_INLINE void doubled(const uint64_t *__restrict from, size_t count, uint32_t n, uint64_t *__restrict to) {
    for (size_t i = 0; i < count; ++i) to[i] = (from[i] << n | from[i] >> (64 - n)) ^ from[i + n];
}

// The same where the width is a power of two: a hash of 2n words is made of two hashes of n words.
NEARDUP_INLINE void doubling_tile(const uint64_t *words, size_t shingles, uint32_t width, uint64_t *out) {
    uint64_t one[kTile + kMostDoubled], other[kTile + kMostDoubled], *to = one, *next = other;
    size_t count = shingles + width - 2;
    doubled(words, count, 1, to);
    for (uint32_t n = 2; n < width; n *= 2) {
        count -= n;
        doubled(to, count, n, next);
        std::swap(to, next);
    }
    for (size_t i = 0; i < shingles; ++i) out[i] = scramble(to[i]);
}

// Each hash from the one before. Registers of 16 bytes hold two hashes and multiply them in many steps: one by one
// is faster there.
NEARDUP_INLINE void cyclic_roll(const uint64_t *words, size_t shingles, uint32_t width, uint64_t *out) {
    uint64_t hash = 0;
    for (uint32_t j = 0; j < width; ++j) hash = std::rotl(hash, 1) ^ words[j];
    out[0] = scramble(hash);
    for (size_t i = 1; i < shingles; ++i) {
        hash = std::rotl(hash, 1) ^ std::rotl(words[i - 1], static_cast<int>(width % 64)) ^ words[i + width - 1];
        out[i] = scramble(hash);
    }
}

template <Instructions Level>
NEARDUP_INLINE void cyclic_hashes_on(const uint64_t *words, size_t shingles, uint32_t width, uint64_t *out) {
    const bool doubles = std::has_single_bit(width) && width > 1 && width <= kMostDoubled;
    if (register_bytes(Level) == 16 || (!doubles && width > kMostPasses)) return cyclic_roll(words, shingles, width, out);
    for (size_t i = 0; i < shingles; i += kTile) {
        const size_t some = std::min(shingles - i, kTile);
        doubles ? doubling_tile(words + i, some, width, out + i) : cyclic_tile(words + i, some, width, out + i);
    }
}

NEARDUP_EACH_LEVEL(void, cyclic_hashes, (const uint64_t *words, size_t shingles, uint32_t width, uint64_t *out),
                   (words, shingles, width, out))

}  // namespace

void shingle_hashes(const uint64_t *words, size_t count, uint32_t width, std::vector<uint64_t> &out) {
    if (count == 0) return out.clear();  // else not cleared: every value would be set twice
    const uint32_t used = static_cast<uint32_t>(std::min<size_t>(width, count));
    out.resize(count - used + 1);
    cyclic_hashes(words, out.size(), used, out.data());
}

// Nearly sorted already: a value is at most a bucket away from its place.
static void insertion_sort(std::vector<uint32_t> &values) {
    for (size_t i = 1; i < values.size(); ++i) {
        const uint32_t value = values[i];
        size_t j = i;
        for (; j > 0 && values[j - 1] > value; --j) values[j] = values[j - 1];
        values[j] = value;
    }
}

// Hashes are uniform, so buckets hold about one each; a crowded one means repeats of one shingle, or
// an attack, and insertion would be quadratic.
constexpr uint32_t kCrowded = 24;

void feature_set(const std::vector<uint64_t> &hashes, std::vector<uint32_t> &out, std::vector<uint32_t> &counts) {
    const int bits = std::clamp<int>(std::bit_width(hashes.size()), 4, 16);
    const int shift = 64 - bits;
    counts.assign(size_t{1} << bits, 0);
    out.resize(hashes.size());
    for (uint64_t hash : hashes) ++counts[hash >> shift];
    uint32_t begin = 0, most = 0;
    for (uint32_t &count : counts) {
        most = std::max(most, count);
        begin += std::exchange(count, begin);
    }
    for (uint64_t hash : hashes) out[counts[hash >> shift]++] = static_cast<uint32_t>(hash >> 32);
    if (most > kCrowded) return sort_distinct(out, counts);
    insertion_sort(out);
    out.erase(std::unique(out.begin(), out.end()), out.end());
}

}  // namespace neardup
