// The longest common subsequence of two runs of words, exactly.
//
// One bit a cell (Allison & Dix 1986, in the form of Hyyrö 2004): a row of the matrix is one addition over
// the words of the shorter side. The rows are kept, so that the way back can be read from them: n·m / 8 bytes.
#pragma once
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

// Adds to the last block where the new one goes on with it.
void add_block(std::vector<Block> &blocks, Block block);

// Holds scratch memory: one for each thread.
class Subsequence {
  public:
    // Clears `out`; blocks in order. Of several longest ones it is that which matches late words first, so
    // that equal runs stay together.
    void find(const uint64_t *a, size_t n, const uint64_t *b, size_t m, std::vector<Block> &out);

  private:
    struct Word {
        uint32_t at, id;
    };

    void number(const uint64_t *pattern, size_t size);
    uint32_t id_of(uint64_t word) const;
    void keep_common(const uint64_t *text, size_t size);
    void fill_masks(size_t width);
    void fill_rows(size_t width);
    void walk_back(size_t width, bool swapped, std::vector<Block> &out) const;

    std::vector<uint64_t> words_;   // of the pattern, by hash
    std::vector<uint32_t> ids_;     // beside them, from 1; 0: an empty slot
    std::vector<uint8_t> common_;   // by id: the text has it too
    std::vector<Word> pattern_, text_;
    std::vector<uint64_t> masks_;   // by id: where the pattern has it
    std::unique_ptr<uint64_t[]> rows_;
    size_t rows_size_ = 0;
    uint32_t distinct_ = 0;
};

}  // namespace neardup
