// Where spans of words stand in their text, in bytes and in characters, and the whole units inside them.
//
// A unit (sentence, line, paragraph) belongs to a span if all its words do; the units of a text joined are the text,
// so what lies between two units of a span belongs to it, too.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "text/words.hpp"

namespace neardup {

enum class Unit : uint8_t { word, sentence, line, paragraph };

struct TextSpan {
    int64_t begin_byte, end_byte, begin, end;  // all -1 where no whole unit is inside
};

struct WordSpan {
    uint32_t begin, end;
};

// Holds scratch memory; each thread needs its own.
class UnitFinder {
  public:
    UnitFinder(const TextOptions &options, Unit unit) : tokenizer_(options), unit_(unit) {}

    // Appends one span of text for each span of words; these are sorted by their begin.
    void add(const uint8_t *text, size_t size, const WordSpan *spans, size_t count, std::vector<TextSpan> &out);

  private:
    void divide(const uint8_t *text, size_t size);
    bool snap(WordSpan span, size_t &begin, size_t &end) const;

    Tokenizer tokenizer_;
    Unit unit_;
    std::vector<uint64_t> hashes_;
    std::vector<Place> places_;
    std::vector<size_t> starts_;  // of units in the text, and its size
    std::vector<size_t> firsts_;  // the first word of each unit, and the number of words
};

}  // namespace neardup
