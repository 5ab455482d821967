// Maps keys to documents that arrive one by one: an open-addressed table of 64-bit keys.
//
// Most keys belong to one document, which is stored in the table itself (12 bytes per slot, at most 3/4 full); further
// documents are stored in a list. Each entry records whether the key is a probe of its document, so that relations
// which are not symmetric are found from both sides. Documents have numbers below 2^30. Entries are not removed one by
// one: keep() rebuilds the table once with the remaining documents, their new numbers and the right size. A lookup
// costs one cache miss per key.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

class Postings {
  public:
    // The first `probes` keys are the probes of the document.
    void add(const uint64_t *keys, size_t count, size_t probes, uint32_t number);
    // Documents that share at least `least` keys, each a probe of at least one of the two; each once, ascending. At most
    // `most` of them, those that share most keys (matching/most_shared.hpp); 0 means all.
    void meet(const uint64_t *keys, size_t count, size_t probes, size_t least, size_t most,
              std::vector<int64_t> &found) const;
    // numbers[i] is the new number of document i, -1 if it was removed; new numbers keep the order.
    void keep(const int64_t *numbers, size_t count);

    size_t entries() const { return entries_; }
    size_t bytes() const;

  private:
    static constexpr uint32_t EMPTY = 0xFFFFFFFF, LIST = 0x80000000;

    size_t find(uint64_t key) const;
    void put(uint64_t key, uint32_t entry);
    void resize(size_t slots);

    std::vector<uint64_t> keys_;
    std::vector<uint32_t> values_;
    std::vector<std::vector<uint32_t>> lists_;
    size_t used_ = 0, entries_ = 0, listed_ = 0;  // listed_: the capacity of all lists, in entries
    size_t numbers_ = 0;                          // documents have numbers below
};

}  // namespace neardup
