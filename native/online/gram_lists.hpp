// The documents of a segment that have a gram. A segment has up to 8,192 documents, one column each, in the order of
// adding.
//
// A gram of few documents lists their columns, up to four of them in the table itself. A gram of many documents has a
// bitmap, which extends to its last column. Only grams that occurred take memory. A segment that gets no more documents
// can be sealed: its columns are reordered, and its memory is reduced to what it needs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "online/block_pool.hpp"

namespace neardup {

struct GramList {
    static constexpr size_t kFew = 4;

    uint32_t gram;
    uint16_t count;  // documents that have it; 0: an empty slot of the table
    uint8_t lines;   // of the bitmap; 0: a list
    uint8_t unused;
    union {
        uint16_t few[kFew];
        uint16_t *list;  // ascending, in a block for bit_ceil(count) columns
        uint64_t *bits;
    };

    const uint16_t *columns() const { return count <= kFew ? few : list; }
    bool has(uint32_t column) const;
};

using GramTable = std::vector<GramList, LargeMemory<GramList>>;

class GramLists {
  public:
    static constexpr size_t kMostColumns = 8192;

    GramLists();

    // `grams` must be distinct. Returns the column of the new document. The segment must not be full or sealed.
    uint32_t add(const uint32_t *grams, size_t size);

    // Reorders the columns: column i becomes to[i].
    void seal(const std::vector<uint16_t> &to);
    bool sealed() const { return sealed_; }

    // Returns nullptr if no document has the gram.
    const GramList *find(uint32_t gram) const;
    void fetch(uint32_t gram) const;

    // The grams of each column, in ascending order.
    std::vector<std::vector<uint32_t>> sets() const;

    const GramTable &table() const { return table_; }
    size_t columns() const { return columns_; }
    size_t grams() const { return grams_; }
    size_t postings() const { return postings_; }
    size_t table_bytes() const { return memory_size(table_.capacity() * sizeof(GramList)); }
    size_t list_bytes() const {
        return pool_.bytes() + memory_size(bitmaps_.capacity() * 8) + memory_size(lists_.capacity() * 2);
    }

  private:
    size_t place(uint32_t gram) const;
    GramList &at(uint32_t gram);
    void append(GramList &list, uint32_t column);
    void append_listed(GramList &list, uint32_t column);
    void make_bitmap(GramList &list, uint32_t column);
    void lengthen(GramList &list, uint32_t column);
    void resize_table(size_t places);
    void put_columns(const GramList &list, const std::vector<uint16_t> &to, uint16_t *out) const;

    GramTable table_;
    BlockPool pool_;
    std::vector<uint64_t, LargeMemory<uint64_t>> bitmaps_;  // of a sealed segment
    std::vector<uint16_t, LargeMemory<uint16_t>> lists_;
    bool sealed_ = false;
    size_t columns_ = 0, grams_ = 0, postings_ = 0;
};

}  // namespace neardup
