// The window index of DDD (Montanari & Puglisi): per slot, for each q-gram, which documents have it; a new
// document is compared with all documents of all slots at once. Exact: |A∩B| / max(|A|, |B|) in integers.
//
// A partner B above the threshold t shares T = ⌈t·max(|A|, |B|)⌉ grams or more, so it has at least c of any
// |A| − T + c grams of A. These are the rarest of A, by rough counts over the window; c is chosen beyond what
// unlike documents have of them by chance. Their lists are counted for all documents (vertical_counts.hpp); who
// has c or more is looked up in the lists of the other grams, until it is clear that too few are left. The order
// and c change the cost, never the answer.
//
// When another slot gets a document, the slot before it is sealed: its documents are put in the order of their
// sizes. Then lines of documents that are too long or too short are not read, and long ones, which must share
// more, are counted in fewer lists.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "online/gram_lists.hpp"
#include "online/vertical_counts.hpp"

namespace neardup {

// Which grams of a document are not looked up: those in more than `common` of the documents of the window,
// taken for shared, and those in fewer than `rare` of them, taken for not shared.
struct Clipping {
    double common = 1, rare = 0;
};

struct Overlaps {
    std::vector<int64_t> documents, shared, sizes;
    size_t clipped_common = 0, clipped_rare = 0;
    size_t candidates = 0;  // documents that were looked up alone
};

struct WindowMemory {
    size_t documents = 0, grams = 0, postings = 0;  // grams: one for each slot and part of it that has it
    size_t tables = 0, lists = 0, rest = 0;         // bytes
};

class BitmapWindow {
  public:
    BitmapWindow(size_t slots, Clipping clipping);

    // Distinct grams. The document is its slot, in the upper half, and its number in the slot.
    int64_t add(size_t slot, const uint32_t *grams, size_t size);

    // False where there is no such document. Its memory comes back with that of its slot.
    bool remove(int64_t document);
    void drop(size_t slot);

    // All documents with |A∩B|·den ≥ num·max(|A|, |B|), in rising order.
    void overlaps(const uint32_t *grams, size_t size, uint64_t num, uint64_t den, Overlaps &out);

    // What the documents of a slot have, by their numbers in it; nothing of a removed one.
    void sets(size_t slot, std::vector<uint32_t> &grams, std::vector<int64_t> &offsets) const;

    size_t slots() const { return slots_.size(); }
    size_t documents(size_t slot) const { return slots_[slot].documents; }
    WindowMemory memory() const;

  private:
    struct Segment {
        GramLists lists;
        std::vector<uint32_t> sizes;     // by column
        std::vector<bool> removed;       // by column
        std::vector<uint16_t> numbers;   // column → number of the document; empty: they are the same
        uint32_t shortest = UINT32_MAX, longest = 0;
    };
    struct Slot {
        std::vector<Segment> segments;
        std::vector<int64_t> begins;  // number of the first document of a segment
        size_t added = 0, documents = 0;
    };
    struct Candidate {
        uint32_t column;
        uint64_t count, needed;
    };
    struct Query {
        uint64_t size, num, den, taken;  // taken: grams for shared without looking

        uint64_t needed(uint64_t other) const;  // beside the taken ones
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
    size_t documents_ = 0, last_ = 0;    // added and not dropped; the slot of the last one
    std::vector<uint32_t> frequencies_;  // of grams, several together

    // Scratch of one query.
    std::vector<uint32_t> ordered_;  // grams, rarest first
    std::vector<double> chances_;    // what a document has on average of the first so many
    std::vector<uint16_t> classes_;
    std::vector<std::pair<const Segment *, int64_t>> segments_;  // with the first document of each
    std::vector<const GramList *> found_;
    std::vector<std::vector<const uint64_t *>> bitmaps_;  // by their lines
    std::vector<uint32_t> listed_;                        // how often each column was in a list
    std::vector<Reached> reached_;
    std::vector<Candidate> candidates_, passed_;
    size_t looked_up_ = 0;
    VerticalCounts vertical_;
};

}  // namespace neardup
