#include "documents/lines.hpp"

#include <algorithm>

namespace neardup {

int64_t count_lines(std::string_view chunk) {
    const int64_t newlines = std::count(chunk.begin(), chunk.end(), '\n');
    return newlines + (!chunk.empty() && chunk.back() != '\n');
}

Selection select_lines(std::string_view chunk, std::span<const uint8_t> keep, bool start_of_file,
                       bool previous_kept) {
    Selection out;
    out.last_kept = previous_kept;
    const char *const end = chunk.data() + chunk.size();
    const char *run = chunk.data();  // start of the kept lines not yet copied
    for (const char *p = run; p < end;) {
        const Line line = line_at(p, end, start_of_file && p == chunk.data());
        const bool was_kept = out.last_kept;
        if (!line.blank) {
            const auto position = static_cast<size_t>(out.documents++);
            out.last_kept = position < keep.size() && keep[position] != 0;
        }
        if (was_kept && !out.last_kept) out.bytes.append(run, static_cast<size_t>(p - run));
        if (!was_kept && out.last_kept) run = p;
        p = line.next;
    }
    if (out.last_kept) out.bytes.append(run, static_cast<size_t>(end - run));
    return out;
}

}  // namespace neardup
