// Run-time choice of the instruction set: the same bits from each.
//
// Two ways: NEARDUP_CLONES compiles one source several times; where the compiler finds no good code, a
// function is written once for each member of Instructions.
#pragma once
#include <cstddef>
#include <cstdint>

// Sanitizers instrument the resolver, which runs before their own start-up.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define NEARDUP_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define NEARDUP_CLONES
#endif

#if (defined(__GNUC__) || defined(__clang__)) && defined(__x86_64__)
#define NEARDUP_X86 1
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

enum class Instructions : uint8_t { portable, avx2, avx512 };

// The best this machine has.
Instructions best_instructions();

// Those in use: the best, unless others were asked for (to compare them, or to do without).
Instructions instructions();
void use_instructions(Instructions);

// Asks for memory that will be read soon; any address is allowed.
NEARDUP_INLINE void fetch([[maybe_unused]] const void *from, [[maybe_unused]] size_t bytes) {
#if defined(__GNUC__) || defined(__clang__)
    const auto start = reinterpret_cast<uintptr_t>(from);
    for (size_t i = 0; i < bytes; i += 64) __builtin_prefetch(reinterpret_cast<const void *>(start + i), 0, 2);
#endif
}

}  // namespace neardup
