#include "features/byte_kinds.hpp"

#include <algorithm>
#include <array>

namespace neardup {
namespace {

constexpr ptrdiff_t kMost = 65535;  // bytes that a counter can count
constexpr int kBits = 16;

}  // namespace

void byte_kinds(const uint8_t *values, const int64_t *offsets, size_t texts, const uint8_t *kinds, int64_t *out) {
    std::array<uint64_t, 256> ones{};
    for (size_t byte = 0; byte < ones.size(); ++byte)
        if (kinds[byte] > 0) ones[byte] = uint64_t{1} << kBits * (kinds[byte] - 1);
    for (size_t i = 0; i < texts; ++i, out += kByteKinds) {
        std::fill_n(out, kByteKinds, 0);
        const uint8_t *p = values + offsets[i], *const end = values + offsets[i + 1];
        while (p < end) {
            uint64_t counts = 0;
            for (const uint8_t *const stop = p + std::min(end - p, kMost); p < stop; ++p) counts += ones[*p];
            for (size_t kind = 0; kind < kByteKinds; ++kind)
                out[kind] += static_cast<int64_t>(counts >> kBits * kind & kMost);
        }
    }
}

}  // namespace neardup
