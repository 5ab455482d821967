#include "text/unicode.hpp"

#include <algorithm>

namespace neardup::unicode {

#include "text/unicode_tables.inc"

namespace {

constexpr uint32_t s_base = 0xAC00, l_base = 0x1100, v_base = 0x1161, t_base = 0x11A7;
constexpr uint32_t l_count = 19, v_count = 21, t_count = 28, s_count = l_count * v_count * t_count;

const Composition *decomposition(uint32_t cp) {
    const uint16_t *end = compositions_by_result + composition_count;
    const uint16_t *found = std::lower_bound(compositions_by_result, end, cp, [](uint16_t i, uint32_t want) {
        return compositions[i].result < want;
    });
    return found != end && compositions[*found].result == cp ? &compositions[*found] : nullptr;
}

uint32_t join_hangul(uint32_t a, uint32_t b) {
    if (a - l_base < l_count && b - v_base < v_count)
        return s_base + ((a - l_base) * v_count + (b - v_base)) * t_count;
    if (a - s_base < s_count && (a - s_base) % t_count == 0 && b - t_base - 1 < t_count - 1)
        return a + (b - t_base);
    return 0;
}

// The composition of two characters, or 0.
uint32_t join(uint32_t a, uint32_t b) {
    if (const uint32_t syllable = join_hangul(a, b)) return syllable;
    const Composition *end = compositions + composition_count;
    const Composition *found = std::lower_bound(compositions, end, 0, [=](const Composition &c, int) {
        return c.first != a ? c.first < a : c.second < b;
    });
    return found != end && found->first == a && found->second == b ? found->result : 0;
}

void order_marks(std::vector<uint32_t> &points) {
    const auto starts = [](uint32_t cp) { return record(cp).ccc == 0; };
    for (auto from = points.begin(); from != points.end();) {
        const auto to = std::find_if(from, points.end(), starts);
        std::stable_sort(from, to, [](uint32_t a, uint32_t b) { return record(a).ccc < record(b).ccc; });
        from = std::find_if_not(to, points.end(), starts);
    }
}

}  // namespace

uint32_t base_of(uint32_t cp) {
    while (const Composition *parts = decomposition(cp)) cp = parts->first;
    return cp;
}

void decompose(uint32_t cp, std::vector<uint32_t> &out) {
    if (cp - s_base < s_count) {
        const uint32_t s = cp - s_base;
        out.push_back(l_base + s / (v_count * t_count));
        out.push_back(v_base + s % (v_count * t_count) / t_count);
        if (s % t_count) out.push_back(t_base + s % t_count);
    } else if (const Composition *parts = decomposition(cp)) {
        decompose(parts->first, out);
        out.push_back(parts->second);  // never decomposes itself (the generator checks)
    } else {
        out.push_back(cp);
    }
}

void compose(std::vector<uint32_t> &points, std::vector<uint32_t> &scratch) {
    if (points.size() == 2 && points[0] < 0x80) {  // an accent in decomposed text, which needs no reordering
        const uint32_t joined = join(points[0], points[1]);
        if (joined) points.assign(1, joined);
        return;
    }
    scratch.clear();
    for (uint32_t cp : points) decompose(cp, scratch);
    order_marks(scratch);
    points.clear();
    size_t starter = SIZE_MAX;
    int last = -1;  // combining class of the last character since the starter, -1 for none
    for (uint32_t cp : scratch) {
        const int ccc = record(cp).ccc;
        if (starter != SIZE_MAX && last < ccc) {
            if (const uint32_t joined = join(points[starter], cp)) {
                points[starter] = joined;
                continue;
            }
        }
        if (ccc == 0) starter = points.size();
        last = ccc == 0 ? -1 : ccc;
        points.push_back(cp);
    }
}

}  // namespace neardup::unicode
