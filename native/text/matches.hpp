// Determines which words of two texts are matched: in the order of both texts, and moved.
//
// In order: first the common beginning and end, then the rest by an exact longest common subsequence, up to 2^24
// cells. Larger gaps are divided at runs around k-grams that are unique in both texts (k = 6, again 6 within the
// remaining gaps, 32 for repetitive texts, 3); gaps of more than 2^20 cells are divided too, if such runs cover half
// of them. A gap of more than 2^24 cells without such runs is aligned through windows of 4,096 words on either side,
// and `whole` is then false. Short texts are therefore aligned exactly, and no text costs more than about 2,048
// one-bit cells per word, 4 MB of scratch memory and 40 bytes per word.
//
// Unrelated texts have a quarter of their words in the same order by chance, so matches count only where they are
// dense. Every matched word scores +2. A gap scores −2 for each word of its shorter side and −1 for each further word
// of the longer side, but these count −3 at most; an insertion next to the common beginning or end scores −1. Runs
// outside a maximal scoring stretch (Ruzzo & Tompa 1999) that is worth four words are dropped; in texts of fewer than
// 32 words an eighth of the words suffices.
//
// Moved: at least eight consecutive words of both texts that are not matched in order.
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

// Holds scratch memory; each thread needs its own.
class Matcher {
  public:
    // Replaces `out`; returns false if a gap was too large to be aligned exactly. `by_chance` keeps all matches.
    bool in_order(WordRun a, WordRun b, bool by_chance, std::vector<Block> &out);

    // Replaces `out` by moved blocks in the order of a, which overlap neither `blocks` nor each other.
    void moved(WordRun a, WordRun b, const std::vector<Block> &blocks, std::vector<Block> &out);

  private:
    struct Gap {
        uint32_t a, a_end, b, b_end;
        uint64_t cells() const { return uint64_t{a_end - a} * (b_end - b); }
    };
    struct Segment {
        int64_t left, right;  // cumulative scores before and after
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
    std::vector<uint32_t> heads_, next_, at_;  // 8-grams of the unmatched words of b, by hash
};

}  // namespace neardup
