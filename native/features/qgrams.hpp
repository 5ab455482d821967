// Character q-grams (Montanari & Puglisi, DDD): sorted sets of 32-bit features.
//
// The normal form has no white space and no punctuation (category P); symbols and digits stay. Its q-grams are all
// overlapping runs of q code points, without padding. A q-gram is hashed as a shingle whose words are characters, and
// its feature has the error stated in shingles.hpp.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "text/normaliser.hpp"

namespace neardup {

// Sorts at most 2³² values and removes repeats, in linear time for hashes. `scratch` only avoids allocations.
void sort_distinct(std::vector<uint32_t> &values, std::vector<uint32_t> &scratch);

// A sample of the q-grams of a text has about `most` entries at any length: of a normal form of n characters it has
// the distinct q-grams whose level is at least k, the smallest number with most · 2^k ≥ n. The level is the number of
// leading zeros of the lower half of the hash, so half of the q-grams have level 0, and what a coarser sample of a text
// has is in every finer one. An entry is feature << 32 | level << 24 | figure << 23, sorted; the row begins with a head,
// (k + 1) << 2, which no feature looks like. A q-gram with kFigureDigits digits in a row is a figure. Of
// two q-grams with the same feature the higher level counts.
namespace sampled {
inline constexpr uint32_t kMostLevel = 31;
inline constexpr uint64_t kHeads = 256;  // every head is smaller, and a multiple of four
inline constexpr uint32_t kFigureDigits = 3;

constexpr uint64_t head(uint32_t level) { return uint64_t{level + 1} << 2; }
constexpr bool is_head(uint64_t entry) { return entry < kHeads && entry >= 4 && entry % 4 == 0; }
constexpr uint32_t level_of_head(uint64_t entry) { return static_cast<uint32_t>(entry >> 2) - 1; }
constexpr uint32_t level_of(uint64_t entry) { return static_cast<uint32_t>(entry >> 24) & kMostLevel; }
constexpr uint32_t figure_of(uint64_t entry) { return static_cast<uint32_t>(entry >> 23) & 1; }
constexpr uint32_t feature_of(uint64_t entry) { return static_cast<uint32_t>(entry >> 32); }
uint32_t level_of_length(size_t characters, size_t most);
}  // namespace sampled

// Holds scratch memory; each thread needs its own. Only features whose upper 24 bits are a multiple of `every` are
// taken, so the same ones of all texts. The low bits are not used for this, because they select slots for counting.
class Qgrams {
  public:
    Qgrams(TextOptions options, uint32_t q, uint32_t every = 1);

    // Appends the set of a text and returns the number of characters of its normal form. For fewer than `least` or q
    // characters nothing is appended.
    size_t append(const uint8_t *text, size_t size, size_t least, std::vector<uint32_t> &out);

    // Appends the head and the entries of a sample, and returns the number of characters. A text of fewer than q has a
    // head alone.
    size_t append_sample(const uint8_t *text, size_t size, size_t most, std::vector<uint64_t> &out);

    // Appends the normal form as UTF-8.
    void normal_form(const uint8_t *text, size_t size, std::vector<uint8_t> &out);

  private:
    template <bool kMarkFigures> const uint8_t *read(const uint8_t *p, const uint8_t *end);
    size_t carried_over() const { return std::min<size_t>(held_, q_ - 1); }
    void add_features();
    void sample(size_t begin);
    void keep_from(uint32_t level);
    void sort_sample(uint32_t level, std::vector<uint64_t> &out);

    Normaliser normaliser_;
    uint32_t q_, every_;
    bool white_[128];
    uint64_t ascii_[128];  // hashes of characters
    std::vector<uint64_t> characters_, hashes_;  // hashes of the characters and q-grams of one piece
    std::vector<uint8_t> bytes_, rows_;          // its characters as ASCII, and where three digits begin
    std::vector<uint8_t> figures_;               // which of its q-grams are figures
    size_t held_ = 0;                            // characters of the piece
    std::vector<uint32_t> features_, scratch_;
    std::vector<uint64_t> sample_, sorted_;
};

}  // namespace neardup
