#include "simd.hpp"

#include <atomic>

namespace neardup {

namespace {

std::atomic<Instructions> in_use{best_instructions()};

}  // namespace

Instructions best_instructions() {
#if NEARDUP_X86
    __builtin_cpu_init();
    // As simd.hpp names them in NEARDUP_AVX2 and NEARDUP_AVX512.
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                      __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                        __builtin_cpu_supports("avx512vbmi2");
    return avx2 && avx512 ? Instructions::avx512 : avx2 ? Instructions::avx2 : Instructions::portable;
#else
    return Instructions::portable;
#endif
}

Instructions instructions() { return in_use.load(std::memory_order_relaxed); }

void use_instructions(Instructions wanted) { in_use.store(wanted, std::memory_order_relaxed); }

}  // namespace neardup
