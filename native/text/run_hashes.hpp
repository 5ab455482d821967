// The hashes (`padded_word_hash`) of runs that Edges found, where every run is a word.
//
// With AVX-512, eight words are hashed at a time, in about 1.5 ns per word. A 64×64→128 product is then computed
// from four 32×32→64 products, which is cheap because eight words share all other work (loads, masks, mixing).
#pragma once
#include <cstddef>
#include <cstdint>

#include "hash.hpp"

namespace neardup {

// The number of runs that are hashed, and added to a digest, at a time.
inline constexpr size_t kHashedTogether = 8;

// `edges` are begin and end of each run, alternating, relative to `base`; 16 bytes must be readable from
// each begin. Returns the end of the output.
uint64_t *hash_runs(const uint8_t *base, const uint16_t *edges, size_t runs, uint64_t *out);

// The same; in addition, for every eight runs, eight hashes from `pending` (at or before `out`) are added to the
// digest, so that its long chain of multiplications proceeds while the next runs are hashed. The digest must have
// taken an even number of hashes before.
uint64_t *hash_runs(const uint8_t *base, const uint16_t *edges, size_t runs, uint64_t *out, SequenceDigest &digest,
                    const uint64_t *pending);

}  // namespace neardup
