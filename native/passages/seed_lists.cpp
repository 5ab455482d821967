#include "passages/seed_lists.hpp"

#include <algorithm>

#include "passages/extension.hpp"

namespace neardup {

namespace {

constexpr uint32_t none = UINT32_MAX;

struct Gram {
    const Occurrence &place;
    const uint32_t *word;  // its first one

    Reader<false> right() const { return {word, place.right}; }
    Reader<true> left() const { return {word, place.left}; }
};

// Whether nothing behind the known words can change an extension that looked as far as `at`.
bool is_known(uint32_t at, uint32_t gap, uint32_t size, bool whole) { return whole || at + gap + agreeing <= size; }

// Whether the two grams may be the seed of a copy.
bool may_copy(const CopySettings &settings, const Gram &a, const Gram &b) {
    if (!agrees(a.right(), 0, b.right(), 0, settings.gram)) return false;
    Side right, left;
    const Side after = extended(a.right(), b.right(), settings.gap, right);
    const Side before = extended(a.left(), b.left(), settings.gap, left);
    if (!is_known(right.target, settings.gap, a.place.right, a.place.is_end) ||
        !is_known(right.source, settings.gap, b.place.right, b.place.is_end) ||
        !is_known(left.target, settings.gap, a.place.left, a.place.is_begin) ||
        !is_known(left.source, settings.gap, b.place.left, b.place.is_begin))
        return true;
    const uint32_t target = before.target + after.target, source = before.source + after.source;
    const uint32_t run = agreement(a.right(), 0, b.right(), 0) + agreement(a.left(), 0, b.left(), 0);
    return run >= settings.words || (std::min(target, source) >= settings.words &&
                                     uint64_t{before.matched + after.matched} * 100 >=
                                         uint64_t{settings.similarity} * std::max(target, source));
}

// Whether every run of the shortest length around the gram agrees, as far as words are known.
bool is_inside(const CopySettings &settings, const Gram &a, const Gram &b) {
    const uint32_t m = settings.words, k = settings.gram;
    const uint32_t right = agreement(a.right(), 0, b.right(), 0), left = agreement(a.left(), 0, b.left(), 0);
    return right >= std::min(m, a.place.right) && left >= std::min(m - k, a.place.left) && right + left >= std::min(m, context_words);
}

}  // namespace

void seed_lists(const CopySettings &settings, const Occurrence *occurrences, size_t count, const uint32_t *contexts,
                const uint8_t *covered, std::vector<SeedList> &out) {
    const size_t width = 2 * context_words + settings.gram;
    const auto gram = [&](size_t i) { return Gram{occurrences[i], contexts + i * width + context_words}; };
    const auto together = [&](size_t i, size_t j) {
        return j < count && occurrences[i].tag == occurrences[j].tag && occurrences[i].document == occurrences[j].document;
    };
    std::vector<size_t> stored;
    for (size_t i = 0; i < count; ++i) {
        const Occurrence &each = occurrences[i];
        if (!i || occurrences[i - 1].tag != each.tag) stored.clear();
        // A gram that a document has several times gets one list, with all places: those of the document count, too.
        const bool again = i && together(i - 1, i), several = together(i, i + 1) || again;
        bool some = false, inside = false;
        for (const size_t known : stored) {
            const Occurrence &other = occurrences[known];
            const bool same = other.document == each.document;
            if (!covered && !inside && (!same || each.position - other.position >= settings.words))
                inside = is_inside(settings, gram(i), gram(known));
            if (same || again || !(several || may_copy(settings, gram(i), gram(known)))) continue;
            out.push_back({each.document, each.position, other.document, other.position});
            some = true;
        }
        if (several && !again && !some) out.push_back({each.document, each.position, none, 0});
        if (stored.size() < settings.most && !(covered ? covered[i] != 0 : inside)) stored.push_back(i);
    }
}

}  // namespace neardup
