#include "features/qgrams.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "features/shingles.hpp"
#include "hash.hpp"
#include "simd.hpp"
#include "text/ascii.hpp"
#include "text/utf8.hpp"

namespace neardup {
namespace {

constexpr size_t kPiece = 8192;  // characters hashed at a time: the second-level cache holds them
constexpr size_t kFew = 256;     // values that are sorted faster by comparing
constexpr int kRadixBits = 11, kPasses = 2, kLeft = 32 - kPasses * kRadixBits;
constexpr size_t kBuckets = size_t{1} << kRadixBits;

bool is_white(uint32_t cp) { return unicode::record(cp).flags & unicode::white; }

uint64_t character_hash(uint32_t cp) { return scramble(cp + kSecret[0]); }

template <Instructions>
NEARDUP_INLINE void upper_halves_on(const uint64_t *hashes, size_t count, uint32_t *out) {
    for (size_t i = 0; i < count; ++i) out[i] = static_cast<uint32_t>(hashes[i] >> 32);
}

NEARDUP_EACH_LEVEL(void, upper_halves, (const uint64_t *hashes, size_t count, uint32_t *out), (hashes, count, out))

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
      inverse_(~uint64_t{0} / every + 1),
      characters_(q + kPiece),
      bytes_(kPiece + kAsciiBlock) {
    for (uint8_t c = 0; c < 128; ++c) {
        if (!is_white(c)) visible_.keep(c);
        ascii_[c] = character_hash(c);
    }
}

// The next characters, after those of the piece before that begin q-grams of this one.
const uint8_t *Qgrams::read(const uint8_t *p, const uint8_t *end) {
    const size_t carried = carried_over();
    std::copy(characters_.begin() + static_cast<ptrdiff_t>(held_ - carried),
              characters_.begin() + static_cast<ptrdiff_t>(held_), characters_.begin());
    uint64_t *next = characters_.data() + carried, *const full = next + kPiece;
    while (p < end && next < full) {
        const Copied copied = copy_kept(p, static_cast<size_t>(std::min(end - p, full - next)), bytes_.data(), visible_, {0, 0});
        for (size_t i = 0; i < copied.made; ++i) next[i] = ascii_[bytes_[i]];
        p += copied.taken;
        next += copied.made;
        // Single ASCII characters among others, and at the end, are read here.
        for (const uint8_t *const some = p + kAsciiBlock; p < end && p < some && next < full;) {
            if (*p < 0x80) {
                *next = ascii_[*p];
                next += visible_.keeps(*p++);
                continue;
            }
            const Decoded c = decode_valid(p);
            *next = character_hash(c.cp);
            next += !is_white(c.cp);
            p += c.size;
        }
    }
    held_ = static_cast<size_t>(next - characters_.data());
    return p;
}

void Qgrams::add_features() {
    if (held_ < q_) return;
    shingle_hashes(characters_.data(), held_, q_, hashes_);
    const size_t before = features_.size();
    features_.resize(before + hashes_.size());
    uint32_t *const out = features_.data() + before;
    if (every_ > 1)
        features_.resize(before + sampled(out));
    else
        upper_halves(hashes_.data(), hashes_.size(), out);
}

// Writes the features that are taken, and returns how many they are. n is a multiple of d if and only if n·⌈2⁶⁴/d⌉,
// modulo 2⁶⁴, is less than ⌈2⁶⁴/d⌉ (Lemire, Kaser & Kurz 2019, for 32-bit numbers).
size_t Qgrams::sampled(uint32_t *out) const {
    size_t kept = 0;
    for (const uint64_t hash : hashes_) {
        const auto feature = static_cast<uint32_t>(hash >> 32);
        out[kept] = feature;
        kept += uint64_t{feature >> 8} * inverse_ < inverse_;
    }
    return kept;
}

size_t Qgrams::append(const uint8_t *text, size_t size, size_t least, std::vector<uint32_t> &out) {
    normaliser_.run(text, size);
    held_ = 0;
    features_.clear();
    size_t count = 0;
    const uint8_t *const end = normaliser_.data() + normaliser_.size();
    for (const uint8_t *p = normaliser_.data(); p < end;) {
        const size_t carried = carried_over();
        p = read(p, end);
        count += held_ - carried;
        add_features();
    }
    if (count < std::max<size_t>(least, q_)) return count;
    sort_distinct(features_, scratch_);
    out.insert(out.end(), features_.begin(), features_.end());
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
