// Rarest-first prefixes of feature sets: the keys that tell apart documents of one template.
//
// Counts are bytes: exact to kExact, then growing with the logarithm, so that a table can have about
// as many slots as there are features and still fit. A slot may be shared by several features and so
// count too much, never too little: a slot that says 1 belongs to a feature of one document only,
// which cannot bring anyone together and makes no key. Anything else about the counts only decides
// an order, which has to be the same for all documents and need not be exact.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

// Adds 1 to the count of every feature; slots (a power of two) are found by the low bits.
void count_features(const uint32_t *features, size_t size, uint8_t *counts, size_t slots);

struct RareKeys {
    std::vector<uint64_t> keys;
    std::vector<int64_t> ends;
    std::vector<int32_t> probes;  // how many leading keys of a document look
};

// For each set the sizes[d] features of smallest (count, value), as keys that look; with `all`, the
// other features follow as keys to be found by. Only the keys of one of `parts` equal shares of the
// key space are made, so that all of them need never be held at once. Without counts (slots = 0) all
// are equally rare.
void rare_prefixes(const uint32_t *features, const int64_t *offsets, const int64_t *sizes, size_t documents,
                   const uint8_t *counts, size_t slots, bool all, uint64_t part, uint64_t parts, RareKeys &out);

// The same for weighted sets, whose entries are feature << 32 | weight, weights below 2²⁰: of each set
// the shortest head, by (count, feature), after which less than needed[d] of its mass is left, so that
// whoever shares that much mass shares a feature of the head. Mass is the weight or, `squared`, its square.
// Without counts (slots = 0) the order is heaviest first, each set's own: then two heads may miss each other
// (100, 99 and 99, 100), and only a head against a whole set loses nothing.
void rare_weighted_prefixes(const uint64_t *entries, const int64_t *offsets, const uint64_t *needed, size_t documents,
                            bool squared, const uint8_t *counts, size_t slots, uint64_t part, uint64_t parts,
                            RareKeys &out);

// The same by squared weight for short vectors, where single features bring too many together: a feature
// that more than `common` documents have is a key only together with another such.
//
// Proof, for vectors of length 1 and cosines of c or more. The head of x is so long that what is left, and
// the heaviest feature m of x beside it, have less than c² of its squared length. If y shares one feature f
// of the head at most, x·y ≤ √(x_f² + |left|²) < c. So they share two in the shorter of both heads (in one
// order for all, also in the other): a rare one is a key, of two common ones the pair is. Where m alone has c²
// the head is everything; who shares nothing but f with x has x_f·y_f ≥ c, so f has c² of both: then f is a key.
void rare_vector_pairs(const uint64_t *entries, const int64_t *offsets, const uint64_t *needed, size_t documents,
                       const uint8_t *counts, size_t slots, uint32_t common, uint64_t part, uint64_t parts,
                       RareKeys &out);

}  // namespace neardup
