#include "features/gram_samples.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "features/shingles.hpp"
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

constexpr size_t kBlock = 64;     // grams hashed at a time
constexpr size_t kPiece = 8192;   // wide characters hashed at a time: the second-level cache holds them
constexpr size_t kRepeated = 32;  // times as many hashes as a sample should have: most of them are repeats
constexpr uint32_t kWide = 0x800;
constexpr uint64_t kEveryByte = 0x0101010101010101ull, kHighBits = 0x80 * kEveryByte;

bool is_white(uint32_t cp) { return unicode::record(cp).flags & unicode::white; }
bool is_digit(uint32_t cp) { return unicode::record(cp).flags & unicode::digit; }
uint8_t byte_of(uint32_t cp) { return static_cast<uint8_t>(cp < 0x80 ? cp : 0x80 | cp); }

uint64_t gram_hash(uint64_t gram) { return scramble(gram ^ kSecret[0]); }

// The hashes of kBlock grams of eight bytes, and which of them have none of `zeros`.
uint64_t hash_block_plain(const uint8_t *bytes, uint64_t in_gram, uint64_t zeros, uint64_t *out) {
    uint64_t found = 0;
    for (size_t i = 0; i < kBlock; ++i) {
        out[i] = gram_hash(load64_le(bytes + i) & in_gram);
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
NEARDUP_AVX2 uint64_t hash_block_avx2(const uint8_t *bytes, uint64_t in_gram, uint64_t zeros, uint64_t *out) {
    const __m256i four = _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7, 8, 2, 3, 4, 5, 6, 7, 8, 9, 3, 4, 5,
                                          6, 7, 8, 9, 10);
    const __m256i kept = all(in_gram), wanted = all(zeros);
    uint64_t found = 0;
    for (size_t i = 0; i < kBlock; i += 4) {
        const __m256i some = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i *>(bytes + i)));
        const __m256i grams = _mm256_and_si256(_mm256_shuffle_epi8(some, four), kept);
        const __m256i hashes = scrambled(_mm256_xor_si256(grams, all(kSecret[0])));
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(out + i), hashes);
        const __m256i none = _mm256_cmpeq_epi64(_mm256_and_si256(hashes, wanted), _mm256_setzero_si256());
        found |= static_cast<uint64_t>(static_cast<uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(none)))) << i;
    }
    return found;
}
#endif

uint64_t hash_block(const uint8_t *bytes, uint64_t in_gram, uint64_t zeros, uint64_t *out) {
#if NEARDUP_X86
    if (instructions() >= Instructions::avx2) return hash_block_avx2(bytes, in_gram, zeros, out);
#endif
    return hash_block_plain(bytes, in_gram, zeros, out);
}

// The highest bit of each byte that is an ASCII digit.
uint64_t ascii_digits(uint64_t bytes) {
    const uint64_t from_zero = bytes ^ '0' * kEveryByte;
    return ~(((from_zero & ~kHighBits) + (0x80 - 10) * kEveryByte) | from_zero) & kHighBits;
}

bool three_in_a_row(uint64_t digits) { return (digits & digits >> 8 & digits >> 16) != 0; }

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

// Reads the normal form; false if it has a wide character, or a digit that its byte does not show.
bool GramSamples::read_narrow() {
    const uint8_t *p = normaliser_.data(), *const end = p + normaliser_.size();
    bytes_.resize(normaliser_.size() + kBlock + 2 * kAsciiBlock);
    uint8_t *next = bytes_.data();
    while (p < end) {
        const Copied copied = copy_kept(p, static_cast<size_t>(end - p), next, visible_, {0, 0});
        p += copied.taken;
        next += copied.made;
        // Single ASCII characters among others are read here.
        for (const uint8_t *const ascii = p + kAsciiBlock; p < end && p < ascii;) {
            const Decoded c = decode_valid(p);
            if (c.cp >= kWide || (c.cp >= 0x80 && is_digit(c.cp))) return false;
            *next = byte_of(c.cp);
            next += !is_white(c.cp);
            p += c.size;
        }
    }
    held_ = static_cast<size_t>(next - bytes_.data());
    return true;
}

size_t GramSamples::append_narrow(size_t most) {
    if (held_ < width_) return held_;
    const uint64_t zeros = zeros_of(sampled::level_of_length(held_, most));
    const size_t grams = held_ - width_ + 1;
    uint64_t hashes[kBlock];
    for (size_t i = 0; i < grams; i += kBlock) {
        uint64_t in = hash_block(bytes_.data() + i, in_gram_, zeros, hashes) & first_bits(std::min(grams - i, kBlock));
        for (; in; in &= in - 1) {
            const auto at = static_cast<size_t>(std::countr_zero(in));
            const uint64_t gram = load64_le(bytes_.data() + i + at) & in_gram_;
            sample_.push_back(marked(hashes[at], three_in_a_row(ascii_digits(gram))));
        }
        drop_repeats(most);
    }
    return held_;
}

// The next characters, after those of the piece before that begin grams of this one.
const uint8_t *GramSamples::read_piece(const uint8_t *p, const uint8_t *end) {
    const size_t carried = std::min<size_t>(held_, width_ - 1), from = held_ - carried;
    std::copy_n(characters_.data() + from, carried, characters_.data());
    for (auto *part : {&bytes_, &wide_, &digits_}) std::copy_n(part->data() + from, carried, part->data());
    for (held_ = carried; p < end && held_ < carried + kPiece;) {
        const Decoded c = decode_valid(p);
        p += c.size;
        if (is_white(c.cp)) continue;
        characters_[held_] = scramble(c.cp + kSecret[0]);
        bytes_[held_] = byte_of(c.cp);
        wide_[held_] = c.cp >= kWide;
        digits_[held_] = is_digit(c.cp) ? 0x80 : 0;
        ++held_;
    }
    return p;
}

void GramSamples::keep_piece(uint32_t level) {
    const size_t grams = held_ - width_ + 1;
    const bool some_wide = std::find(wide_.begin(), wide_.begin() + static_cast<ptrdiff_t>(held_), 1) !=
                           wide_.begin() + static_cast<ptrdiff_t>(held_);
    if (some_wide) shingle_hashes(characters_.data(), held_, width_, hashes_);
    const uint64_t zeros = zeros_of(level);
    uint64_t hashes[kBlock];
    for (size_t i = 0; i < grams; i += kBlock) {
        const size_t block = std::min(grams - i, kBlock);
        uint64_t in = hash_block(bytes_.data() + i, in_gram_, zeros, hashes) & first_bits(block);
        for (size_t k = 0; some_wide && k < block; ++k) {
            if (!(load64_le(wide_.data() + i + k) & in_gram_)) continue;
            hashes[k] = hashes_[i + k];
            in = (in & ~(uint64_t{1} << k)) | uint64_t{(hashes[k] & zeros) == 0} << k;
        }
        for (; in; in &= in - 1) {
            const auto at = static_cast<size_t>(std::countr_zero(in));
            sample_.push_back(marked(hashes[at], three_in_a_row(load64_le(digits_.data() + i + at) & in_gram_)));
        }
    }
}

size_t GramSamples::append_wide(size_t most) {
    const size_t room = kPiece + sampled::kMostWidth + 2 * kBlock;  // blocks are read whole
    characters_.resize(room);
    for (auto *part : {&bytes_, &wide_, &digits_}) part->resize(std::max(part->size(), room));
    held_ = 0;
    size_t count = 0;
    const uint8_t *const end = normaliser_.data() + normaliser_.size();
    for (const uint8_t *p = normaliser_.data(); p < end;) {
        const size_t carried = std::min<size_t>(held_, width_ - 1);
        p = read_piece(p, end);
        count += held_ - carried;
        if (held_ < width_) continue;
        keep_piece(sampled::level_of_length(count, most));  // the whole text has at least this level
        drop_repeats(most);
    }
    return count;
}

// A long text may repeat one gram of the sample.
void GramSamples::drop_repeats(size_t most) {
    if (sample_.size() <= kRepeated * most) return;
    std::sort(sample_.begin(), sample_.end());
    sample_.erase(std::unique(sample_.begin(), sample_.end()), sample_.end());
}

// Features are uniform, so two passes over their upper bytes leave hardly anything to insert. What leaves more was made
// to do so, and insertion would be quadratic.
void GramSamples::sort_sample(uint32_t level) {
    constexpr int digits = 2, first = 48;
    const auto digit = [](uint64_t entry, int pass) { return static_cast<uint8_t>(entry >> (first + 8 * pass)); };
    std::array<std::array<uint32_t, 256>, digits> ends{};
    const uint64_t zeros = zeros_of(level);
    size_t size = 0;
    for (const uint64_t hash : sample_) {
        const uint64_t entry = sample_[size] = entry_of(hash);
        const bool in = (hash & zeros) == 0;
        size += in;
        for (int pass = 0; pass < digits; ++pass) ends[pass][digit(entry, pass)] += in;
    }
    sample_.resize(size);
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
    const size_t count = read_narrow() ? append_narrow(most) : append_wide(most);
    const uint32_t level = sampled::level_of_length(count, most);
    out.push_back(sampled::head(level));
    sort_sample(level);
    append_distinct(out);
    return count;
}

}  // namespace neardup
