// A growing byte buffer that is never zero-filled. std::vector would write each byte twice. Large growth is a realloc (a
// remap on Linux) instead of a copy.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

namespace neardup {

class Buffer {
  public:
    Buffer() = default;
    Buffer(Buffer &&other) noexcept { swap(other); }
    Buffer &operator=(Buffer &&other) noexcept {
        swap(other);
        return *this;
    }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    ~Buffer() { std::free(data_); }

    const char *data() const { return data_; }
    size_t size() const { return size_; }
    std::string_view view() const { return {data_, size_}; }
    void truncate(size_t size) { size_ = std::min(size, size_); }

    // What the buffer may have at last: a buffer that has a part of it already is not moved again.
    void expect(size_t most) { most_ = most; }

    void append(const char *from, size_t count) {
        if (count == 0) return;
        if (count > capacity_ - size_) grow(size_ + count);
        std::memcpy(data_ + size_, from, count);
        size_ += count;
    }
    void push(char c) { append(&c, 1); }

  private:
    void grow(size_t needed) {
        size_t capacity = std::max({needed, capacity_ * 2, size_t{256}});
        if (capacity > most_ / 16) capacity = std::max(capacity, most_);
        char *data = static_cast<char *>(std::realloc(data_, capacity));
        if (data == nullptr) throw std::bad_alloc();
        data_ = data;
        capacity_ = capacity;
    }
    void swap(Buffer &other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
        std::swap(most_, other.most_);
    }

    char *data_ = nullptr;
    size_t size_ = 0;
    size_t capacity_ = 0;
    size_t most_ = 0;
};

}  // namespace neardup
