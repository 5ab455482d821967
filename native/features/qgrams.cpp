#include "features/qgrams.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "features/shingles.hpp"
#include "hash.hpp"
#include "simd.hpp"
#include "text/utf8.hpp"

#if NEARDUP_X86
#include <immintrin.h>
#endif

namespace neardup {
namespace {

constexpr size_t kPiece = 8192;  // characters hashed at a time: the second-level cache holds them
constexpr size_t kRepeated = 32; // times as many hashes as a sample should have: most of them are repeats
constexpr size_t kFew = 256;     // values that are sorted faster by comparing
constexpr int kRadixBits = 11, kPasses = 2, kLeft = 32 - kPasses * kRadixBits;
constexpr size_t kBuckets = size_t{1} << kRadixBits;

TextOptions without_punctuation(TextOptions options) {
    options.punctuation = TextOptions::Punctuation::remove;
    return options;
}

bool is_white(uint32_t cp) { return unicode::record(cp).flags & unicode::white; }

bool is_digit(uint32_t cp) { return unicode::record(cp).flags & unicode::digit; }

uint64_t character_hash(uint32_t cp) { return scramble(cp + kSecret[0]); }

template <Instructions>
NEARDUP_INLINE void upper_halves_on(const uint64_t *hashes, size_t count, uint32_t *out) {
    for (size_t i = 0; i < count; ++i) out[i] = static_cast<uint32_t>(hashes[i] >> 32);
}

NEARDUP_EACH_LEVEL(void, upper_halves, (const uint64_t *hashes, size_t count, uint32_t *out), (hashes, count, out))

// Which of the first hashes, up to 64, have none of these bits.
uint64_t zero_at_plain(const uint64_t *hashes, size_t count, uint64_t bits) {
    uint64_t found = 0;
    for (size_t i = 0; i < count; ++i) found |= uint64_t{(hashes[i] & bits) == 0} << i;
    return found;
}

#if NEARDUP_X86
// GCC finds no way from comparisons to bits.
NEARDUP_AVX2 uint64_t zero_at_avx2(const uint64_t *hashes, uint64_t bits) {
    const __m256i wanted = _mm256_set1_epi64x(static_cast<int64_t>(bits));
    uint64_t found = 0;
    for (int i = 60; i >= 0; i -= 4) {
        const __m256i some = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(hashes + i));
        const __m256i none = _mm256_cmpeq_epi64(_mm256_and_si256(some, wanted), _mm256_setzero_si256());
        found = found << 4 | static_cast<uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(none)));
    }
    return found;
}
#endif

uint64_t zero_at(const uint64_t *hashes, size_t count, uint64_t bits) {
#if NEARDUP_X86
    if (count == 64 && instructions() >= Instructions::avx2) return zero_at_avx2(hashes, bits);
#endif
    return zero_at_plain(hashes, count, bits);
}

NEARDUP_INLINE uint8_t is_ascii_digit(uint8_t byte) { return static_cast<uint8_t>(byte - '0') < 10; }

// Which runs of q bytes have three digits in a row. `rows` is room for as many bytes.
template <Instructions>
NEARDUP_INLINE void mark_figures_on(const uint8_t *__restrict bytes, size_t count, size_t q, uint8_t *__restrict rows,
                                    uint8_t *__restrict out) {
    static_assert(sampled::kFigureDigits == 3);
    for (size_t i = 0; i + q <= count; ++i) out[i] = 0;
    for (size_t i = 0; i + 2 < count; ++i)
        rows[i] = is_ascii_digit(bytes[i]) & is_ascii_digit(bytes[i + 1]) & is_ascii_digit(bytes[i + 2]);
    for (size_t first = 0; first + 3 <= q; ++first)
        for (size_t i = 0; i + q <= count; ++i) out[i] |= rows[i + first];
}

NEARDUP_EACH_LEVEL(void, mark_figures, (const uint8_t *bytes, size_t count, size_t q, uint8_t *rows, uint8_t *out),
                   (bytes, count, q, rows, out))

// By all but the last bits. No branch depends on a value: they are random, so every second guess would be wrong.
void radix_sort(std::vector<uint32_t> &values, std::vector<uint32_t> &scratch) {
    const auto digit = [](uint32_t value, int pass) { return value >> (kLeft + pass * kRadixBits) & (kBuckets - 1); };
    std::array<std::array<uint32_t, kBuckets>, kPasses> ends{};
    for (uint32_t value : values)
        for (int pass = 0; pass < kPasses; ++pass) ++ends[pass][digit(value, pass)];
    scratch.resize(values.size());
    for (int pass = 0; pass < kPasses; ++pass) {
        uint32_t begin = 0;
        for (uint32_t &end : ends[pass]) begin += std::exchange(end, begin);
        for (uint32_t value : values) scratch[ends[pass][digit(value, pass)]++] = value;
        values.swap(scratch);
    }
}

// What is left: two values seldom differ in the last bits alone.
void sort_runs(std::vector<uint32_t> &values) {
    for (size_t i = 1; i < values.size(); ++i) {
        if (values[i - 1] <= values[i]) continue;
        const uint32_t leading = values[i] >> kLeft;
        size_t begin = i - 1, end = i + 1;
        while (begin > 0 && values[begin - 1] >> kLeft == leading) --begin;
        while (end < values.size() && values[end] >> kLeft == leading) ++end;
        std::sort(values.begin() + static_cast<ptrdiff_t>(begin), values.begin() + static_cast<ptrdiff_t>(end));
        i = end - 1;
    }
}

void drop_repeats(std::vector<uint32_t> &values) {
    size_t kept = 0;
    for (size_t i = 0; i < values.size(); ++i) {
        values[kept] = values[i];
        kept += i + 1 == values.size() || values[i] != values[i + 1];
    }
    values.resize(kept);
}

}  // namespace

void sort_distinct(std::vector<uint32_t> &values, std::vector<uint32_t> &scratch) {
    if (values.size() < kFew) {
        std::sort(values.begin(), values.end());
    } else {
        radix_sort(values, scratch);
        sort_runs(values);
    }
    drop_repeats(values);
}

Qgrams::Qgrams(TextOptions options, uint32_t q, uint32_t every)
    : normaliser_(without_punctuation(options), false),
      q_(q),
      every_(every),
      characters_(q + kPiece),
      bytes_(q + kPiece),
      rows_(q + kPiece),
      figures_(q + kPiece) {
    for (uint32_t c = 0; c < 128; ++c) {
        white_[c] = is_white(c);
        ascii_[c] = character_hash(c);
    }
}

// The next characters, after those of the piece before that begin q-grams of this one.
template <bool kMarkFigures> const uint8_t *Qgrams::read(const uint8_t *p, const uint8_t *end) {
    const size_t carried = carried_over();
    std::copy(characters_.begin() + static_cast<ptrdiff_t>(held_ - carried),
              characters_.begin() + static_cast<ptrdiff_t>(held_), characters_.begin());
    if constexpr (kMarkFigures) std::copy_n(bytes_.data() + held_ - carried, carried, bytes_.data());
    uint64_t *next = characters_.data() + carried, *const full = next + kPiece;
    uint8_t *byte = bytes_.data() + carried;
    while (p < end && next < full) {
        if (*p < 0x80) {
            const uint8_t c = *p++;
            const bool stays = !white_[c];
            *next = ascii_[c];
            next += stays;
            if constexpr (kMarkFigures) {
                *byte = c;
                byte += stays;
            }
            continue;
        }
        const Decoded c = decode_valid(p);
        const bool stays = !is_white(c.cp);
        *next = character_hash(c.cp);
        next += stays;
        if constexpr (kMarkFigures) {
            *byte = is_digit(c.cp) ? '0' : 0xff;
            byte += stays;
        }
        p += c.size;
    }
    held_ = static_cast<size_t>(next - characters_.data());
    return p;
}

void Qgrams::add_features() {
    if (held_ < q_) return;
    shingle_hashes(characters_.data(), held_, q_, hashes_);
    const size_t before = features_.size();
    features_.resize(before + hashes_.size());
    upper_halves(hashes_.data(), hashes_.size(), features_.data() + before);
    if (every_ > 1) sample(before);
}

void Qgrams::sample(size_t begin) {
    size_t kept = begin;
    for (size_t i = begin; i < features_.size(); ++i) {
        const uint32_t feature = features_[i];
        features_[kept] = feature;
        kept += (feature >> 8) % every_ == 0;
    }
    features_.resize(kept);
}

size_t Qgrams::append(const uint8_t *text, size_t size, size_t least, std::vector<uint32_t> &out) {
    normaliser_.run(text, size);
    held_ = 0;
    features_.clear();
    size_t count = 0;
    const uint8_t *const end = normaliser_.data() + normaliser_.size();
    for (const uint8_t *p = normaliser_.data(); p < end;) {
        const size_t carried = carried_over();
        p = read<false>(p, end);
        count += held_ - carried;
        add_features();
    }
    if (count < std::max<size_t>(least, q_)) return count;
    sort_distinct(features_, scratch_);
    out.insert(out.end(), features_.begin(), features_.end());
    return count;
}

namespace sampled {
uint32_t level_of_length(size_t characters, size_t most) {
    uint32_t level = 0;
    while (level < kMostLevel && most << level < characters) ++level;
    return level;
}
}  // namespace sampled

// Of the hashes of a piece, those of this level or a higher one. The last bit, which no level depends on, becomes the
// mark of figures.
void Qgrams::keep_from(uint32_t level) {
    mark_figures(bytes_.data(), held_, q_, rows_.data(), figures_.data());
    const size_t count = hashes_.size();
    const uint64_t zeros = ((uint64_t{1} << level) - 1) << (32 - level);
    for (size_t i = 0; i < count; i += 64) {
        uint64_t in = zero_at(hashes_.data() + i, std::min<size_t>(count - i, 64), zeros);
        for (; in; in &= in - 1) {
            const size_t at = i + static_cast<size_t>(std::countr_zero(in));
            sample_.push_back((hashes_[at] & ~uint64_t{1}) | figures_[at]);
        }
    }
}

// Hashes are uniform, so that buckets hold about one each and insertion finishes the work; a crowded bucket means
// repeats of one q-gram, for which insertion would be quadratic.
void Qgrams::sort_sample(uint32_t level, std::vector<uint64_t> &out) {
    constexpr uint32_t crowded = 24;
    const uint32_t kept = 32 - level;
    std::erase_if(sample_, [kept](uint64_t hash) { return (hash & 0xffffffffu) >> kept != 0; });
    const int shift = 64 - std::clamp<int>(std::bit_width(sample_.size()), 4, 16);
    scratch_.assign(size_t{1} << (64 - shift), 0);
    for (const uint64_t hash : sample_) ++scratch_[hash >> shift];
    uint32_t begin = 0, most = 0;
    for (uint32_t &count : scratch_) {
        most = std::max(most, count);
        begin += std::exchange(count, begin);
    }
    sorted_.resize(sample_.size());
    for (const uint64_t hash : sample_) {
        const auto zeros = std::countl_zero(static_cast<uint32_t>(hash));
        const uint64_t own = std::min<uint64_t>(static_cast<uint64_t>(zeros), sampled::kMostLevel);
        sorted_[scratch_[hash >> shift]++] = hash >> 32 << 32 | own << 24 | (hash & 1) << 23;
    }
    if (most > crowded) {
        std::sort(sorted_.begin(), sorted_.end());
    } else {
        for (size_t i = 1; i < sorted_.size(); ++i) {
            const uint64_t entry = sorted_[i];
            size_t j = i;
            for (; j > 0 && sorted_[j - 1] > entry; --j) sorted_[j] = sorted_[j - 1];
            sorted_[j] = entry;
        }
    }
    for (size_t i = 0; i < sorted_.size(); ++i)  // the last of equal features has the highest level
        if (i + 1 == sorted_.size() || sorted_[i] >> 32 != sorted_[i + 1] >> 32) out.push_back(sorted_[i]);
}

size_t Qgrams::append_sample(const uint8_t *text, size_t size, size_t most, std::vector<uint64_t> &out) {
    normaliser_.run(text, size);
    held_ = 0;
    sample_.clear();
    size_t count = 0;
    const uint8_t *const end = normaliser_.data() + normaliser_.size();
    for (const uint8_t *p = normaliser_.data(); p < end;) {
        const size_t carried = carried_over();
        p = read<true>(p, end);
        count += held_ - carried;
        if (held_ < q_) continue;
        shingle_hashes(characters_.data(), held_, q_, hashes_);
        keep_from(sampled::level_of_length(count, most));  // the whole text has at least this level
        if (sample_.size() > kRepeated * most) {  // a q-gram that a long text repeats
            std::sort(sample_.begin(), sample_.end());
            sample_.erase(std::unique(sample_.begin(), sample_.end()), sample_.end());
        }
    }
    const uint32_t level = sampled::level_of_length(count, most);
    out.push_back(sampled::head(level));
    sort_sample(level, out);
    return count;
}

void Qgrams::normal_form(const uint8_t *text, size_t size, std::vector<uint8_t> &out) {
    normaliser_.run(text, size);
    const uint8_t *const end = normaliser_.data() + normaliser_.size();
    for (const uint8_t *p = normaliser_.data(); p < end;) {
        const Decoded c = decode_valid(p);
        if (!is_white(c.cp)) out.insert(out.end(), p, p + c.size);
        p += c.size;
    }
}

}  // namespace neardup
