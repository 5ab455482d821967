// Parity sketches ("odd sketches", Mitzenmacher, Pagh & Pham 2014): a bit says whether an odd number of
// features fall on it.
//
// The bits in which the sketches of A and B differ are those on which an odd number of A△B fall, so they
// are at most |A△B|, and |A∩B| ≤ (|A| + |B| − bits) / 2: a bound that is never wrong and, with more
// bits than features, seldom far off. Sketches are powers of two in size; folded in halves, a longer one
// is that of the same set with fewer bits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

struct ParitySketches {
    std::vector<uint64_t> words;
    std::vector<int64_t> offsets;  // sketch d is words[offsets[d] .. offsets[d+1])
};

// Appends the sketches of sets features[ends[d] .. ends[d+1]), of at least num/den bits a feature, up to 8 KB.
void parity_sketches(const uint32_t *features, const int64_t *ends, size_t documents, size_t num, size_t den,
                     ParitySketches &out);

// The number of bits in which two sketches differ, at the size of the smaller one; or any number greater than
// `most` once there are so many.
int64_t differing_bits(const uint64_t *a, size_t a_words, const uint64_t *b, size_t b_words, int64_t most);

}  // namespace neardup
