// Character properties from the committed tables (tools/make_unicode_tables.py), and UAX #15 on them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup::unicode {

// A mark belongs to the character before it; at the start of a run its own script decides.
enum Kind : uint8_t { separator, ordinary, spaceless, mark, spaceless_mark };

enum Flag : uint16_t {
    changes_folded = 1 << 0,  // NFKC_Casefold is not the character itself
    changes_kept = 1 << 1,    // NFKC without default-ignorables is not the character itself
    unsafe = 1 << 2,          // may compose or reorder with preceding characters (ccc ≠ 0 or NFC_QC = Maybe)
    digit = 1 << 3,           // Nd
    punctuation = 1 << 4,     // P
    nonspacing = 1 << 5,      // Mn
    alphabet = 1 << 6,        // a Latin, Greek or Cyrillic letter
    white = 1 << 7,           // White_Space
    strips = 1 << 8,          // decomposes canonically into an `alphabet` letter and marks
    composes = 1 << 9,        // NFC_QC = Maybe
    any_mark = 1 << 10,       // M
    joins = 1 << 11,          // composes with some following mark
};

struct Record {
    uint8_t ccc;
    uint8_t kind;
    uint16_t flags;
};
struct Mapping {
    uint16_t folded, kept;  // indices into mapping_pool: a length, then that many code points
};
struct Composition {
    uint32_t first, second, result;
};

inline constexpr uint32_t block_bits = 7;
extern const char unicode_version[];
extern const uint16_t record_blocks[], mapping_blocks[], mapping_cells[], compositions_by_result[];
extern const uint8_t record_cells[];
extern const Record records[];
extern const Mapping mappings[];
extern const uint32_t mapping_pool[];
extern const Composition compositions[];
extern const size_t composition_count;

inline size_t cell(const uint16_t *blocks, uint32_t cp) {
    return size_t{blocks[cp >> block_bits]} << block_bits | (cp & ((1u << block_bits) - 1));
}

inline const Record &record(uint32_t cp) { return records[record_cells[cell(record_blocks, cp)]]; }

// A run of such characters contains no word boundary.
inline bool is_wordlike(const Record &r) { return r.kind == ordinary || r.kind == mark; }
inline bool is_mark(const Record &r) { return r.flags & any_mark; }

// Only for characters with the flag changes_folded or changes_kept.
inline const uint32_t *mapped(uint32_t cp, bool fold) {
    const Mapping &m = mappings[mapping_cells[cell(mapping_blocks, cp)]];
    return mapping_pool + (fold ? m.folded : m.kept);
}

// The first character of the full canonical decomposition.
uint32_t base_of(uint32_t cp);

// Appends the full canonical decomposition.
void decompose(uint32_t cp, std::vector<uint32_t> &out);

// NFC of a run in place; `scratch` is overwritten.
void compose(std::vector<uint32_t> &points, std::vector<uint32_t> &scratch);

}  // namespace neardup::unicode
