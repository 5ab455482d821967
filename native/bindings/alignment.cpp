// Texts come as (values, offsets): document i is values[offsets[i] : offsets[i + 1]].
#include <nanobind/stl/tuple.h>
#include <tuple>

#include "bindings/bindings.hpp"
#include "decisions/differences.hpp"
#include "text/alignment.hpp"

using neardup::CutText;
using neardup::Passage;
using neardup::Side;

namespace {

using Ids = In<int64_t>;

void check(const In<uint8_t> &values, const Ids &offsets, const Ids &left, const Ids &right) {
    const int64_t *o = offsets.data(), size = static_cast<int64_t>(values.shape(0));
    const auto texts = static_cast<int64_t>(offsets.shape(0)) - 1;
    bool good = texts >= 0 && o[0] >= 0 && o[texts] <= size;
    for (int64_t i = 0; good && i < texts; ++i) good = o[i] <= o[i + 1] && o[i + 1] - o[i] <= 0xFFFFFFFF;
    if (!good) throw nb::value_error("offsets must rise within values, by less than 4 GiB");
    good = left.shape(0) == right.shape(0);
    for (size_t i = 0; good && i < left.shape(0); ++i)
        for (int64_t id : {left.data()[i], right.data()[i]}) good &= 0 <= id && id < texts;
    if (!good) throw nb::value_error("left and right must be equally long and name texts");
}

struct Columns {
    std::vector<int64_t> offsets{0}, words_a, words_b;
    std::vector<uint8_t> whole, how, edges[2];
    std::vector<uint32_t> begin[2], end[2], words[2];

    void add(const Side &side, int which) {
        begin[which].push_back(side.begin);
        end[which].push_back(side.end);
        words[which].push_back(side.words);
        edges[which].push_back(side.edges);
    }
    void add(const std::vector<Passage> &passages) {
        for (const Passage &passage : passages) {
            how.push_back(static_cast<uint8_t>(passage.how));
            add(passage.a, 0);
            add(passage.b, 1);
        }
        offsets.push_back(static_cast<int64_t>(how.size()));
    }
    auto side(int which) {
        return std::tuple(give(std::move(begin[which])), give(std::move(end[which])), give(std::move(words[which])),
                          give(std::move(edges[which])));
    }
};

// The texts of a pair; one that is in several pairs in a row, on either side, is cut once.
class CutPair {
  public:
    CutPair(const uint8_t *values, const int64_t *offsets) : values_(values), offsets_(offsets) {}
    void read(neardup::Aligner &aligner, int64_t a, int64_t b) {
        if (a == ids_[1] || b == ids_[0]) {
            std::swap(texts_[0], texts_[1]);
            std::swap(ids_[0], ids_[1]);
        }
        read(aligner, a, 0);
        read(aligner, b, 1);
    }
    CutText &a() { return texts_[0]; }
    CutText &b() { return texts_[1]; }

  private:
    void read(neardup::Aligner &aligner, int64_t id, int side) {
        if (id == ids_[side]) return;
        const auto size = static_cast<size_t>(offsets_[id + 1] - offsets_[id]);
        aligner.cut(values_ + offsets_[id], size, texts_[side]);
        ids_[side] = id;
    }

    const uint8_t *values_;
    const int64_t *offsets_;
    int64_t ids_[2] = {-1, -1};
    CutText texts_[2];
};

auto align_pairs(In<uint8_t> values, Ids offsets, Ids left, Ids right, const neardup::TextOptions &options,
                 const neardup::WordMap *map, const neardup::WordMap *numbers, bool by_chance) {
    check(values, offsets, left, right);
    Columns columns;
    {
        nb::gil_scoped_release release;
        neardup::Aligner aligner(options, map, numbers, by_chance);
        CutPair pair(values.data(), offsets.data());
        std::vector<Passage> passages;
        for (size_t i = 0; i < left.shape(0); ++i) {
            pair.read(aligner, left.data()[i], right.data()[i]);
            CutText &a = pair.a(), &b = pair.b();
            passages.clear();
            columns.whole.push_back(aligner.align(a, b, passages));
            columns.words_a.push_back(static_cast<int64_t>(a.words.size()));
            columns.words_b.push_back(static_cast<int64_t>(b.words.size()));
            columns.add(passages);
        }
    }
    return std::tuple(give(std::move(columns.offsets)), give(std::move(columns.how)), columns.side(0), columns.side(1),
                      give(std::move(columns.words_a)), give(std::move(columns.words_b)),
                      give(std::move(columns.whole)));
}

// One row a pair in each column.
struct MeasureColumns {
    std::vector<int64_t> words, shared, verbatim, blocks, longest, moved, counts;
    std::vector<uint8_t> differs;

    void add(const CutText &a, const CutText &b, const neardup::DifferenceMeasures &of) {
        words.push_back(static_cast<int64_t>(a.words.size()));
        words.push_back(static_cast<int64_t>(b.words.size()));
        shared.push_back(of.shared);
        verbatim.push_back(of.verbatim);
        blocks.push_back(of.blocks);
        longest.push_back(of.longest);
        moved.push_back(of.moved);
        counts.insert(counts.end(), of.counts.begin(), of.counts.end());
        differs.push_back(of.differs);
    }
};

auto measure_pairs(In<uint8_t> values, Ids offsets, Ids left, Ids right, const neardup::TextOptions &options,
                   const neardup::WordMap *map, const neardup::WordMap *numbers) {
    check(values, offsets, left, right);
    MeasureColumns columns;
    {
        nb::gil_scoped_release release;
        neardup::Aligner aligner(options, map, numbers, false);
        CutPair pair(values.data(), offsets.data());
        std::vector<Passage> passages;
        for (size_t i = 0; i < left.shape(0); ++i) {
            pair.read(aligner, left.data()[i], right.data()[i]);
            CutText &a = pair.a(), &b = pair.b();
            passages.clear();
            aligner.align(a, b, passages);
            columns.add(a, b, neardup::measure_differences(a, b, passages));
        }
    }
    return std::tuple(give(std::move(columns.words)), give(std::move(columns.shared)),
                      give(std::move(columns.verbatim)), give(std::move(columns.blocks)),
                      give(std::move(columns.longest)), give(std::move(columns.moved)),
                      give(std::move(columns.counts)), give(std::move(columns.differs)));
}

void append(const std::vector<neardup::Block> &blocks, std::vector<uint32_t> &out) {
    for (const neardup::Block &block : blocks) out.insert(out.end(), {block.a, block.b, block.size});
}

auto match_words(In<uint64_t> a, In<uint64_t> b, bool by_chance) {
    std::vector<uint32_t> in_order, moved;
    bool whole;
    {
        nb::gil_scoped_release release;
        const neardup::WordRun first{a.data(), static_cast<uint32_t>(a.shape(0))};
        const neardup::WordRun second{b.data(), static_cast<uint32_t>(b.shape(0))};
        neardup::Matcher matcher;
        std::vector<neardup::Block> blocks, others;
        whole = matcher.in_order(first, second, by_chance, blocks);
        matcher.moved(first, second, blocks, others);
        append(blocks, in_order);
        append(others, moved);
    }
    return std::tuple(give(std::move(in_order)), give(std::move(moved)), whole);
}

}  // namespace

void bind_alignment(nb::module_ &m) {
    using namespace nb::literals;
    m.def("match_words", &match_words, "a"_a, "b"_a, "by_chance"_a = false,
          "Runs of equal words: (in order, moved, whole); of each run its places in a and in b, and its size.");
    m.def("align_pairs", &align_pairs, "values"_a, "offsets"_a, "left"_a, "right"_a, "options"_a,
          "map"_a = nb::none(), "numbers"_a = nb::none(), "by_chance"_a = false,
          "Passages of pairs of texts: (offsets, how, a, b, words_a, words_b, whole); a and b are (begins, ends, words, "
          "edges), in bytes.");
    m.def("measure_pairs", &measure_pairs, "values"_a, "offsets"_a, "left"_a, "right"_a, "options"_a,
          "map"_a = nb::none(), "numbers"_a = nb::none(),
          "How pairs of texts differ: (words, shared, verbatim, blocks, longest, moved, counts, differs), one row a pair.");
}
