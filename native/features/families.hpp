// Walks the families of one profile (features/profiles.hpp).
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace neardup {

struct Entries {
    const uint64_t *begin, *end;
    int64_t size() const { return end - begin; }
};

class Families {
  public:
    Families(const uint64_t *row, int64_t size, size_t families) : counts_(row), next_(row) {
        const auto head = static_cast<int64_t>(families);
        uint64_t entries = 0;
        for (size_t f = 0; size >= head && f < families; ++f) entries += std::min(row[f], static_cast<uint64_t>(size));
        whole_ = size >= head && entries == static_cast<uint64_t>(size - head);
        if (whole_) next_ = row + head;
    }

    // Must be called for the families in order, from the first.
    Entries take(size_t family) {
        const uint64_t *begin = next_;
        if (whole_) next_ += counts_[family];
        return {begin, next_};
    }

  private:
    const uint64_t *counts_, *next_;
    bool whole_;
};

inline Families families_of(const uint64_t *values, const int64_t *offsets, int64_t document, size_t families) {
    return {values + offsets[document], offsets[document + 1] - offsets[document], families};
}

}  // namespace neardup
