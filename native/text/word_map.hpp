// Maps word hashes to word hashes while words are hashed: stop words to 0, which drops them, and words to their stems.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

class WordMap {
  public:
    static constexpr uint64_t drop = 0;

    // If `from` contains a hash twice, the first entry holds.
    WordMap(const uint64_t *from, const uint64_t *to, size_t size)
        : mask_(std::bit_ceil(size * 2 + 2) - 1), slots_(mask_ + 1) {
        for (size_t i = 0; i < size; ++i) {
            Slot &slot = slots_[place(from[i])];
            if (slot.from == 0 && from[i] != 0) {
                slot = {from[i], to[i]};
                ++size_;
            }
        }
    }

    size_t size() const { return size_; }

    // A word that is not in the map stays as it is.
    uint64_t operator()(uint64_t word) const {
        const Slot &slot = slots_[place(word)];
        return slot.from == word ? slot.to : word;
    }

  private:
    struct Slot {
        uint64_t from = 0, to = 0;  // from = 0: empty; no word has that hash
    };

    size_t place(uint64_t word) const {
        size_t at = word & mask_;
        while (slots_[at].from != word && slots_[at].from != 0) at = (at + 1) & mask_;
        return at;
    }

    size_t mask_, size_ = 0;
    std::vector<Slot> slots_;
};

}  // namespace neardup
