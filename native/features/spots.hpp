// Spot signatures (Theobald, Siddharth & Paepcke 2008): an antecedent (a stop word) with the words that
// stand after it, as multisets written as sets.
//
// For each occurrence of an antecedent: `chain` times, go `distance` words on, antecedents not counted,
// and take the word. An occurrence with too few words after it gives no spot. The n-th occurrence of a
// spot is a feature of its own, so that |A∩B| / |A∪B| of the sets is Σmin / Σmax of the multisets.
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

// Holds scratch memory: one for each thread.
class Spots {
  public:
    explicit Spots(const SpotSettings &settings);

    // Appends the sorted set of a text's spots, given the hashes of its words in order.
    void append(const uint64_t *words, size_t count, std::vector<uint32_t> &out);

  private:
    bool is_antecedent(uint64_t word) const;

    uint32_t distance_, chain_;
    std::vector<uint64_t> table_;  // of antecedents; no word has the hash 0
    std::vector<uint64_t> content_, hashes_;
    std::vector<uint64_t> found_;  // an antecedent and how many content words come before it, in turn
    std::vector<uint32_t> features_, scratch_;
};

}  // namespace neardup
