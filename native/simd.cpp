#include "simd.hpp"

namespace neardup {

Instructions best_instructions() {
#if NEARDUP_X86
    __builtin_cpu_init();
    // The features that simd.hpp names in NEARDUP_SSE4, NEARDUP_AVX2 and NEARDUP_AVX512.
    const bool sse4 = __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("sse4.1") &&
                      __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
    const bool avx2 = sse4 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                      __builtin_cpu_supports("bmi2");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                        __builtin_cpu_supports("avx512vbmi2");
    if (avx512) return Instructions::avx512;
    if (avx2) return Instructions::avx2;
    if (sse4) return Instructions::sse4;
#endif
    return Instructions::portable;
}

}  // namespace neardup
