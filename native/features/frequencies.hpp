// How many documents hold each feature, by the low bits of the feature; sets have no repeats.
#pragma once
#include <cstddef>
#include <cstdint>

namespace neardup {

// `slots` is a power of two.
inline void count_documents(const uint32_t *features, size_t size, uint32_t *counts, size_t slots) {
    for (size_t i = 0; i < size; ++i) ++counts[features[i] & (slots - 1)];
}

}  // namespace neardup
