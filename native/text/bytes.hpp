// Little-endian loads on any machine.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>

#include "simd.hpp"

namespace neardup {

NEARDUP_INLINE uint64_t load64_le(const uint8_t *p) {
    uint64_t v;
    std::memcpy(&v, p, sizeof v);
    if constexpr (std::endian::native == std::endian::big) {
        v = (v & 0x00FF00FF00FF00FFull) << 8 | (v >> 8 & 0x00FF00FF00FF00FFull);
        v = (v & 0x0000FFFF0000FFFFull) << 16 | (v >> 16 & 0x0000FFFF0000FFFFull);
        v = v << 32 | v >> 32;
    }
    return v;
}

}  // namespace neardup
