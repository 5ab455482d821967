#include "features/shingles.hpp"

#include <algorithm>
#include <bit>

#include "hash.hpp"
#include "simd.hpp"

namespace neardup {

// One pass a word position keeps the loops free of dependencies, so they vectorise.
NEARDUP_CLONES
static void cyclic_hashes(const uint64_t *words, size_t shingles, uint32_t width, uint64_t *out) {
    for (size_t i = 0; i < shingles; ++i) out[i] = words[i + width - 1];
    for (uint32_t j = 1; j < width; ++j) {
        const uint64_t *shifted = words + (width - 1 - j);
        for (size_t i = 0; i < shingles; ++i) out[i] ^= (shifted[i] << j) | (shifted[i] >> (64 - j));
    }
    for (size_t i = 0; i < shingles; ++i) out[i] = scramble(out[i]);
}

void shingle_hashes(const uint64_t *words, size_t count, uint32_t width, std::vector<uint64_t> &out) {
    out.clear();
    if (count == 0) return;
    const uint32_t used = static_cast<uint32_t>(std::min<size_t>(width, count));
    out.resize(count - used + 1);
    cyclic_hashes(words, out.size(), used, out.data());
}

static void sort_bucket(uint64_t *first, uint64_t *last) {
    if (last - first > 24) {  // repeats of one feature, or an attack: no quadratic insertion
        std::sort(first, last);
        return;
    }
    for (uint64_t *p = first + 1; p < last; ++p) {
        const uint64_t value = *p;
        uint64_t *q = p;
        for (; q > first && q[-1] > value; --q) *q = q[-1];
        *q = value;
    }
}

void sort_unique(std::vector<uint64_t> &values, std::vector<uint64_t> &scratch, std::vector<uint32_t> &counts) {
    const size_t n = values.size();
    if (n < 2) return;
    const int bits = std::clamp<int>(std::bit_width(n), 4, 16) - 1;
    const int shift = 64 - bits;
    counts.assign((size_t{1} << bits) + 1, 0);
    scratch.resize(n);
    for (uint64_t value : values) ++counts[(value >> shift) + 1];
    for (size_t b = 1; b < counts.size(); ++b) counts[b] += counts[b - 1];
    for (uint64_t value : values) scratch[counts[value >> shift]++] = value;
    uint32_t begin = 0;
    for (size_t b = 0; b + 1 < counts.size(); ++b) {  // counts[b] is now the end of bucket b
        sort_bucket(scratch.data() + begin, scratch.data() + counts[b]);
        begin = counts[b];
    }
    scratch.erase(std::unique(scratch.begin(), scratch.end()), scratch.end());
    values.swap(scratch);
}

}  // namespace neardup
