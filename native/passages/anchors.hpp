// Word grams by which documents that may share a passage meet, and how an index stores them.
//
// Winnowing (Schleimer, Wilkerson and Aiken 2003) takes from every window of `window` grams the one with the smallest
// hash, so two texts that have `gram + window - 1` words in common have a sampled gram in common. An anchor is a
// number of 34 bits from the hash of a sampled gram. An index stores anchors in rows, one for each value of their
// first 18 bits; a row has a digest, the other 16 bits of each anchor, and the number of its document.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace neardup {

struct Sampled {
    uint32_t position;
    uint64_t hash;
};

// The sampled grams of a text, in order. A text with fewer grams than a window has one window. `hashes` is scratch.
void winnow(const uint32_t *words, uint32_t size, uint32_t gram, uint32_t window, std::vector<uint64_t> &hashes,
            std::vector<Sampled> &out);

inline constexpr int anchor_bits = 34, row_bits = 18, number_bits = 64 - anchor_bits;

// The low bits: a sampled gram has a small hash, so its high bits say little.
inline uint64_t anchor_of(uint64_t hash) { return hash & ((uint64_t{1} << anchor_bits) - 1); }

// The anchors of a few documents. Sorted; a table over their first bits leads to each of them.
class AnchorTable {
  public:
    void add(uint64_t anchor, uint32_t document) { pairs_.emplace_back(anchor, document); }
    void build();
    bool empty() const { return pairs_.empty(); }

    // Calls `found` with each document that has the anchor.
    template <typename F>
    void each(uint64_t anchor, F found) const {
        const auto slot = static_cast<size_t>(anchor >> shift_);
        for (uint32_t i = starts_[slot]; i < starts_[slot + 1]; ++i)
            if (pairs_[i].first == anchor) found(pairs_[i].second);
    }

  private:
    std::vector<std::pair<uint64_t, uint32_t>> pairs_;
    std::vector<uint32_t> starts_;
    int shift_ = anchor_bits;
};

// A posting is an anchor and, below it, the number of a document.
inline uint64_t anchor_of_posting(uint64_t posting) { return posting >> number_bits; }

struct Row {
    const uint8_t *data;
    size_t size;
    uint64_t number;
};

// Rows `first` to `first + count` of sorted postings, one after the other; `offsets` gets their ends.
void pack_rows(const uint64_t *postings, size_t size, uint64_t first, size_t count, std::vector<uint8_t> &values,
               std::vector<int64_t> &offsets);

// Whether a row is what was stored.
bool is_whole(const Row &row);

void unpack_row(const Row &row, std::vector<uint64_t> &postings);

// Appends the documents of the row that have one of the anchors; these are sorted.
void find_in_row(const Row &row, const uint64_t *anchors, size_t count, std::vector<uint32_t> &documents);

}  // namespace neardup
