// Counts the words that two texts have in the same order, and the longest run of them.
//
// The kernel reads one family of two profiles (features/profiles.hpp), whose sorted entries are feature << 32 |
// position, one per word. Words that occur once in each text are anchors, as in patience diff. The longest chain of
// anchors in the same order is chosen; of several, the one with the latest anchors. Equal words next to an anchor, to
// the beginning or to the end of both texts are aligned too.
//
// The cost is linear in the words and k·log k in the anchors. (a, b) and (b, a) give the same numbers.
#pragma once
#include <cstddef>
#include <cstdint>

namespace neardup {

struct AlignedWords {
    int64_t words_a, words_b;
    int64_t aligned;  // aligned words, the same number in both texts
    int64_t run;      // the longest run that both texts have without a gap
};

// `at` is the index of the family among the `families` of the profiles. A row that is not a profile, or whose entries
// are not positions, counts as a text without words.
void align_profiles(const uint64_t *values, const int64_t *offsets, size_t families, size_t at, const int64_t *a,
                    const int64_t *b, size_t pairs, AlignedWords *out);

}  // namespace neardup
