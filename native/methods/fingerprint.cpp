#include "methods/fingerprint.hpp"

#include <algorithm>

#include "features/sha1.hpp"

namespace neardup {

void fingerprints(const uint32_t *ranks, const uint32_t *first, const int64_t *offsets, size_t documents, uint32_t size,
                  uint64_t bin, std::vector<uint64_t> &out) {
    out.assign(documents * 2, 0);
    for (size_t d = 0; d < documents; ++d) {
        const int64_t begin = offsets[d];
        if (offsets[d + 1] - begin < int64_t{size}) continue;
        const uint32_t base = *std::min_element(first + begin, first + begin + size);
        Sha1 sha;
        for (int64_t i = begin; i < begin + int64_t{size}; ++i) {
            sha.add(ranks[i]);
            sha.add(static_cast<uint32_t>(binned(first[i] - base, bin)));
        }
        const auto digest = sha.finish();
        std::copy(digest.begin(), digest.end(), out.begin() + static_cast<ptrdiff_t>(2 * d));
    }
}

}  // namespace neardup
