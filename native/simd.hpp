// Runtime dispatch: one source, compiled for several machines, chosen when the module is loaded.
// Integer code only, so every clone gives the same bits.
#pragma once
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) && \
    !defined(__SANITIZE_ADDRESS__)
#define NEARDUP_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define NEARDUP_CLONES
#endif
