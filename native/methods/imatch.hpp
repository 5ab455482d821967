// I-Match signatures (Chowdhury et al. 2002), also with randomised lexicons (Kołcz et al. 2004).
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

struct ImatchSettings {
    uint32_t lexicons = 0;   // beside the whole one
    uint64_t dropped = 0;    // a term is left out of one of them where its hash falls below this
    uint64_t seed = 0;
    uint32_t min_terms = 1;
};

// `ranks`: the terms of each document that are in the lexicon, sorted; `hashes`: of each term of the
// table, by rank. Gives lexicons + 1 signatures of two numbers a document: SHA-1 of the number of the
// lexicon and the ranks that are in it. Where dropping leaves fewer than `min_terms`, nothing is
// dropped, for few terms would make unlike documents equal; the number of the lexicon says so.
void imatch_signatures(const uint32_t *ranks, const int64_t *offsets, size_t documents, const uint64_t *hashes,
                       const ImatchSettings &settings, std::vector<uint64_t> &out);

}  // namespace neardup
