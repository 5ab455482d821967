#include "passages/copies.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <unordered_map>

#include "hash.hpp"
#include "passages/extension.hpp"
#include "simd.hpp"

namespace neardup {

namespace {

constexpr uint32_t none = UINT32_MAX;
constexpr size_t first_block = size_t{1} << 12, block_words = size_t{1} << 22, first_slots = size_t{1} << 12;

}  // namespace

// What one comparison needs, so that nothing is allocated for each document. The recent extensions are remembered by
// their diagonal: a seed inside one of them is not extended again. Runs that were too short for a copy are remembered
// apart from copies, so they never make a copy be forgotten: the answer depends on the copies alone.
struct Copies::Scratch {
    struct Recent {
        uint64_t key = 0;
        uint32_t begin = 0, end = 0, generation = 0;
    };
    std::vector<Sampled> sampled;
    std::vector<uint64_t> hashes;
    std::vector<bool> met;
    std::vector<Copy> copies;
    using Memory = std::vector<Recent>;
    Memory copied = Memory(4096), tried = Memory(1024);
    std::vector<Sampled> covered;  // sampled grams that were not stored, because a copy has them
    uint32_t generation = 0;
    Copy cover{};  // the copy that reaches furthest

    void begin() {
        copies.clear();
        covered.clear();
        cover = {};
        ++generation;
    }
    static uint64_t key(uint32_t source, uint32_t position, uint32_t at) {
        return uint64_t{source} << 32 | (position - at);
    }
    static Recent &slot(Memory &memory, uint64_t key) { return memory[scramble(key) & (memory.size() - 1)]; }
    bool has(Memory &memory, uint64_t key, uint32_t position) const {
        const Recent &known = slot(memory, key);
        return known.generation == generation && known.key == key && known.begin <= position && position < known.end;
    }
    bool is_done(uint64_t key, uint32_t position) { return has(copied, key, position) || has(tried, key, position); }
    // What is known of a diagonal grows; a copy without gaps has one diagonal at both of its ends.
    void remember(Memory &memory, uint64_t key, uint32_t begin, uint32_t end) {
        Recent &known = slot(memory, key);
        const bool same = known.generation == generation && known.key == key && begin <= known.end && known.begin <= end;
        known = same ? Recent{key, std::min(begin, known.begin), std::max(end, known.end), generation}
                     : Recent{key, begin, end, generation};
    }
    void add(const Copy &copy) {
        copies.push_back(copy);
        if (copy.end > cover.end) cover = copy;
    }
};

Copies::Copies(const CopySettings &settings) : settings_(settings), slots_() {
    slots_.assign(first_slots);
}

void Copies::hold(const uint64_t *words, const int64_t *offsets, size_t documents) {
    for (size_t d = 0; d < documents; ++d) {
        const auto size = static_cast<size_t>(offsets[d + 1] - offsets[d]);
        if (size > block_left_) {
            block_left_ = std::max(size, std::min(block_words, first_block << std::min<size_t>(2 * blocks_.size(), 10)));
            held_ += block_left_;
            blocks_.push_back(std::unique_ptr<uint32_t[]>(new uint32_t[block_left_]));
            block_at_ = blocks_.back().get();
        }
        const uint64_t *from = words + offsets[d];
        for (size_t i = 0; i < size; ++i) block_at_[i] = static_cast<uint32_t>(from[i]);
        starts_.push_back(block_at_);
        sizes_.push_back(static_cast<uint32_t>(size));
        block_at_ += size;
        block_left_ -= size;
    }
}

void Copies::borrow(const uint32_t *words, const int64_t *offsets, size_t documents) {
    for (size_t d = 0; d < documents; ++d) {
        starts_.push_back(words + offsets[d]);
        sizes_.push_back(static_cast<uint32_t>(offsets[d + 1] - offsets[d]));
    }
}

size_t Copies::samples() const {
    Scratch scratch;
    size_t count = 0;
    for (uint32_t d = 0; d < documents(); ++d) {
        sample({words(d), sizes_[d], d, true}, settings_.window, scratch);
        count += scratch.sampled.size();
    }
    return count;
}

size_t Copies::slots_for(size_t samples) { return std::bit_ceil(std::max(first_slots, samples + samples / 3 + 1)); }

void Copies::reserve(size_t samples) {
    entries_.reserve(samples);
    slots_.assign(slots_for(samples));
}

void Copies::lend(uint8_t *entries, uint8_t *slots, size_t samples) {
    entries_.lend(reinterpret_cast<Entry *>(entries), 0);
    slots_.lend(reinterpret_cast<Slot *>(slots), slots_for(samples));
}

void Copies::sample(const Target &target, uint32_t window, Scratch &scratch) const {
    winnow(target.words, target.size, settings_.gram, window, scratch.hashes, scratch.sampled);
}

// The slot of a gram, or the empty one where it belongs. Half of the hash decides: grams that share a slot by accident
// are told apart when a seed is verified.
size_t Copies::slot_of(uint64_t hash) const {
    const size_t mask = slots_.size() - 1;
    const auto tag = static_cast<uint32_t>(hash);
    size_t i = tag & mask;
    while (slots_[i].head && slots_[i].tag != tag) i = (i + 1) & mask;
    return i;
}

void Copies::grow() {
    Room<Slot> old = std::move(slots_);
    slots_ = Room<Slot>();
    slots_.assign(old.size() * 2);
    for (size_t i = 0; i < old.size(); ++i)
        if (old[i].head) slots_[slot_of(old[i].tag)] = old[i];
}

// The earliest places come first; after `most` of them a gram is no longer stored.
void Copies::store(uint32_t document, uint32_t position, uint64_t hash, size_t i) {
    const auto number = static_cast<uint32_t>(entries_.size() + 1);
    if (!slots_[i].head) {
        slots_[i] = {static_cast<uint32_t>(hash), number};
        if (++used_ * 4 >= slots_.size() * 3 && !slots_.lent()) grow();
    } else {
        uint32_t last = slots_[i].head, count = 1;
        for (; entry(last).next; last = entry(last).next) ++count;
        if (count >= settings_.most) return;
        entry(last).next = number;
    }
    entries_.push_back({document, position, 0});
}

// Whether the seed is real; a copy that is long enough is added to the scratch.
bool Copies::extend(const Target &target, const Entry &seed, uint32_t position, Scratch &scratch) const {
    const uint32_t k = settings_.gram, at = seed.position;
    const uint32_t *source = words(seed.document);
    const uint32_t source_size = sizes_[seed.document];
    const Reader<false> right{target.words + position, target.size - position},
        source_right{source + at, source_size - at};
    if (!agrees(right, 0, source_right, 0, k)) return false;
    const Reader<true> left{target.words + position, position}, source_left{source + at, at};
    const uint32_t run_right = agreement(right, 0, source_right, 0), run_left = agreement(left, 0, source_left, 0);
    Side after{run_right, run_right, run_right}, before{run_left, run_left, run_left};
    const bool same = target.held && seed.document == target.document;
    // Inside one document a gap could lead to a place that is too near, so copies there are exact.
    if (settings_.gap && !same) {
        after = extended(right, source_right, settings_.gap);
        before = extended(left, source_left, settings_.gap);
    }
    const Copy whole{target.document,     position - before.target, position + after.target, seed.document,
                     at - before.source, at + after.source,        before.matched + after.matched};
    const uint32_t longer = std::max(whole.end - whole.begin, whole.source_end - whole.source_begin);
    const auto remember = [&](Scratch::Memory &memory, uint32_t there, uint32_t here, uint32_t begin, uint32_t end) {
        scratch.remember(memory, Scratch::key(number(seed.document), there, here), begin, end);
    };
    const bool is_run = run_left + run_right >= settings_.words;
    bool is_copy = false;
    if (std::min(whole.end - whole.begin, whole.source_end - whole.source_begin) >= settings_.words)
        is_copy = uint64_t{whole.matched} * 100 >= uint64_t{settings_.similarity} * longer;
    remember(is_copy || is_run ? scratch.copied : scratch.tried, position, at, position - run_left, position + run_right);
    if (is_copy) {
        scratch.add(whole);
        // A seed behind a gap lies on another diagonal and would find the same copy again.
        remember(scratch.copied, whole.end, whole.source_end, position, whole.end);
        remember(scratch.copied, whole.begin, whole.source_begin, whole.begin, position);
    } else if (is_run) {
        scratch.add({target.document, position - run_left, position + run_right, seed.document, at - run_left,
                     at + run_right, run_left + run_right});
    }
    return true;
}

void Copies::compare(const Target &target, Scratch &scratch) const {
    for (const Sampled &seed : scratch.sampled) {
        for (uint32_t e = slots_[slot_of(seed.hash)].head; e; e = entry(e).next) {
            const uint64_t key = Scratch::key(number(entry(e).document), seed.position, entry(e).position);
            if (!scratch.is_done(key, seed.position)) extend(target, entry(e), seed.position, scratch);
        }
    }
}

namespace {

// As few copies as possible that cover what all of them cover: from left to right, the one that reaches furthest.
void covering(std::vector<Copy> &found, std::vector<Copy> &out) {
    std::stable_sort(found.begin(), found.end(), [](const Copy &a, const Copy &b) { return a.begin < b.begin; });
    uint32_t reached = 0;
    for (size_t i = 0; i < found.size();) {
        if (found[i].begin > reached) reached = found[i].begin;
        const Copy *best = nullptr;
        for (; i < found.size() && found[i].begin <= reached; ++i)
            if (found[i].end > reached && (!best || found[i].end > best->end)) best = &found[i];
        if (!best) continue;
        out.push_back(*best);
        reached = best->end;
    }
}

}  // namespace

// Compares a held document, whose grams are sampled, with what is stored, and stores its grams.
void Copies::take(const Target &target, Scratch &scratch) {
    const uint32_t m = settings_.words, k = settings_.gram;
    scratch.begin();
    // Every run of m words around a seed lies inside the cover: nothing new can be found, or need be stored.
    const auto inside = [&](uint32_t position) {
        const uint32_t from = position + k > m ? position + k - m : 0;
        return scratch.cover.begin <= from && scratch.cover.end >= std::min(target.size, position + m);
    };
    const std::vector<Sampled> &sampled = scratch.sampled;
    for (size_t i = 0; i < sampled.size(); ++i) {
        const Sampled &seed = sampled[i];
#if defined(__GNUC__) || defined(__clang__)
        if (i + 8 < sampled.size()) __builtin_prefetch(&slots_[static_cast<uint32_t>(sampled[i + 8].hash) & (slots_.size() - 1)]);
#endif
        if (inside(seed.position)) {
            scratch.covered.push_back(seed);
            continue;
        }
        const size_t slot = slot_of(seed.hash);
        for (uint32_t e = slots_[slot].head; e && !inside(seed.position); e = entry(e).next) {
            const Entry &known = entry(e);
            const bool same = known.document == target.document;
            if (same && (known.position > seed.position || seed.position - known.position < m)) continue;
            const uint64_t key = Scratch::key(number(known.document), seed.position, known.position);
            if (!scratch.is_done(key, seed.position)) extend(target, known, seed.position, scratch);
        }
        if (inside(seed.position))
            scratch.covered.push_back(seed);
        else
            store(target.document, seed.position, seed.hash, slot);
    }
    covering(scratch.copies, copies_);
}

void Copies::find(const uint32_t *documents, size_t count) {
    Scratch scratch;
    for (size_t n = 0; n < count; ++n) {
        const Target target{words(documents[n]), sizes_[documents[n]], documents[n], true};
        if (target.size < settings_.words) continue;
        sample(target, settings_.window, scratch);
        take(target, scratch);
    }
}

void Copies::listed(const SeedList *lists, size_t count, const uint32_t *numbers, std::vector<CoveredGram> &out) {
    numbers_.assign(numbers, numbers + documents());
    Scratch scratch;
    for (size_t i = 0; i < count;) {
        const uint32_t document = lists[i].document;
        const Target target{words(document), sizes_[document], document, true};
        sample(target, settings_.window, scratch);
        slots_.assign(first_slots);
        entries_ = Room<Entry>();
        used_ = 0;
        for (size_t seed = 0; i < count && lists[i].document == document; ++i) {
            const SeedList &each = lists[i];
            while (scratch.sampled[seed].position < each.position) ++seed;
            const uint64_t hash = scratch.sampled[seed].hash;
            if (each.source != none) store(each.source, each.source_position, hash, slot_of(hash));
        }
        take(target, scratch);
        for (const Sampled &gram : scratch.covered)
            out.push_back({document, gram.position, static_cast<uint32_t>(gram.hash)});
    }
}

void Copies::index() {
    Scratch scratch;
    for (uint32_t d = 0; d < documents(); ++d) {
        sample({words(d), sizes_[d], d, true}, 1, scratch);
        for (const Sampled &gram : scratch.sampled) store(d, gram.position, gram.hash, slot_of(gram.hash));
        if (!settings_.anchor) continue;
        winnow(words(d), sizes_[d], settings_.anchor, settings_.anchor_window, scratch.hashes, scratch.sampled);
        for (const Sampled &gram : scratch.sampled) anchors_.add(anchor_of(gram.hash), d);
    }
    anchors_.build();
}

// Marks the held documents that share an anchor with the target; false if there is none.
bool Copies::meet(const Target &target, Scratch &scratch) const {
    winnow(target.words, target.size, settings_.anchor, settings_.anchor_window, scratch.hashes, scratch.sampled);
    bool some = false;
    for (const Sampled &gram : scratch.sampled)
        anchors_.each(anchor_of(gram.hash), [&](uint32_t document) {
            if (!some) scratch.met.assign(documents(), false);
            some = scratch.met[document] = true;
        });
    return some;
}

void Copies::against(const uint64_t *words, const int64_t *offsets, size_t documents, std::vector<Copy> &out) const {
    Scratch scratch;
    std::vector<uint32_t> narrow;
    for (size_t d = 0; d < documents; ++d) {
        narrow.assign(words + offsets[d], words + offsets[d + 1]);
        const Target target{narrow.data(), static_cast<uint32_t>(narrow.size()), static_cast<uint32_t>(d), false};
        if (settings_.anchor && !meet(target, scratch)) continue;
        sample(target, settings_.window, scratch);
        scratch.begin();
        compare(target, scratch);
        std::copy_if(scratch.copies.begin(), scratch.copies.end(), std::back_inserter(out),
                     [&](const Copy &copy) { return !settings_.anchor || scratch.met[copy.source]; });
    }
}

namespace {

struct Span {
    uint32_t begin, end, passage;
};

// Whether two spans have four fifths of the longer one in common.
bool alike(const Span &a, const Span &b) {
    const uint64_t from = std::max(a.begin, b.begin), to = std::min(a.end, b.end);
    return to > from && (to - from) * 5 >= uint64_t{4} * std::max(a.end - a.begin, b.end - b.begin);
}

auto from(std::vector<Span> &spans, uint32_t begin) {
    return std::lower_bound(spans.begin(), spans.end(), begin, [](const Span &s, uint32_t b) { return s.begin < b; });
}

}  // namespace

std::vector<PassagePlace> Copies::places() const {
    std::unordered_map<uint32_t, std::vector<Span>> known;
    std::vector<PassagePlace> out;
    uint32_t passages = 0;
    const auto insert = [&](uint32_t document, Span span) {
        std::vector<Span> &spans = known[document];
        spans.insert(from(spans, span.begin), span);
    };
    for (size_t c = 0; c < copies_.size(); ++c) {
        const Copy &copy = copies_[c];
        Span source{copy.source_begin, copy.source_end, none};
        const uint32_t slack = (source.end - source.begin) / 4;
        std::vector<Span> &spans = known[copy.source];
        auto at = from(spans, source.begin > slack ? source.begin - slack : 0);
        for (; at != spans.end() && at->begin <= source.begin + slack && source.passage == none; ++at)
            if (alike(*at, source)) source.passage = at->passage;
        if (source.passage == none) {
            source.passage = passages++;
            insert(copy.source, source);
            out.push_back({source.passage, copy.source, source.begin, source.end, -1});
        }
        insert(copy.document, {copy.begin, copy.end, source.passage});
        out.push_back({source.passage, copy.document, copy.begin, copy.end, static_cast<int64_t>(c)});
    }
    return out;
}

}  // namespace neardup
