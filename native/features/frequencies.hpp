// Counts the documents that have each feature, in slots selected by the low bits of the feature; sets have no repeats.
#pragma once
#include <cstddef>
#include <cstdint>

namespace neardup {

// `slots` is a power of two. Counts stop at their largest value, so the order of counting does not matter.
// Memory bounds the speed: a table that distinguishes rare features is larger than any cache.
inline void count_documents(const uint32_t *features, size_t size, uint16_t *counts, size_t slots) {
    for (size_t i = 0; i < size; ++i) {
        uint16_t &count = counts[features[i] & (slots - 1)];
        count = static_cast<uint16_t>(count + (count != UINT16_MAX));
    }
}

}  // namespace neardup
