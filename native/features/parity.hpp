// Parity sketches ("odd sketches", Mitzenmacher, Pagh & Pham 2014): a bit is set if an odd number of features are
// mapped to it.
//
// The sketches of A and B differ in the bits to which an odd number of features of A△B are mapped, so in at most
// |A△B| bits. Hence |A∩B| ≤ (|A| + |B| − bits) / 2. This bound always holds and, with more bits than features, is
// seldom far off. The size of a sketch is a power of two; folding a sketch in half gives the sketch of the same set
// with half as many bits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

struct ParitySketches {
    std::vector<uint64_t> words;
    std::vector<int64_t> offsets;  // sketch d is words[offsets[d] .. offsets[d+1])
};

// Appends the sketches of sets features[ends[d] .. ends[d+1]), with at least num/den bits per feature, up to 8 KB.
void parity_sketches(const uint32_t *features, const int64_t *ends, size_t documents, size_t num, size_t den,
                     ParitySketches &out);

// The number of bits in which two sketches differ, at the size of the smaller one; any number above `most` if it
// exceeds `most`.
int64_t differing_bits(const uint64_t *a, size_t a_words, const uint64_t *b, size_t b_words, int64_t most);

}  // namespace neardup
