// The window index of DDD (Montanari & Puglisi): for each slot and q-gram, the documents that have it. A new document is
// compared with all documents of all slots at once. The result is exact: |A∩B| / max(|A|, |B|) in integers.
//
// A document B above the threshold t shares at least T = ⌈t·max(|A|, |B|)⌉ grams with A, so it has at least c of any
// |A| − T + c grams of A. The rarest grams of A are taken, by rough counts over the window, and c is greater than the
// number of them that different documents have by chance. These grams are counted for all documents
// (vertical_counts.hpp). A document with at least c of them is then searched in the lists of the other grams, until it
// is clear that too few remain. The order and c change the cost, never the result.
//
// When the next slot gets a document, the slot before it is sealed: its documents are sorted by size. Lines of documents
// that are too long or too short are then not read, and long documents, which must share more grams, are counted in
// fewer lists.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "online/gram_lists.hpp"
#include "online/vertical_counts.hpp"

namespace neardup {

// Grams of a document that are not searched: those in more than the share `common` of the documents of the window, which
// are assumed to be shared, and those in fewer than the share `rare`, which are assumed not to be shared.
struct Clipping {
    double common = 1, rare = 0;
};

struct Overlaps {
    std::vector<int64_t> documents, shared, sizes;
    size_t clipped_common = 0, clipped_rare = 0;
    size_t candidates = 0;  // documents that were searched one by one
};

struct WindowMemory {
    size_t documents = 0, grams = 0, postings = 0;  // grams: a gram counts once for each segment that has it
    size_t tables = 0, lists = 0, rest = 0;         // bytes
};

class BitmapWindow {
  public:
    BitmapWindow(size_t slots, Clipping clipping);

    // `grams` must be distinct. Returns the document: its slot in the upper half, its number in the slot in the lower.
    int64_t add(size_t slot, const uint32_t *grams, size_t size);

    // Returns false if there is no such document. Its memory is freed together with its slot.
    bool remove(int64_t document);
    void drop(size_t slot);

    // All documents with |A∩B|·den ≥ num·max(|A|, |B|), in ascending order.
    void overlaps(const uint32_t *grams, size_t size, uint64_t num, uint64_t den, Overlaps &out);

    // The grams of the documents of a slot, by their numbers in it; none for a removed document.
    void sets(size_t slot, std::vector<uint32_t> &grams, std::vector<int64_t> &offsets) const;

    size_t slots() const { return slots_.size(); }
    size_t documents(size_t slot) const { return slots_[slot].documents; }
    WindowMemory memory() const;

  private:
    struct Segment {
        GramLists lists;
        std::vector<uint32_t> sizes;     // by column
        std::vector<bool> removed;       // by column
        std::vector<uint16_t> numbers;   // column → number of the document; empty if they are the same
        uint32_t shortest = UINT32_MAX, longest = 0;
    };
    struct Slot {
        std::vector<Segment> segments;
        std::vector<int64_t> begins;  // number of the first document of each segment
        size_t added = 0, documents = 0;
    };
    struct Candidate {
        uint32_t column;
        uint64_t count, needed;
    };
    struct Query {
        uint64_t size, num, den, taken;  // taken: grams that are assumed to be shared

        uint64_t needed(uint64_t other) const;  // in addition to the taken grams
        bool fits(uint64_t other) const;
    };
    struct Lines {
        size_t first, last;
    };

    uint32_t &frequency(uint32_t gram) { return frequencies_[gram * 0x9e3779b1u >> (32 - kFrequencyBits)]; }
    Segment &open_segment(size_t slot);
    void seal(Segment &segment);
    void seal_last();
    void order(const uint32_t *grams, size_t size, Overlaps &out);
    void sum_chances();
    size_t prefix(uint64_t needed) const;
    void find_segments(const Query &query);
    void fetch_table(size_t number, size_t grams) const;
    void look(const Segment &segment, const Query &query);
    void look_sealed(const Segment &segment, const Query &query);
    void settle(const Segment &segment, const Query &query, Lines lines, size_t counted);
    void begin_count(size_t columns);
    void count(const GramLists &lists, size_t begin, size_t end, Lines lines);
    void count_listed(const GramLists &lists, Lines lines);
    void choose(const Segment &segment, const Query &query, Lines lines, size_t counted);
    void look_up(const GramLists &lists, size_t from);
    void give(const Segment &segment, int64_t first, const Query &query, Overlaps &out);

    static constexpr int kFrequencyBits = 18, kSlotShift = 32;

    std::vector<Slot> slots_;
    Clipping clipping_;
    size_t documents_ = 0, last_ = 0;    // documents that were not dropped; the slot of the last document
    std::vector<uint32_t> frequencies_;  // of grams; several grams share an entry

    // Scratch of one query.
    std::vector<uint32_t> ordered_;  // grams, rarest first
    std::vector<double> chances_;    // by n: how many of the first n grams a document has on average
    std::vector<uint16_t> classes_;
    std::vector<std::pair<const Segment *, int64_t>> segments_;  // with the first document of each
    std::vector<const GramList *> found_;
    std::vector<std::vector<const uint64_t *>> bitmaps_;  // by the number of their lines
    std::vector<uint32_t> listed_;                        // by column: the number of lists that contain it
    std::vector<Reached> reached_;
    std::vector<Candidate> candidates_, passed_;
    size_t looked_up_ = 0;
    VerticalCounts vertical_;
};

}  // namespace neardup
