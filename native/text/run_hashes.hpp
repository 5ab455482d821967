// The hashes of runs that are words, as Edges found them: `padded_word_hash` of each.
//
// With AVX-512 eight at a time, some 1.5 ns a word; a 64×64→128 product is then put together from four
// of 32×32→64, which is cheap enough because all else (loads, masks, mixing) is shared by eight words.
#pragma once
#include <cstddef>
#include <cstdint>

namespace neardup {

// `edges` are begin and end of each run, in turn, counted from `base`; 16 bytes must be readable from
// each begin. Returns the end of what was written.
uint64_t *hash_runs(const uint8_t *base, const uint16_t *edges, size_t runs, uint64_t *out);

}  // namespace neardup
