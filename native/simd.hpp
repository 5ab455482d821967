// Run-time choice of the instruction set: one source, compiled several times, the same bits from each.
#pragma once

// Sanitizers instrument the resolver, which runs before their own start-up.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define NEARDUP_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define NEARDUP_CLONES
#endif

#if defined(__GNUC__) || defined(__clang__)
#define NEARDUP_INLINE inline __attribute__((always_inline))
#else
#define NEARDUP_INLINE inline
#endif
