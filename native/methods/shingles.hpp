// The `shingles` method, fused: text → words → shingle set → MinHash → keys, one document at a time,
// everything between text and result in scratch that stays in cache.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "text/words.hpp"

namespace neardup {

enum class KeyScheme : uint8_t {
    bands,        // r MinHash values of each of b bands, hashed: LSH
    prefix,       // the first |A| − ⌈t·|A|⌉ + 1 features: complete for resemblance ≥ t
    containment,  // all features to be found by, the same prefix to look with: complete for c ≥ t
};

struct ShingleSettings {
    uint32_t width = 5;
    uint32_t min_words = 15;
    KeyScheme scheme = KeyScheme::bands;
    uint32_t bands = 0, rows = 0;
    std::span<const uint32_t> multipliers;  // padded to a multiple of 16
    uint64_t threshold_num = 4, threshold_den = 5;
    size_t piece_bytes = size_t{4} << 20;  // longer texts are worked through in pieces of about this
    std::span<const uint64_t> ignored;     // shingle hashes of boilerplate, sorted
};

// Column by column, one entry a document; ends[i] closes document i in the ragged columns.
struct ShingleBatch {
    std::vector<uint32_t> features;  // the evidence
    std::vector<uint64_t> keys;
    std::vector<int64_t> feature_ends, key_ends;
    std::vector<int32_t> probes;           // how many leading keys a document looks with
    std::vector<uint64_t> set_digests;     // two a document: equal sets, equal digests
    std::vector<uint64_t> text_digests;    // of the bytes
    std::vector<uint64_t> normal_digests;  // of the sequence of words, or of the bytes where there is none
    std::vector<uint8_t> too_short;
};

// A document of fewer than `min_words` words, or of nothing but boilerplate, cannot be compared by
// its shingles: its evidence is a 128-bit digest of its normal form, so only equal ones meet.
void prepare_shingles(const uint8_t *values, const int64_t *offsets, size_t documents, const TextOptions &text,
                      const WordMap *map, const ShingleSettings &settings, ShingleBatch &out);

// The same for documents that come one by one: scratch and settings stay. Not for two threads at once;
// what the settings point to must outlive it.
class ShingleReader {
  public:
    ShingleReader(const TextOptions &text, const WordMap *map, const ShingleSettings &settings);
    ~ShingleReader();
    // Valid until the next call.
    const ShingleBatch &read(const uint8_t *text, size_t size);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

// MinHash values alone: `multipliers.size()` a document.
void shingle_signatures(const uint8_t *values, const int64_t *offsets, size_t documents, const TextOptions &text,
                        const WordMap *map, uint32_t width, std::span<const uint64_t> ignored,
                        std::span<const uint32_t> multipliers, std::vector<uint32_t> &out);

}  // namespace neardup
