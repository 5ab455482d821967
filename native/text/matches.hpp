// Which words of two texts are matched: in the order of both, and moved.
//
// In order: what both begin and end with; what is left by the longest common subsequence, exactly, up to 2^24
// cells. Larger gaps are cut at runs around k-grams that are unique in both (k = 6, 6 again within the gaps left,
// 32 for texts that repeat themselves, 3), and so are gaps of more than 2^20 cells if such runs cover half of
// them. A gap of more than 2^24 cells without any is aligned through windows of 4,096 words on either side: then
// `whole` is false. So short texts are aligned exactly, and no text costs more than some 2,048 cells of one bit
// a word, 4 MB of scratch and about 40 bytes a word.
//
// By chance, unlike texts have a quarter of their words in the same order. Matches count where they are dense:
// every matched word is +2; a gap is −2 for each word of its shorter side and −1 for each word that the other
// has more, but not more than −3 for these, and −1 for an insertion after what both begin with or before what
// both end with. Runs outside of a maximal scoring stretch (Ruzzo & Tompa 1999) that is worth four words are
// given up; in texts of less than 32 words an eighth of the words will do.
//
// Moved: at least eight words in a row that both texts have left.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "text/anchors.hpp"
#include "text/subsequence.hpp"

namespace neardup {

struct WordRun {
    const uint64_t *data;
    uint32_t size;
};

// Holds scratch memory: one for each thread.
class Matcher {
  public:
    // Clears `out`; returns false if a gap was too large to be aligned exactly. `by_chance`: nothing is given up.
    bool in_order(WordRun a, WordRun b, bool by_chance, std::vector<Block> &out);

    // What neither of `blocks` nor an earlier one of `out` has; clears `out`; in the order of a.
    void moved(WordRun a, WordRun b, const std::vector<Block> &blocks, std::vector<Block> &out);

  private:
    struct Gap {
        uint32_t a, a_end, b, b_end;
        uint64_t cells() const { return uint64_t{a_end - a} * (b_end - b); }
    };
    struct Segment {
        int64_t left, right;  // sums of scores before and after
        size_t first, last, link;
    };

    void align(Gap gap, size_t level);
    void align_inside(Gap gap, size_t level);
    bool align_between(Gap gap, size_t level);
    void align_exactly(Gap gap);
    void align_windows(Gap gap);
    void give_up_chance();
    void free_words(WordRun a, WordRun b, const std::vector<Block> &blocks);
    void list_grams();
    Block longest_at(uint32_t at, Gap free) const;

    WordRun a_{}, b_{};
    bool whole_ = true;
    std::vector<Block> matched_, exact_;
    Subsequence subsequence_;
    Anchors anchors_;
    std::vector<Segment> segments_;

    std::vector<Gap> gaps_;
    std::vector<uint8_t> free_;               // by word of b
    std::vector<uint32_t> heads_, next_, at_;  // 8-grams of what is free in b, by hash
};

}  // namespace neardup
