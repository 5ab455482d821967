#include "documents/lines.hpp"

#include <algorithm>

#include "simd.hpp"

namespace neardup {

namespace {

// Sums of bytes stay in bytes for 255 steps, which lets the loop run on whole vectors.
template <Instructions>
NEARDUP_INLINE int64_t count_newlines_on(const char *p, size_t size) {
    int64_t total = 0;
    for (size_t i = 0; i < size;) {
        uint8_t sums[64] = {};
        const size_t steps = std::min<size_t>((size - i) / 64, 255);
        for (size_t s = 0; s < steps; ++s, i += 64)
            for (size_t k = 0; k < 64; ++k) sums[k] = static_cast<uint8_t>(sums[k] + (p[i + k] == '\n'));
        for (uint8_t sum : sums) total += sum;
        if (steps == 0)
            for (; i < size; ++i) total += p[i] == '\n';
    }
    return total;
}

NEARDUP_EACH_LEVEL(int64_t, count_newlines, (const char *p, size_t size), (p, size))

}  // namespace

int64_t count_lines(std::string_view chunk) {
    const int64_t newlines = count_newlines(chunk.data(), chunk.size());
    return newlines + (!chunk.empty() && chunk.back() != '\n');
}

std::vector<uint32_t> line_starts(std::string_view chunk) {
    std::vector<uint32_t> starts;
    const char *const end = chunk.data() + chunk.size();
    for (const char *p = chunk.data(); p < end;) {
        starts.push_back(static_cast<uint32_t>(p - chunk.data()));
        const auto *newline = static_cast<const char *>(std::memchr(p, '\n', static_cast<size_t>(end - p)));
        p = newline ? newline + 1 : end;
    }
    return starts;
}

Selection select_lines(std::string_view chunk, std::span<const uint8_t> keep, bool start_of_file,
                       bool previous_kept) {
    Selection out;
    out.last_kept = previous_kept;
    const char *const end = chunk.data() + chunk.size();
    const char *run = chunk.data();  // start of the kept lines that are not yet in a run
    for (const char *p = run; p < end;) {
        const Line line = line_at(p, end, start_of_file && p == chunk.data());
        const bool was_kept = out.last_kept;
        if (!line.blank) {
            const auto position = static_cast<size_t>(out.documents++);
            out.last_kept = position < keep.size() && keep[position] != 0;
        }
        if (was_kept && !out.last_kept && p > run) out.runs.emplace_back(run, static_cast<size_t>(p - run));
        if (!was_kept && out.last_kept) run = p;
        p = line.next;
    }
    if (out.last_kept && end > run) out.runs.emplace_back(run, static_cast<size_t>(end - run));
    return out;
}

}  // namespace neardup
