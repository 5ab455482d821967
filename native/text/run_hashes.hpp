// The hashes of runs that are words, as Edges found them: `padded_word_hash` of each.
//
// With AVX-512 eight at a time, some 1.5 ns a word; a 64×64→128 product is then put together from four
// of 32×32→64, which is cheap enough because all else (loads, masks, mixing) is shared by eight words.
#pragma once
#include <cstddef>
#include <cstdint>

#include "hash.hpp"

namespace neardup {

// So many are hashed, and added to a digest, at a time.
inline constexpr size_t kHashedTogether = 8;

// `edges` are begin and end of each run, in turn, counted from `base`; 16 bytes must be readable from
// each begin. Returns the end of what was written.
uint64_t *hash_runs(const uint8_t *base, const uint16_t *edges, size_t runs, uint64_t *out);

// The same, and for every eight runs eight hashes from `pending`, which is `out` or before it, are added to the
// digest: its long chain of multiplications goes on while the next runs are hashed. The digest must have taken
// an even number.
uint64_t *hash_runs(const uint8_t *base, const uint16_t *edges, size_t runs, uint64_t *out, SequenceDigest &digest,
                    const uint64_t *pending);

}  // namespace neardup
