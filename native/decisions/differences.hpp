// How two texts differ, in numbers: what the rules of kinds (decisions/kinds.py) are applied to.
//
// The passages of an alignment say which words both texts have, in order or moved. Both sides of a differing passage,
// or the one that has words, are looked at as they were written, and its words are counted in one class: whether only
// numbers changed, or letters as a scanner misreads them, or where lines end; whether what one text alone has is page
// furniture, or stands at an end, is whole paragraphs or inside of them. A change that is made again and again counts
// once. Counts are of words; in scripts without spaces, of characters. tests/reference/differences.py is the twin.
// Bound: the alignment; most pairs have few differing passages.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "text/alignment.hpp"

namespace neardup {

// The classes of words that stand for others, then of those that one text alone has: first of a, then of b.
enum class DifferenceClass : uint8_t {
    replaced,
    numbers,
    misread,
    rebroken,
    furniture,
    cut,
    end_sentences,
    end_paragraphs,
    paragraphs,
    inside,
};
inline constexpr size_t kClassesOfBoth = 4, kClassesOfOne = 6, kDifferenceColumns = kClassesOfBoth + 2 * kClassesOfOne;

// Words that both texts have, of a; `verbatim` are those in long runs, `blocks` those in still longer ones, `longest`
// those of the longest run. `moved` are words in another order.
struct DifferenceMeasures {
    int64_t shared = 0, verbatim = 0, blocks = 0, longest = 0, moved = 0;
    bool differs = false;  // not all is shared in order
    std::array<int64_t, kDifferenceColumns> counts{};
};

// `passages` are those of Aligner::align for these texts; they are changed.
DifferenceMeasures measure_differences(const CutText &a, const CutText &b, std::vector<Passage> &passages);

}  // namespace neardup
