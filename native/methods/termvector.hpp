// Term vectors: date, length and the rarest terms of a document (Conrad et al. 2003, §7).
//
// As evidence: a day (0: none is known), the number of tokens, then at most n ranks, rarest first.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

inline constexpr int64_t kVectorHead = 2;

// The first `size` of the sorted `ranks` of each document behind its day and length.
void term_vectors(const uint32_t *ranks, const int64_t *offsets, const uint32_t *days, const uint32_t *tokens,
                  size_t documents, uint32_t size, std::vector<uint32_t> &values, std::vector<int64_t> &ends);

// Of each vector the first sizes[d] terms, each as a key or, `paired`, every two of them as one; only
// those keys of one of `parts` equal shares of the key space.
void vector_keys(const uint32_t *values, const int64_t *offsets, const int64_t *sizes, size_t documents, bool paired,
                 uint64_t part, uint64_t parts, std::vector<uint64_t> &keys, std::vector<int64_t> &ends);

struct VectorTests {
    int64_t days = 42;                         // days may differ by so many; below 0: by any number
    uint64_t length_num = 4, length_den = 5;   // shorter / longer, at least
    uint64_t shared_num = 4, shared_den = 5;   // common terms / terms of the larger vector, at least
};

// Common terms of each pair, and how many are needed; −1 common where days or lengths forbid to
// compare. Rarest terms come first, so pairs that cannot pass are left after a few misses, with a
// count that is too low. Counts that suffice are exact: they choose the best of several.
void common_terms(const uint32_t *values, const int64_t *offsets, const int64_t *a, const int64_t *b, size_t pairs,
                  const VectorTests &tests, int64_t *common, int64_t *needed);

}  // namespace neardup
