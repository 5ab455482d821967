#include "matching/gather.hpp"

#include <cstring>
#if defined(_WIN32)
#include <io.h>
#else
#include <unistd.h>
#endif

namespace neardup {

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

}  // namespace neardup
