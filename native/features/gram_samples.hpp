// Samples of the character grams of a text: about as many at any length, chosen by hash.
//
// The normal form is that of qgrams.hpp: no white space, no punctuation. A gram is a run of `width` characters, 8 at
// most. A character below U+0800 is one byte, of which those above ASCII have the highest bit and the low seven bits of
// their code point: alphabets stay distinct, and a gram of such characters is one number of 64 bits. A wide character,
// from U+0800 on, is the byte 0, and its hash is added without carry, turned by eight bits for each character before it
// in the gram. The number is scrambled. Of a gram's 64-bit hash the upper half is its feature, and the number of leading zeros of the lower half is its level: half of the grams have level 0.
//
// A text keeps the grams of the level of its sample or a higher one, so what a coarser sample of a text has is in every
// finer one. The level of a text of n characters is the smallest k with most · 2^k ≥ n; texts of up to kShort · most
// characters keep twice as many, because little of them is known. An entry is feature << 32 | level << 24 |
// figure << 23, sorted; a row begins with a head, (k + 1) << 2, which no feature looks like. A gram with three digits in
// a row is a figure. Of two grams with the same feature the higher level counts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "text/ascii.hpp"
#include "text/normaliser.hpp"

namespace neardup {

namespace sampled {
inline constexpr uint32_t kMostLevel = 31, kMostWidth = 8;
inline constexpr uint64_t kHeads = 256;  // every head is smaller, and a multiple of four
inline constexpr size_t kShort = 4;

constexpr uint64_t head(uint32_t level) { return uint64_t{level + 1} << 2; }
constexpr bool is_head(uint64_t entry) { return entry < kHeads && entry >= 4 && entry % 4 == 0; }
constexpr uint32_t level_of_head(uint64_t entry) { return static_cast<uint32_t>(entry >> 2) - 1; }
constexpr uint32_t level_of(uint64_t entry) { return static_cast<uint32_t>(entry >> 24) & kMostLevel; }
constexpr uint32_t figure_of(uint64_t entry) { return static_cast<uint32_t>(entry >> 23) & 1; }
constexpr uint32_t feature_of(uint64_t entry) { return static_cast<uint32_t>(entry >> 32); }
uint32_t level_of_length(size_t characters, size_t most);
}  // namespace sampled

// Holds scratch memory; each thread needs its own.
class GramSamples {
  public:
    GramSamples(TextOptions options, uint32_t width);

    // Appends the head and the entries of a text, and returns the number of its characters. A text of fewer than
    // `width` characters has a head alone.
    size_t append(const uint8_t *text, size_t size, size_t most, std::vector<uint64_t> &out);

  private:
    void read();
    void mark(std::vector<uint64_t> &bits, size_t at) const;
    void choose(size_t most);
    const uint64_t *wide_part(size_t begin, const uint32_t *code);
    bool is_figure(size_t at) const;
    void drop_repeats(size_t most);
    void sort_sample();
    void append_distinct(std::vector<uint64_t> &out) const;

    Normaliser normaliser_;
    uint32_t width_;
    uint64_t in_gram_;   // the bytes of a gram
    KeptBytes visible_;  // all but white space
    std::vector<uint8_t> bytes_;  // the characters of the text
    size_t held_ = 0;             // how many
    // The wide characters, and a bit for each character that is one, or a digit that is not ASCII; empty if there are none.
    std::vector<uint32_t> codes_;
    std::vector<uint64_t> wide_, digits_;
    std::vector<uint64_t> block_, sample_, sorted_;
};

}  // namespace neardup
