// How many pieces of the smaller of two normal forms are recognised in the larger one.
//
// A piece is up to 60 characters. It is recognised if some stretch of the other text, as long as the piece, has 70 % of
// its characters in the same order. The length of a longest common subsequence takes one addition a character (Hyyrö
// 2004), for several pieces at once in a vector register. Blocks that overlap by a piece contain every stretch, and a
// block with too few characters in order contains no stretch that has enough; so hardly any stretch is looked at by
// itself. Copies have most pieces where those before were, and are looked at there first.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

namespace neardup {

struct Recognised {
    int64_t found, pieces;
};

// Holds scratch memory; each thread needs its own.
class Recogniser {
  public:
    Recogniser();

    // Both texts are valid UTF-8 and normal forms. Pieces are counted until `floor` percent of them are found, or can no
    // longer be; a floor above 100 counts all of them.
    Recognised compare(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, int64_t floor);

  private:
    void read_pieces();
    void read_larger();
    uint16_t code_of(uint32_t character);
    size_t in_order(size_t piece, size_t begin, size_t size) const;
    bool has_stretch(size_t piece, size_t begin, size_t end);
    bool is_near(size_t piece);
    bool is_exact(size_t piece);
    int64_t search(size_t first, size_t last);

    std::vector<uint32_t> one_, other_;    // characters of the texts
    const std::vector<uint32_t> *smaller_, *larger_;
    struct Free {
        void operator()(void *memory) const { std::free(memory); }
    };
    std::unique_ptr<uint16_t[], Free> codes_;  // by character: its number among those of the pieces, or 0
    std::vector<uint32_t> used_;           // the characters that have one
    std::vector<uint16_t> piece_codes_;    // all pieces in codes
    std::vector<uint16_t> text_;           // the larger text in codes, with room for a piece on both sides
    std::vector<uint64_t> masks_, together_;  // by code and piece: where the piece has this character
    std::vector<size_t> starts_, open_;    // where the pieces begin; pieces that are not where they are expected
    size_t size_ = 0, least_ = 0, lanes_ = 0;  // characters of a piece, and so many of them in order; masks of a code
    ptrdiff_t shift_ = 0;                  // how much further on the piece before was found
};

}  // namespace neardup
