// Run-time choice of the instructions that kernels use: the same bits from each level.
//
// There are two ways to write a kernel for every level. NEARDUP_EACH_LEVEL compiles one template once a level and
// chooses at run time; the template knows its level, because a vector type that is wider than the registers at hand
// is lowered to scalars (GCC 12). Where the compiler finds no good code, a function is written by hand for one level.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#if (defined(__GNUC__) || defined(__clang__)) && defined(__x86_64__)
#define NEARDUP_X86 1
#define NEARDUP_SSE4 __attribute__((target("ssse3,sse4.1,sse4.2,popcnt")))
#define NEARDUP_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define NEARDUP_AVX512 __attribute__((target("avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,bmi,bmi2,popcnt")))
#else
#define NEARDUP_X86 0
#endif

#if defined(__GNUC__) || defined(__clang__)
#define NEARDUP_INLINE inline __attribute__((always_inline))
#define NEARDUP_NOINLINE __attribute__((noinline))
#else
#define NEARDUP_INLINE inline
#define NEARDUP_NOINLINE
#endif

namespace neardup {

enum class Instructions : uint8_t { portable, sse4, avx2, avx512 };

// The best that this machine has.
Instructions best_instructions();

// Those in use: the best, unless a lower level was asked for (to compare levels, or to do without one).
inline std::atomic<Instructions> instructions_in_use{best_instructions()};
inline Instructions instructions() { return instructions_in_use.load(std::memory_order_relaxed); }
inline void use_instructions(Instructions wanted) { instructions_in_use.store(wanted, std::memory_order_relaxed); }

// The bytes of a vector register; portable: of SSE2, which every x86-64 has, and of NEON.
constexpr size_t register_bytes(Instructions level) {
    return level == Instructions::avx512 ? 64 : level == Instructions::avx2 ? 32 : 16;
}

#if defined(__GNUC__) || defined(__clang__)
// As many T as fill a vector register, as one value.
template <typename T, Instructions Level>
struct LanesOf {
    typedef T type __attribute__((vector_size(register_bytes(Level))));
    static constexpr size_t count = register_bytes(Level) / sizeof(T);
};
#endif

// How many bits are 1, where the level has no instruction for it: std::popcount becomes a call there.
NEARDUP_INLINE uint32_t counted_ones(uint64_t x) {
    x -= x >> 1 & 0x5555555555555555ull;
    x = (x & 0x3333333333333333ull) + (x >> 2 & 0x3333333333333333ull);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0full;
    return static_cast<uint32_t>(x * 0x0101010101010101ull >> 56);
}

// Asks for memory that will be read soon; any address is allowed.
NEARDUP_INLINE void fetch([[maybe_unused]] const void *from, [[maybe_unused]] size_t bytes) {
#if defined(__GNUC__) || defined(__clang__)
    const auto start = reinterpret_cast<uintptr_t>(from);
    for (size_t i = 0; i < bytes; i += 64) __builtin_prefetch(reinterpret_cast<const void *>(start + i), 0, 2);
#endif
}

}  // namespace neardup

// Defines `RESULT NAME PARAMETERS`, which calls NAME_on<Level> ARGUMENTS as compiled for the instructions in use.
// NAME_on has to be NEARDUP_INLINE: only then is it compiled with the instructions of its caller.
#define NEARDUP_LEVEL(TARGET, LEVEL, RESULT, NAME, PARAMETERS, ARGUMENTS) \
    TARGET static RESULT NAME##_##LEVEL PARAMETERS { return NAME##_on<::neardup::Instructions::LEVEL> ARGUMENTS; }
#if NEARDUP_X86
#define NEARDUP_EACH_LEVEL(RESULT, NAME, PARAMETERS, ARGUMENTS)                        \
    NEARDUP_LEVEL(NEARDUP_AVX512, avx512, RESULT, NAME, PARAMETERS, ARGUMENTS)         \
    NEARDUP_LEVEL(NEARDUP_AVX2, avx2, RESULT, NAME, PARAMETERS, ARGUMENTS)             \
    NEARDUP_LEVEL(NEARDUP_SSE4, sse4, RESULT, NAME, PARAMETERS, ARGUMENTS)             \
    NEARDUP_LEVEL(, portable, RESULT, NAME, PARAMETERS, ARGUMENTS)                     \
    RESULT NAME PARAMETERS {                                                           \
        switch (::neardup::instructions()) {                                           \
            case ::neardup::Instructions::avx512: return NAME##_avx512 ARGUMENTS;      \
            case ::neardup::Instructions::avx2: return NAME##_avx2 ARGUMENTS;          \
            case ::neardup::Instructions::sse4: return NAME##_sse4 ARGUMENTS;          \
            default: return NAME##_portable ARGUMENTS;                                 \
        }                                                                              \
    }
#else
#define NEARDUP_EACH_LEVEL(RESULT, NAME, PARAMETERS, ARGUMENTS)    \
    NEARDUP_LEVEL(, portable, RESULT, NAME, PARAMETERS, ARGUMENTS) \
    RESULT NAME PARAMETERS { return NAME##_portable ARGUMENTS; }
#endif
