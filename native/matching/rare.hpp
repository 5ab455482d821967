// Rarest-first prefixes of feature sets: keys that separate documents of one template.
//
// Counts are bytes: exact up to kExact, then logarithmic, so that a table with about as many slots as features fits into
// memory. Several features may share a slot, whose count is then too high, but never too low. A slot with count 1 thus
// belongs to a unique feature, which cannot be shared and is not a key. Otherwise counts only determine an order, which
// must be the same for all documents and need not be exact.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

// Adds 1 to the count of every feature; the low bits select one of `slots` slots (a power of two).
void count_features(const uint32_t *features, size_t size, uint8_t *counts, size_t slots);

struct RareKeys {
    std::vector<uint64_t> keys;
    std::vector<int64_t> ends;
    std::vector<int32_t> probes;  // the number of leading keys of a document that are probes
};

// For each set the sizes[d] features of smallest (count, value), as probes; with `all`, the other features follow as
// keys by which the document can be found. Only keys of one of `parts` equal parts of the key space are produced, so
// that they need not all be in memory at once. Without counts (slots = 0) all features are equally rare.
void rare_prefixes(const uint32_t *features, const int64_t *offsets, const int64_t *sizes, size_t documents,
                   const uint8_t *counts, size_t slots, bool all, uint64_t part, uint64_t parts, RareKeys &out);

// The same for weighted sets, whose entries are feature << 32 | weight with weights below 2²⁰. The keys of a set are the
// shortest head, by (count, feature), after which less than needed[d] of its mass remains; a set that shares that much
// mass shares a feature of the head. The mass is the weight or, with `squared`, its square. Without counts (slots = 0)
// the order of each set is heaviest first. Two heads may then miss each other (100, 99 and 99, 100), so a head must be
// searched in whole sets.
void rare_weighted_prefixes(const uint64_t *entries, const int64_t *offsets, const uint64_t *needed, size_t documents,
                            bool squared, const uint8_t *counts, size_t slots, uint64_t part, uint64_t parts,
                            RareKeys &out);

// The same by squared weight for short vectors, where too many share single features: a feature that more than `common`
// documents have is a key only together with another such feature.
//
// Proof, for vectors of length 1 and cosines of c or more. The head of x is so long that the remaining features and the
// heaviest feature m of x together have less than c² of its squared length. If y shares at most one feature f of the
// head, then x·y ≤ √(x_f² + |rest|²) < c. So x and y share two features of the shorter head and, because all sets have
// the same order, of the longer one: a rare feature is a key, and so is a pair of common ones. If m alone has c², the
// head is the whole set; if y shares only f with x, then x_f·y_f ≥ c, so f has c² of both, and f is a key.
void rare_vector_pairs(const uint64_t *entries, const int64_t *offsets, const uint64_t *needed, size_t documents,
                       const uint8_t *counts, size_t slots, uint32_t common, uint64_t part, uint64_t parts,
                       RareKeys &out);

}  // namespace neardup
