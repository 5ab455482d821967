#include "features/gram_samples.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "hash.hpp"
#include "simd.hpp"
#include "text/bytes.hpp"
#include "text/unicode.hpp"
#include "text/utf8.hpp"

#if NEARDUP_X86
#include <immintrin.h>
#endif

namespace neardup {
namespace {

constexpr size_t kBlock = 64;     // grams hashed at a time, a bit of a word each
constexpr size_t kRepeated = 32;  // times as many hashes as a sample should have: most of them are repeats
constexpr uint32_t kWide = 0x800;
constexpr uint64_t kEveryByte = 0x0101010101010101ull, kHighBits = 0x80 * kEveryByte;

bool is_white(uint32_t cp) { return unicode::record(cp).flags & unicode::white; }
uint8_t byte_of(uint32_t cp) { return static_cast<uint8_t>(cp < 0x80 ? cp : 0x80 | cp); }

// The hashes of kBlock grams, and which of them have none of `zeros`.
uint64_t hash_block_plain(const uint8_t *bytes, uint64_t in_gram, const uint64_t *wide, uint64_t zeros, uint64_t *out) {
    uint64_t found = 0;
    for (size_t i = 0; i < kBlock; ++i) {
        out[i] = scramble((load64_le(bytes + i) & in_gram) ^ wide[i] ^ kSecret[0]);
        found |= uint64_t{(out[i] & zeros) == 0} << i;
    }
    return found;
}

#if NEARDUP_X86
NEARDUP_AVX2 NEARDUP_INLINE __m256i all(uint64_t value) { return _mm256_set1_epi64x(static_cast<int64_t>(value)); }

NEARDUP_AVX2 NEARDUP_INLINE __m256i multiplied(__m256i x, uint64_t by) {
    const __m256i swapped = _mm256_mullo_epi32(_mm256_shuffle_epi32(x, 0xB1), all(by));
    const __m256i crossed = _mm256_add_epi32(swapped, _mm256_srli_epi64(swapped, 32));
    return _mm256_add_epi64(_mm256_mul_epu32(x, all(by)), _mm256_slli_epi64(crossed, 32));
}

NEARDUP_AVX2 NEARDUP_INLINE __m256i shifted(__m256i x, int by) { return _mm256_xor_si256(x, _mm256_srli_epi64(x, by)); }

NEARDUP_AVX2 NEARDUP_INLINE __m256i scrambled(__m256i x) {
    x = multiplied(shifted(x, 30), 0xbf58476d1ce4e5b9ull);
    x = multiplied(shifted(x, 27), 0x94d049bb133111ebull);
    return shifted(x, 31);
}

// GCC does not turn overlapping loads into shuffles.
NEARDUP_AVX2 uint64_t hash_block_avx2(const uint8_t *bytes, uint64_t in_gram, const uint64_t *wide, uint64_t zeros,
                                      uint64_t *out) {
    const __m256i four = _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7, 8, 2, 3, 4, 5, 6, 7, 8, 9, 3, 4, 5,
                                          6, 7, 8, 9, 10);
    const __m256i kept = all(in_gram), wanted = all(zeros);
    uint64_t found = 0;
    for (size_t i = 0; i < kBlock; i += 4) {
        const __m256i some = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i *>(bytes + i)));
        const __m256i grams = _mm256_and_si256(_mm256_shuffle_epi8(some, four), kept);
        const __m256i more = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(wide + i));
        const __m256i hashes = scrambled(_mm256_xor_si256(_mm256_xor_si256(grams, more), all(kSecret[0])));
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(out + i), hashes);
        const __m256i none = _mm256_cmpeq_epi64(_mm256_and_si256(hashes, wanted), _mm256_setzero_si256());
        found |= static_cast<uint64_t>(static_cast<uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(none)))) << i;
    }
    return found;
}
#endif

uint64_t hash_block(const uint8_t *bytes, uint64_t in_gram, const uint64_t *wide, uint64_t zeros, uint64_t *out) {
#if NEARDUP_X86
    if (instructions() >= Instructions::avx2) return hash_block_avx2(bytes, in_gram, wide, zeros, out);
#endif
    return hash_block_plain(bytes, in_gram, wide, zeros, out);
}

// A bit for each byte that is an ASCII digit.
uint64_t ascii_digits(uint64_t bytes) {
    const uint64_t from_zero = bytes ^ '0' * kEveryByte;
    const uint64_t high = ~(((from_zero & ~kHighBits) + (0x80 - 10) * kEveryByte) | from_zero) & kHighBits;
    return (high >> 7) * 0x0102040810204080ull >> 56;
}

// The eight bits from this place on.
uint64_t eight_bits(const std::vector<uint64_t> &bits, size_t at) {
    const size_t in_word = at % 64;
    const uint64_t next = in_word ? bits[at / 64 + 1] << (64 - in_word) : 0;
    return (bits[at / 64] >> in_word | next) & 0xff;
}

// No level depends on the last bit.
uint64_t marked(uint64_t hash, bool figure) { return (hash & ~uint64_t{1}) | uint64_t{figure}; }

uint64_t entry_of(uint64_t hash) {
    const auto leading = static_cast<uint64_t>(std::countl_zero(static_cast<uint32_t>(hash)));
    return hash >> 32 << 32 | std::min<uint64_t>(leading, sampled::kMostLevel) << 24 | (hash & 1) << 23;
}

uint64_t zeros_of(uint32_t level) { return ((uint64_t{1} << level) - 1) << (32 - level); }

uint64_t first_bits(size_t count) { return ~uint64_t{0} >> (64 - count); }

KeptBytes all_but_white() {
    KeptBytes kept;
    for (uint8_t c = 0; c < 128; ++c)
        if (!is_white(c)) kept.keep(c);
    return kept;
}

}  // namespace

uint32_t sampled::level_of_length(size_t characters, size_t most) {
    if (characters <= kShort * most) most *= 2;
    uint32_t level = 0;
    while (level < kMostLevel && most << level < characters) ++level;
    return level;
}

GramSamples::GramSamples(TextOptions options, uint32_t width)
    : normaliser_(without_punctuation(options), false),
      width_(width),
      in_gram_(~uint64_t{0} >> (64 - 8 * width)),
      visible_(all_but_white()) {}

// Reads the normal form without white space.
void GramSamples::read() {
    const uint8_t *p = normaliser_.data(), *const end = p + normaliser_.size();
    bytes_.resize(normaliser_.size() + 2 * kBlock);
    codes_.clear();
    wide_.clear();
    digits_.clear();
    uint8_t *next = bytes_.data();
    while (p < end) {
        const Copied copied = copy_kept(p, static_cast<size_t>(end - p), next, visible_, {0, 0});
        p += copied.taken;
        next += copied.made;
        // Single ASCII characters among others are read here.
        for (const uint8_t *const some = p + kAsciiBlock; p < end && p < some;) {
            if (*p < 0x80) {
                *next = *p;
                next += visible_.keeps(*p++);
                continue;
            }
            const Decoded c = decode_valid(p);
            p += c.size;
            const uint16_t flags = unicode::record(c.cp).flags;
            if (flags & unicode::white) continue;
            const auto at = static_cast<size_t>(next - bytes_.data());
            if (flags & unicode::digit) mark(digits_, at);
            *next++ = c.cp < kWide ? byte_of(c.cp) : 0;
            if (c.cp < kWide) continue;
            mark(wide_, at);
            codes_.push_back(c.cp);
        }
    }
    held_ = static_cast<size_t>(next - bytes_.data());
}

void GramSamples::mark(std::vector<uint64_t> &bits, size_t at) const {
    if (bits.empty()) bits.assign(bytes_.size() / 64 + 2, 0);
    bits[at / 64] |= uint64_t{1} << at % 64;
}

// What wide characters add to the grams of a block. `code` is the first of those at or after `begin`.
const uint64_t *GramSamples::wide_part(size_t begin, const uint32_t *code) {
    static constexpr uint64_t nothing[kBlock] = {};
    constexpr size_t before = sampled::kMostWidth - 1;
    if (wide_.empty()) return nothing;
    const uint64_t here = wide_[begin / 64], there = wide_[begin / 64 + 1] & first_bits(before);
    if (!(here | there)) return nothing;
    block_.assign(before + kBlock + before, 0);
    const auto add = [&](size_t at) {
        const uint64_t hash = scramble(*code++ + kSecret[0]);
        for (uint32_t k = 0; k < width_; ++k) block_[before + at - k] ^= std::rotl(hash, static_cast<int>(8 * k));
    };
    for (uint64_t bits = here; bits; bits &= bits - 1) add(static_cast<size_t>(std::countr_zero(bits)));
    for (uint64_t bits = there; bits; bits &= bits - 1) add(kBlock + static_cast<size_t>(std::countr_zero(bits)));
    return block_.data() + before;
}

bool GramSamples::is_figure(size_t at) const {
    uint64_t digits = ascii_digits(load64_le(bytes_.data() + at) & in_gram_);
    if (!digits_.empty()) digits |= eight_bits(digits_, at) & first_bits(width_);
    return (digits & digits >> 1 & digits >> 2) != 0;
}

void GramSamples::choose(size_t most) {
    if (held_ < width_) return;
    const uint64_t zeros = zeros_of(sampled::level_of_length(held_, most));
    const size_t grams = held_ - width_ + 1;
    const uint32_t *code = codes_.data();
    uint64_t hashes[kBlock];
    for (size_t i = 0; i < grams; i += kBlock) {
        const uint64_t *const wide = wide_part(i, code);
        uint64_t in = hash_block(bytes_.data() + i, in_gram_, wide, zeros, hashes) & first_bits(std::min(grams - i, kBlock));
        for (; in; in &= in - 1) {
            const auto at = static_cast<size_t>(std::countr_zero(in));
            sample_.push_back(marked(hashes[at], is_figure(i + at)));
        }
        if (!wide_.empty()) code += std::popcount(wide_[i / 64]);
        drop_repeats(most);
    }
}

// A long text may repeat one gram of the sample.
void GramSamples::drop_repeats(size_t most) {
    if (sample_.size() <= kRepeated * most) return;
    std::sort(sample_.begin(), sample_.end());
    sample_.erase(std::unique(sample_.begin(), sample_.end()), sample_.end());
}

// Features are uniform, so two passes over their upper bytes leave hardly anything to insert. What leaves more was made
// to do so, and insertion would be quadratic.
void GramSamples::sort_sample() {
    constexpr int digits = 2, first = 48;
    const auto digit = [](uint64_t entry, int pass) { return static_cast<uint8_t>(entry >> (first + 8 * pass)); };
    std::array<std::array<uint32_t, 256>, digits> ends{};
    const size_t size = sample_.size();
    for (uint64_t &one : sample_) {
        one = entry_of(one);
        for (int pass = 0; pass < digits; ++pass) ++ends[pass][digit(one, pass)];
    }
    sorted_.resize(size);
    for (int pass = 0; pass < digits; ++pass) {
        uint32_t begin = 0;
        for (uint32_t &end : ends[pass]) begin += std::exchange(end, begin);
        for (const uint64_t entry : sample_) sorted_[ends[pass][digit(entry, pass)]++] = entry;
        sample_.swap(sorted_);
    }
    size_t moves = 8 * size;
    for (size_t i = 1; i < size; ++i) {
        const uint64_t entry = sample_[i];
        size_t j = i;
        for (; j > 0 && sample_[j - 1] > entry && moves > 0; --j, --moves) sample_[j] = sample_[j - 1];
        sample_[j] = entry;
    }
    if (moves == 0) std::sort(sample_.begin(), sample_.end());
}

// The last of equal features has the highest level.
void GramSamples::append_distinct(std::vector<uint64_t> &out) const {
    if (sample_.empty()) return;
    size_t end = out.size();
    out.resize(end + sample_.size());
    for (size_t i = 0; i + 1 < sample_.size(); ++i) {
        out[end] = sample_[i];
        end += sample_[i] >> 32 != sample_[i + 1] >> 32;
    }
    out[end] = sample_.back();
    out.resize(end + 1);
}

size_t GramSamples::append(const uint8_t *text, size_t size, size_t most, std::vector<uint64_t> &out) {
    normaliser_.run(text, size);
    sample_.clear();
    read();
    choose(most);
    out.push_back(sampled::head(sampled::level_of_length(held_, most)));
    sort_sample();
    append_distinct(out);
    return held_;
}

}  // namespace neardup
