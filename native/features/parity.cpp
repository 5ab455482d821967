#include "features/parity.hpp"

#include <algorithm>
#include <bit>

#include "hash.hpp"
#include "simd.hpp"

namespace neardup {
namespace {

constexpr size_t kMostWords = 1024, kLine = 8;

size_t sketch_words(size_t size, size_t num, size_t den) {
    return std::min(std::bit_ceil((size * num / den + 63) / 64), kMostWords);
}

}  // namespace

void parity_sketches(const uint32_t *features, const int64_t *ends, size_t documents, size_t num, size_t den,
                     ParitySketches &out) {
    for (size_t d = 0; d < documents; ++d) {
        const size_t size = static_cast<size_t>(ends[d + 1] - ends[d]), words = sketch_words(size, num, den);
        const size_t begin = out.words.size();
        out.words.resize(begin + words, 0);
        uint64_t *const sketch = out.words.data() + begin;
        for (int64_t i = ends[d]; i < ends[d + 1]; ++i) {
            const uint64_t bit = scramble(features[i] ^ kSecret[1]) & (words * 64 - 1);
            sketch[bit >> 6] ^= uint64_t{1} << (bit & 63);
        }
        out.offsets.push_back(static_cast<int64_t>(out.words.size()));
    }
}

namespace {

template <Instructions Level>
NEARDUP_INLINE int64_t ones(uint64_t x) {
    if constexpr (NEARDUP_X86 && Level == Instructions::portable) return counted_ones(x);
    return std::popcount(x);
}

template <Instructions Level>
NEARDUP_INLINE int64_t differing_bits_on(const uint64_t *a, size_t a_words, const uint64_t *b, size_t b_words, int64_t most) {
    if (a_words < b_words) std::swap(a, b), std::swap(a_words, b_words);
    int64_t bits = 0;
    size_t w = 0;
    for (; a_words == b_words && w + kLine <= b_words; w += kLine) {  // nothing to fold: nearly always
        for (size_t i = 0; i < kLine; ++i) bits += ones<Level>(a[w + i] ^ b[w + i]);
        if (bits > most) return bits;
    }
    for (; w < b_words; ++w) {
        uint64_t folded = a[w];
        for (size_t at = w + b_words; at < a_words; at += b_words) folded ^= a[at];
        bits += ones<Level>(folded ^ b[w]);
        if (bits > most) return bits;
    }
    return bits;
}

}  // namespace

NEARDUP_EACH_LEVEL(int64_t, differing_bits,
                   (const uint64_t *a, size_t a_words, const uint64_t *b, size_t b_words, int64_t most),
                   (a, a_words, b, b_words, most))

}  // namespace neardup
