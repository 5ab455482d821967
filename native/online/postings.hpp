// Key → documents, for documents that come one by one: an open-addressed table of 64-bit keys.
//
// Most keys belong to one document, which stands in the table itself (12 bytes a slot, at most 3/4
// full); further ones go to a list. Each entry says whether its document looks with that key, so
// that relations which are not symmetric are found from both sides. Documents are known by numbers
// below 2^30. Nothing is removed one by one: keep() goes through the table once and leaves only
// what is still there, under new numbers, in a table of the right size. A lookup is one miss of the
// cache a key.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

class Postings {
  public:
    // The first `probes` of the keys are those that the document looks with.
    void add(const uint64_t *keys, size_t count, size_t probes, uint32_t number);
    // The documents that share at least `least` keys with which either of the two looks: each once, ascending.
    void meet(const uint64_t *keys, size_t count, size_t probes, size_t least, std::vector<int64_t> &found) const;
    // numbers[i] is the new number of document i, -1 where it is gone; new numbers keep the order.
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
    size_t used_ = 0, entries_ = 0, listed_ = 0;  // listed_: room for entries in all lists
};

}  // namespace neardup
