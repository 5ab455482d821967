// How many words two texts have in the same order, and the longest run of them.
//
// Reads one family of two profiles (features/profiles.hpp) whose entries are feature << 32 | position, one a
// word, sorted. Words that stand once in either text are anchors, as in patience diff; of these the longest
// chain is taken that both texts have in one order, of several the one of latest anchors. What is next to an
// anchor, to the beginning or to the end of both texts is aligned too as far as it is equal.
//
// Linear in the words, and k·log k in the anchors. The same numbers for (a, b) and (b, a).
#pragma once
#include <cstddef>
#include <cstdint>

namespace neardup {

struct AlignedWords {
    int64_t words_a, words_b;
    int64_t aligned;  // of either text
    int64_t run;      // the longest one that is the same in both without a gap
};

// `at`: the place of the family in profiles of so many families. A row that is no profile, or whose entries
// are no positions, counts as a text without words.
void align_profiles(const uint64_t *values, const int64_t *offsets, size_t families, size_t at, const int64_t *a,
                    const int64_t *b, size_t pairs, AlignedWords *out);

}  // namespace neardup
