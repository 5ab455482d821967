// Divides two texts into passages that are shared, moved or different, with spans in the texts as written.
//
// Every word of a text is in exactly one passage of its side, and spans of a side do not overlap. text/matches.hpp
// defines which words are matched. An insertion that fits in several places ("a [b a] b" or "a b [a b]") is put
// next to the following differing passage, else at the beginning of a paragraph or a sentence.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "text/matches.hpp"
#include "text/words.hpp"

namespace neardup {

enum class How : uint8_t { shared, moved, differs };

// Describes a side of a passage that is not shared; for an empty side, the position where it would be.
enum Edge : uint8_t {
    begins_sentence = 1 << 0,
    ends_sentence = 1 << 1,
    begins_paragraph = 1 << 2,
    ends_paragraph = 1 << 3,
    only_numbers = 1 << 4,  // every word begins with a digit or is a word of dates; never set for an empty side
};

struct Side {
    uint32_t begin, end;  // byte positions in the text
    uint32_t words;
    uint8_t edges;
};
struct Passage {
    How how;
    Side a, b;
};

// A text divided into words.
struct CutText {
    const uint8_t *text = nullptr;
    size_t size = 0;
    std::vector<uint64_t> words;
    std::vector<Place> places;
    int8_t blank_lines = -1;  // −1: not known yet

    WordRun run() const { return {words.data(), static_cast<uint32_t>(words.size())}; }
    // Whether a paragraph or a sentence begins before the word; always true for the first word and after the last.
    bool paragraph_at(size_t word);
    bool sentence_at(size_t word);
    uint8_t edges_at(size_t word);  // begins_sentence and begins_paragraph
};

// Holds scratch memory; each thread needs its own. `numbers` is a map that drops the words which count as numbers.
class Aligner {
  public:
    Aligner(const TextOptions &options, const WordMap *map, const WordMap *numbers, bool by_chance);

    // For texts of less than 2^32 bytes.
    void cut(const uint8_t *text, size_t size, CutText &out);

    // Appends the passages; returns whether all gaps were aligned exactly.
    bool align(CutText &a, CutText &b, std::vector<Passage> &out);

  private:
    struct Range {
        uint32_t begin, end;
    };
    struct Stretch {
        How how;
        Range a, b;
    };

    void slide_all(CutText &a, CutText &b);
    void slide(CutText &a, CutText &b, Block &before, Block &after);
    void lay_out(const CutText &a, const CutText &b);
    void lay_out_gap(Range a, Range b);
    uint8_t edges(CutText &text, Range words) const;
    template <Range Stretch::*range, Side Passage::*side>
    void place(CutText &text, Passage *out);

    Tokenizer tokenizer_;
    const WordMap *numbers_;
    bool by_chance_;
    Matcher matcher_;
    std::vector<Block> shared_, moved_, moved_by_b_;
    size_t next_moved_ = 0, next_moved_by_b_ = 0;
    std::vector<Range> left_;  // words of b in a gap that have not moved
    std::vector<Stretch> stretches_;
    std::vector<uint32_t> order_;
};

}  // namespace neardup
