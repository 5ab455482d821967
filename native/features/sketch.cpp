#include "features/sketch.hpp"

#include <algorithm>
#include <cstring>

#include "features/minhash.hpp"
#include "features/shingles.hpp"
#include "simd.hpp"

namespace neardup {
namespace {

// x mod p for x ≤ p(p−1), as a number or in lanes: 2³² ≡ 5, so the upper half counts five times. Twice leaves less
// than 2³² + 25.
template <typename V>
NEARDUP_INLINE void fold_prime(V &x) {
    for (int twice = 0; twice < 2; ++twice) {
        const V high = x >> 32;
        x = (high << 2) + high + (x & 0xffffffffu);  // vectors of 64 bits shift faster than they multiply
    }
}

// Count registers of values stay in registers over the whole set. Folded values are far below 2⁶³, so they are
// compared with their signs: that is one instruction in more levels.
template <Instructions Level, size_t Count>
NEARDUP_INLINE void classic_block(const uint64_t *hashes, size_t count, const uint32_t *multipliers,
                                  const uint32_t *addends, uint32_t *minima) {
    using Lanes = typename LanesOf<uint64_t, Level>::type;
    using Signed = typename LanesOf<int64_t, Level>::type;
    constexpr size_t lanes = LanesOf<uint64_t, Level>::count;
    constexpr auto prime = static_cast<int64_t>(kClassicPrime);
    Lanes a[Count], b[Count];
    Signed least[Count];
    for (size_t i = 0; i < Count; ++i) {
        a[i] = b[i] = Lanes{};
        least[i] = Signed{} + 0xffffffff;
        for (size_t k = 0; k < lanes; ++k) {
            a[i][k] = multipliers[i * lanes + k];
            b[i][k] = addends[i * lanes + k];
        }
    }
    for (size_t f = 0; f < count; ++f) {
        const uint64_t x = (hashes[f] >> 32) % kClassicPrime;
        for (size_t i = 0; i < Count; ++i) {
            Lanes folded = a[i] * (Lanes{} + x) + b[i];
            fold_prime(folded);
            Signed h = reinterpret_cast<Signed>(folded);
            h = h >= prime ? h - prime : h;
            least[i] = h < least[i] ? h : least[i];
        }
    }
    for (size_t i = 0; i < Count; ++i)
        for (size_t k = 0; k < lanes; ++k) minima[i * lanes + k] = static_cast<uint32_t>(least[i][k]);
}

// Without instructions that compare or multiply lanes of 64 bits, numbers are faster one by one.
NEARDUP_INLINE void classic_numbers(const uint64_t *hashes, size_t count, const Family &family, uint32_t *minima) {
    const size_t m = family.multipliers.size();
    std::fill_n(minima, m, 0xffffffffu);
    for (size_t f = 0; f < count; ++f) {
        const uint64_t x = (hashes[f] >> 32) % kClassicPrime;
        for (size_t i = 0; i < m; ++i) {
            uint64_t h = family.multipliers[i] * x + family.addends[i];
            fold_prime(h);
            h = h >= kClassicPrime ? h - kClassicPrime : h;
            minima[i] = std::min(minima[i], static_cast<uint32_t>(h));
        }
    }
}

template <Instructions Level>
NEARDUP_INLINE void classic_minhash_on(const uint64_t *hashes, size_t count, const Family &family, uint32_t *minima) {
    if constexpr (Level == Instructions::portable) return classic_numbers(hashes, count, family, minima);
    constexpr size_t step = 4 * LanesOf<uint64_t, Level>::count;
    const uint32_t *a = family.multipliers.data(), *b = family.addends.data();
    const size_t m = family.multipliers.size();
    size_t i = 0;
    for (; i + step <= m; i += step) classic_block<Level, 4>(hashes, count, a + i, b + i, minima + i);
    for (; i < m; i += step / 2) classic_block<Level, 2>(hashes, count, a + i, b + i, minima + i);
}

class Shingler {
  public:
    explicit Shingler(const Documents &documents) : documents_(documents) {}

    const std::vector<uint64_t> &hashes(size_t d) {
        const auto begin = documents_.offsets[d], end = documents_.offsets[d + 1];
        shingle_hashes(documents_.words + begin, static_cast<size_t>(end - begin), documents_.width, hashes_);
        const auto &ignored = documents_.ignored;
        if (!ignored.empty())
            std::erase_if(hashes_,
                          [&](uint64_t hash) { return std::binary_search(ignored.begin(), ignored.end(), hash); });
        return hashes_;
    }

  private:
    const Documents &documents_;
    std::vector<uint64_t> hashes_;
};

template <typename T>
int64_t merged(const T *p, const T *p_end, const T *q, const T *q_end) {
    int64_t count = 0;
    while (p < p_end && q < q_end) {
        const T x = *p, y = *q;
        count += x == y;
        p += x <= y;
        q += y <= x;
    }
    return count;
}

}  // namespace

NEARDUP_EACH_LEVEL(void, classic_minhash,
                   (const uint64_t *hashes, size_t count, const Family &family, uint32_t *minima),
                   (hashes, count, family, minima))

void sketch_minima(const Documents &documents, const Family &family, size_t values, std::vector<uint32_t> &minima,
                   std::vector<int64_t> &shingles) {
    Shingler shingler(documents);
    std::vector<uint32_t> padded(family.multipliers.size());
    minima.reserve(documents.count * values);
    shingles.reserve(documents.count);
    for (size_t d = 0; d < documents.count; ++d) {
        const auto &hashes = shingler.hashes(d);
        if (family.addends.empty())
            minhash(hashes.data(), hashes.size(), family.multipliers.data(), padded.size(), padded.data());
        else
            classic_minhash(hashes.data(), hashes.size(), family, padded.data());
        minima.insert(minima.end(), padded.begin(), padded.begin() + static_cast<ptrdiff_t>(values));
        shingles.push_back(static_cast<int64_t>(hashes.size()));
    }
}

void sample_features(const Documents &documents, uint32_t modulus, size_t limit, std::vector<uint32_t> &features,
                     std::vector<int64_t> &ends) {
    Shingler shingler(documents);
    std::vector<uint64_t> chosen;
    std::vector<uint32_t> set, counts;
    for (size_t d = 0; d < documents.count; ++d) {
        chosen.clear();
        for (uint64_t hash : shingler.hashes(d))
            if (static_cast<uint32_t>(hash >> 32) % modulus == 0) chosen.push_back(hash);
        feature_set(chosen, set, counts);
        const size_t size = limit ? std::min(limit, set.size()) : set.size();
        features.insert(features.end(), set.begin(), set.begin() + static_cast<ptrdiff_t>(size));
        ends.push_back(static_cast<int64_t>(features.size()));
    }
}

namespace {

template <Instructions>
NEARDUP_INLINE void equal_places_on(const uint32_t *values, const int64_t *offsets, const int64_t *a, const int64_t *b, size_t pairs,
                  int64_t *counts) {
    for (size_t i = 0; i < pairs; ++i) {
        const uint32_t *p = values + offsets[a[i]], *q = values + offsets[b[i]];
        const int64_t size = offsets[a[i] + 1] - offsets[a[i]];
        uint32_t count = 0;
        if (size == offsets[b[i] + 1] - offsets[b[i]])
            for (int64_t k = 0; k < size; ++k) count += p[k] == q[k];
        counts[i] = count;
    }
}

}  // namespace

NEARDUP_EACH_LEVEL(void, equal_places,
                   (const uint32_t *values, const int64_t *offsets, const int64_t *a, const int64_t *b, size_t pairs,
                    int64_t *counts),
                   (values, offsets, a, b, pairs, counts))

void bottom_overlaps(const uint32_t *values, const int64_t *offsets, const int64_t *a, const int64_t *b, size_t limit,
                     size_t pairs, int64_t *shared, int64_t *whole) {
    for (size_t i = 0; i < pairs; ++i) {
        const uint32_t *p = values + offsets[a[i]], *p_end = values + offsets[a[i] + 1];
        const uint32_t *q = values + offsets[b[i]], *q_end = values + offsets[b[i] + 1];
        const auto most = static_cast<int64_t>(limit), size_p = p_end - p, size_q = q_end - q;
        if (size_p < most && size_q < most) {
            shared[i] = merged(p, p_end, q, q_end);
            whole[i] = size_p + size_q - shared[i];
            continue;
        }
        // One is cut, so the union has at least `limit` values; one list may end before they are reached.
        int64_t seen = 0, both = 0;
        while (seen < most && p < p_end && q < q_end) {
            const uint32_t x = *p, y = *q;
            both += x == y;
            p += x <= y;
            q += y <= x;
            ++seen;
        }
        shared[i] = both;
        whole[i] = most;
    }
}

void common_values(const uint64_t *values, const int64_t *offsets, const int64_t *a, const int64_t *b, size_t pairs,
                   int64_t *counts) {
    for (size_t i = 0; i < pairs; ++i)
        counts[i] = merged(values + offsets[a[i]], values + offsets[a[i] + 1], values + offsets[b[i]],
                           values + offsets[b[i] + 1]);
}

}  // namespace neardup
