#include "methods/termvector.hpp"

#include <algorithm>

#include "hash.hpp"

namespace neardup {
namespace {

bool comparable(const uint32_t *a, const uint32_t *b, const VectorTests &tests) {
    const int64_t apart = int64_t{a[0]} - int64_t{b[0]};
    if (tests.days >= 0 && a[0] && b[0] && std::max(apart, -apart) > tests.days) return false;
    const auto [shorter, longer] = std::minmax(a[1], b[1]);
    return shorter * tests.length_den >= tests.length_num * longer;
}

int64_t count(const uint32_t *a, const uint32_t *a_end, const uint32_t *b, const uint32_t *b_end, int64_t needed) {
    int64_t common = 0;
    while (a < a_end && b < b_end) {
        if (common + std::min(a_end - a, b_end - b) < needed) break;
        common += *a == *b;
        const uint32_t x = *a, y = *b;
        a += x <= y;
        b += y <= x;
    }
    return common;
}

}  // namespace

void term_vectors(const uint32_t *ranks, const int64_t *offsets, const uint32_t *days, const uint32_t *tokens,
                  size_t documents, uint32_t size, std::vector<uint32_t> &values, std::vector<int64_t> &ends) {
    for (size_t d = 0; d < documents; ++d) {
        values.push_back(days[d]);
        values.push_back(tokens[d]);
        const int64_t end = std::min(offsets[d + 1], offsets[d] + int64_t{size});
        values.insert(values.end(), ranks + offsets[d], ranks + end);
        ends.push_back(static_cast<int64_t>(values.size()));
    }
}

void vector_keys(const uint32_t *values, const int64_t *offsets, const int64_t *sizes, size_t documents, bool paired,
                 uint64_t part, uint64_t parts, std::vector<uint64_t> &keys, std::vector<int64_t> &ends) {
    for (size_t d = 0; d < documents; ++d) {
        const uint32_t *terms = values + offsets[d] + kVectorHead;
        const int64_t size = std::min(sizes[d], offsets[d + 1] - offsets[d] - kVectorHead);
        const auto add = [&](uint64_t one, uint64_t other) {
            const uint64_t key = scramble((one << 32 | other) ^ kSecret[1]);
            if (key % parts == part) keys.push_back(key);
        };
        for (int64_t i = 0; i < size; ++i) {
            if (!paired) add(0, terms[i]);
            for (int64_t j = i + 1; paired && j < size; ++j) add(terms[i], terms[j]);
        }
        ends.push_back(static_cast<int64_t>(keys.size()));
    }
}

void common_terms(const uint32_t *values, const int64_t *offsets, const int64_t *a, const int64_t *b, size_t pairs,
                  const VectorTests &tests, int64_t *common, int64_t *needed) {
    for (size_t i = 0; i < pairs; ++i) {
        const uint32_t *p = values + offsets[a[i]], *p_end = values + offsets[a[i] + 1];
        const uint32_t *q = values + offsets[b[i]], *q_end = values + offsets[b[i] + 1];
        const auto larger = static_cast<uint64_t>(std::max(p_end - p, q_end - q) - kVectorHead);
        needed[i] = static_cast<int64_t>((larger * tests.shared_num + tests.shared_den - 1) / tests.shared_den);
        common[i] = comparable(p, q, tests) ? count(p + kVectorHead, p_end, q + kVectorHead, q_end, needed[i]) : -1;
    }
}

}  // namespace neardup
