#include "matching/rare.hpp"

#include <algorithm>

#include "hash.hpp"

namespace neardup {

void count_features(const uint32_t *features, size_t size, uint32_t *counts, size_t slots) {
    for (size_t i = 0; i < size; ++i) ++counts[features[i] & (slots - 1)];
}

void rare_prefixes(const uint32_t *features, const int64_t *offsets, const int64_t *sizes, size_t documents,
                   const uint32_t *counts, size_t slots, uint64_t part, uint64_t parts, std::vector<uint64_t> &keys,
                   std::vector<int64_t> &ends) {
    std::vector<uint64_t> order;  // count above, feature below
    for (size_t d = 0; d < documents; ++d) {
        order.clear();
        for (int64_t i = offsets[d]; i < offsets[d + 1]; ++i)
            order.push_back(uint64_t{counts[features[i] & (slots - 1)]} << 32 | features[i]);
        const auto size = static_cast<ptrdiff_t>(std::min<int64_t>(sizes[d], static_cast<int64_t>(order.size())));
        std::nth_element(order.begin(), order.begin() + std::max<ptrdiff_t>(size - 1, 0), order.end());
        for (ptrdiff_t i = 0; i < size; ++i) {
            const uint64_t key = scramble((order[static_cast<size_t>(i)] & 0xffffffffu) ^ kSecret[1]);
            if (key % parts == part) keys.push_back(key);
        }
        ends.push_back(static_cast<int64_t>(keys.size()));
    }
}

}  // namespace neardup
