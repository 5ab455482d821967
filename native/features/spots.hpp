// Spot signatures (Theobald, Siddharth & Paepcke 2008): an antecedent (a stop word) with words that follow it, as
// multisets in the form of sets.
//
// A spot consists of an antecedent and `chain` words, each `distance` words after the one before; antecedents are
// skipped. An occurrence of an antecedent with too few words after it gives no spot. The n-th occurrence of a spot is a
// feature of its own, so that |A∩B| / |A∪B| of the sets is Σmin / Σmax of the multisets.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace neardup {

struct SpotSettings {
    uint32_t distance = 1, chain = 2;
    std::span<const uint64_t> antecedents;  // word hashes, sorted
};

// Holds scratch memory; each thread needs its own.
class Spots {
  public:
    explicit Spots(const SpotSettings &settings);

    // Appends the sorted set of a text's spots; `words` are the hashes of its words in order.
    void append(const uint64_t *words, size_t count, std::vector<uint32_t> &out);

  private:
    bool is_antecedent(uint64_t word) const;

    uint32_t distance_, chain_;
    std::vector<uint64_t> table_;  // of antecedents; no word has the hash 0
    std::vector<uint64_t> content_, hashes_;
    std::vector<uint64_t> found_;  // alternating: an antecedent, and the number of content words before it
    std::vector<uint32_t> features_, scratch_;
};

}  // namespace neardup
