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

#include "text/ascii.hpp"
#include "text/normaliser.hpp"

namespace neardup {

// Sorts at most 2³² values and removes repeats, in linear time for hashes. `scratch` only avoids allocations.
void sort_distinct(std::vector<uint32_t> &values, std::vector<uint32_t> &scratch);

// Holds scratch memory; each thread needs its own. Only features whose upper 24 bits are a multiple of `every` are
// taken, so the same ones of all texts. The low bits are not used for this, because they select slots for counting.
class Qgrams {
  public:
    Qgrams(TextOptions options, uint32_t q, uint32_t every = 1);

    // Appends the set of a text and returns the number of characters of its normal form. For fewer than `least` or q
    // characters nothing is appended.
    size_t append(const uint8_t *text, size_t size, size_t least, std::vector<uint32_t> &out);

    // Appends the normal form as UTF-8.
    void normal_form(const uint8_t *text, size_t size, std::vector<uint8_t> &out);

  private:
    const uint8_t *read(const uint8_t *p, const uint8_t *end);
    size_t carried_over() const { return std::min<size_t>(held_, q_ - 1); }
    void add_features();
    size_t sampled(uint32_t *out) const;

    Normaliser normaliser_;
    uint32_t q_, every_;
    uint64_t inverse_;  // of `every`
    KeptBytes visible_;
    uint64_t ascii_[128];  // hashes of characters
    std::vector<uint64_t> characters_, hashes_;  // hashes of the characters and q-grams of one piece
    std::vector<uint8_t> bytes_;  // visible ASCII characters that are read together
    size_t held_ = 0;                            // characters of the piece
    std::vector<uint32_t> features_, scratch_;
};

}  // namespace neardup
