#include "simd.hpp"

#include <atomic>

namespace neardup {

namespace {

std::atomic<Instructions> in_use{best_instructions()};

}  // namespace

Instructions best_instructions() {
#if NEARDUP_X86
    __builtin_cpu_init();
    const bool bits = __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    if (!bits || !__builtin_cpu_supports("avx2")) return Instructions::portable;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi2"))
        return Instructions::avx512;
    return Instructions::avx2;
#else
    return Instructions::portable;
#endif
}

Instructions instructions() { return in_use.load(std::memory_order_relaxed); }

void use_instructions(Instructions wanted) { in_use.store(wanted, std::memory_order_relaxed); }

}  // namespace neardup
