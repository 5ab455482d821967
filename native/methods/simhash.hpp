// SimHash (Charikar 2002; Manku et al. 2007): per bit, features vote with their weight; the bit is 1
// iff the sum of ±weight is above 0.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "features/terms.hpp"
#include "text/words.hpp"

namespace neardup {

struct SimhashSettings {
    uint32_t width = 1;       // words that make a feature
    uint32_t lanes = 1;       // 64-bit words a fingerprint
    bool distinct = false;    // each feature votes once, however often it occurs
    uint32_t min_words = 15;  // digests that stand for shorter documents are made for those only
};

struct SimhashBatch {
    std::vector<uint64_t> fingerprints;                  // `lanes` a document
    std::vector<uint32_t> words;                         // one a document
    std::vector<uint64_t> text_digests, normal_digests;  // one a document
    std::vector<uint64_t> short_digests;                 // two a document; 0 where it is not short
};

// All features weigh the same. With AVX-512 some 4 ns a word: half of it hashing words and digesting the
// hashes, a quarter normalising and finding words, the rest votes and the digest of the text.
void prepare_simhash(const uint8_t *values, const int64_t *offsets, size_t documents, const TextOptions &text,
                     const WordMap *map, const SimhashSettings &settings, SimhashBatch &out);

// The sums alone, 64 · lanes a document, for weights of terms (by rank in `table`; what it does not know
// weighs `unknown`) and for sums over several fields. Without a table every feature weighs 1.
void simhash_sums(const uint8_t *values, const int64_t *offsets, size_t documents, const TextOptions &text,
                  const WordMap *map, const SimhashSettings &settings, const TermTable *table,
                  std::span<const uint32_t> weights, uint32_t unknown, int64_t *sums);

}  // namespace neardup
