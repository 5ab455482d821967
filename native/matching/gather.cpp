#include "matching/gather.hpp"

#include <cstring>
#if defined(_WIN32)
#include <io.h>
#else
#include <unistd.h>
#endif

namespace neardup {

static constexpr uint32_t kLower = 4;

void gather_memory(const uint8_t *source, const int64_t *starts, const int64_t *lengths, size_t count, uint8_t *out) {
    for (size_t i = 0; i < count; ++i) {
        if (lengths[i]) std::memcpy(out, source + starts[i], static_cast<size_t>(lengths[i]));  // maybe no address
        out += lengths[i];
    }
}

static int64_t read_at(int descriptor, uint8_t *out, int64_t length, int64_t start) {
#if defined(_WIN32)
    if (_lseeki64(descriptor, start, SEEK_SET) < 0) return -1;
    return _read(descriptor, out, static_cast<unsigned>(length));
#else
    return pread(descriptor, out, static_cast<size_t>(length), start);
#endif
}

bool gather_file(int descriptor, const int64_t *starts, const int64_t *lengths, size_t count, uint8_t *out) {
    for (size_t i = 0, j; i < count; i = j) {
        int64_t length = lengths[i];  // of what lies in one piece
        for (j = i + 1; j < count && starts[j] == starts[i] + length; ++j) length += lengths[j];
        for (int64_t done = 0; done < length;) {
            const int64_t got = read_at(descriptor, out + done, length - done, starts[i] + done);
            if (got <= 0) return false;
            done += got;
        }
        out += length;
    }
    return true;
}

bool divide(const uint64_t *values, const uint32_t *features, size_t size, uint16_t *weights) {
    uint32_t wrong = 0;
    for (size_t i = 0; i < size; ++i) {
        const auto weight = values[i] == features[i] ? 0 : static_cast<uint32_t>(values[i]);
        const uint32_t stored = weight - (weight > 1 ? kLower : 0);
        weights[i] = static_cast<uint16_t>(stored);
        wrong |= (stored >> 16) | ((weight > 1) & (stored < 2));
    }
    return wrong == 0;
}

void join(const uint32_t *features, const uint16_t *weights, size_t size, uint64_t *out) {
    for (size_t i = 0; i < size; ++i) {
        const uint64_t feature = features[i], weight = weights[i];
        out[i] = weight == 0 ? feature : feature << 32 | (weight + (weight > 1 ? kLower : 0));
    }
}

}  // namespace neardup
