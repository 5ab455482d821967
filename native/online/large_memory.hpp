// An allocator for memory that is read at random. From 1 MB on it requests large pages, because with small pages most of
// the time of a query is spent on address translation.
#pragma once
#include <cstddef>
#include <new>
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace neardup {

inline constexpr size_t kLargePage = size_t{1} << 21, kMemoryLine = 64;

// The size that is allocated: whole large pages if that is less than twice as much.
constexpr size_t memory_size(size_t bytes) {
    return bytes <= kLargePage / 2 ? bytes : (bytes + kLargePage - 1) / kLargePage * kLargePage;
}

constexpr std::align_val_t memory_alignment(size_t size) {
    return std::align_val_t{size < kLargePage ? kMemoryLine : kLargePage};
}

inline void *take_memory(size_t bytes) {
    const size_t size = memory_size(bytes);
    void *const memory = ::operator new(size, memory_alignment(size));
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (size >= kLargePage) (void)madvise(memory, size, MADV_HUGEPAGE);  // a hint, which may fail
#endif
    return memory;
}

inline void give_memory(void *memory, size_t bytes) { ::operator delete(memory, memory_alignment(memory_size(bytes))); }

template <typename T>
struct LargeMemory {
    using value_type = T;
    LargeMemory() = default;
    template <typename U>
    LargeMemory(const LargeMemory<U> &) {}
    T *allocate(size_t count) { return static_cast<T *>(take_memory(count * sizeof(T))); }
    void deallocate(T *memory, size_t count) { give_memory(memory, count * sizeof(T)); }
    bool operator==(const LargeMemory &) const { return true; }
};

}  // namespace neardup
