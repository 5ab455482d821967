// Computes the longest common subsequence of two runs of words exactly.
//
// A cell takes one bit (Allison & Dix 1986, in the form of Hyyrö 2004), and a row of the matrix is one addition over
// the words of the shorter side. Similar runs need only a band around the diagonal: if p words of one side and q of the
// other have no partner, no longest subsequence leaves the diagonals −q … p (Ukkonen 1985). The band is widened until
// it holds them. Its rows are stored, in at most n·m / 8 bytes, to trace the subsequence back.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace neardup {

// a[a : a + size] equals b[b : b + size].
struct Block {
    uint32_t a, b, size;
    uint32_t a_end() const { return a + size; }
    uint32_t b_end() const { return b + size; }
};

// Appends a block, or extends the last block if the new one continues it.
void add_block(std::vector<Block> &blocks, Block block);

// Holds scratch memory; each thread needs its own.
class Subsequence {
  public:
    // Replaces `out` by blocks in order. Of several longest subsequences, the one that matches late words first is
    // chosen, so that equal runs stay together.
    void find(const uint64_t *a, size_t n, const uint64_t *b, size_t m, std::vector<Block> &out);

  private:
    struct Word {
        uint32_t at, id;
    };

    void number(const uint64_t *pattern, size_t size);
    void keep_common(const uint64_t *text, size_t size);
    // The words of each row that are computed, as 64-bit words of the pattern: `stride` of them from `first(row)`.
    struct Band {
        size_t below, above;  // diagonals
        size_t width;         // of the whole matrix, in 64-bit words
        size_t stride() const { return std::min(width, (below + above) / 64 + 2); }
        size_t first(size_t row) const { return std::min(row > below ? (row - below) / 64 : 0, width - stride()); }
    };

    void fill_masks(size_t width);
    size_t fill_rows(const Band &band);
    void walk_back(const Band &band, bool swapped, std::vector<Block> &out) const;

    std::vector<uint64_t> words_;  // words of the pattern, a hash table,
    std::vector<uint32_t> ids_;    // and their ids
    std::vector<uint8_t> common_;  // by id: whether the text has the word too
    std::vector<Word> pattern_, text_;
    std::vector<uint64_t> masks_;  // by id: the positions of the word in the pattern
    std::unique_ptr<uint64_t[]> rows_;
    size_t rows_size_ = 0, mask_ = 0;
    uint32_t before_ = 0, distinct_ = 0;
};

}  // namespace neardup
