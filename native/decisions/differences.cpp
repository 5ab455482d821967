#include "decisions/differences.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "decisions/typography.hpp"
#include "hash.hpp"
#include "text/word_hash.hpp"

namespace neardup {
namespace {

constexpr int64_t kMovedWords = 5;  // fewer in another place are an edit
constexpr double kAlike = 0.65;     // of the letters of words that were misread
constexpr size_t kMostAlikeBytes = 400;
constexpr int64_t kParagraphWords = 8;  // shorter ones are lines, headings, entries
constexpr double kMostly = 0.8;         // of the words, for texts in another order
constexpr int64_t kNotice = 12;         // words of short lines around a text,
constexpr size_t kNoticeLine = 7;       // and of each of these lines
constexpr int64_t kMostRunning = 40;    // words of headers and footers between two pages
constexpr int64_t kOnceWords = 4;       // of what counts once, however often it was added
constexpr int64_t kIsland = 3, kSea = 8;  // words that may be there by chance, and times so many around them
constexpr int64_t kVerbatim = 16;         // words in a row that both have: text that nobody touched
constexpr int64_t kBlock = 32;  // so many, and they were copied: who rewrites does not leave two sentences as they are

enum class Where : uint8_t { beginning, end, within };  // of both texts

// The longest common subsequence of byte strings of at most kMostAlikeBytes (Hyyrö 2004), 64 places of `a` a word.
size_t common_bytes(std::string_view a, std::string_view b) {
    constexpr size_t most = (kMostAlikeBytes + 63) / 64;
    const size_t words = (a.size() + 63) / 64;
    uint64_t row[most];
    std::fill_n(row, words, ~uint64_t{0});
    using Places = uint64_t[256][most];
    static thread_local Places scratch;
    Places &places = scratch;  // a thread_local name is looked up at each use
    for (char c : a) std::fill_n(places[static_cast<uint8_t>(c)], words, 0);
    for (char c : b) std::fill_n(places[static_cast<uint8_t>(c)], words, 0);
    for (size_t i = 0; i < a.size(); ++i) places[static_cast<uint8_t>(a[i])][i / 64] |= uint64_t{1} << i % 64;
    for (char c : b) {
        uint64_t carried = 0;
        for (size_t w = 0; w < words; ++w) {
            const uint64_t matched = row[w] & places[static_cast<uint8_t>(c)][w], sum = row[w] + matched;
            const uint64_t next = sum + carried;
            carried = (sum < matched) | (next < sum);
            row[w] = next | (row[w] - matched);
        }
    }
    size_t common = 0;
    for (size_t i = 0; i < a.size(); ++i) common += ~row[i / 64] >> i % 64 & 1;
    return common;
}

// As rapidfuzz computes Indel.normalized_similarity: a pair at the limit must fall on the same side of it.
double similarity(size_t all, size_t common) {
    return 1.0 - static_cast<double>(all - 2 * common) / static_cast<double>(all);
}

bool are_alike(std::string_view a, std::string_view b) {
    const auto [least, most] = std::minmax({a.size(), b.size()});
    if (most > kMostAlikeBytes || similarity(least + most, least) < kAlike) return false;
    return similarity(least + most, common_bytes(a, b)) >= kAlike;
}

// Words as the classes count them: characters where words are pairs of these. A character more makes two pairs
// more, but the span of a passage has it once.
int64_t units(const CutText &text, const Side &side) {
    if (side.begin >= side.end) return 0;
    if (text.text[side.begin] < kSpaceless) return side.words;
    return std::min<int64_t>(side.words, (int64_t{side.end} - side.begin + 2) / 3);
}

uint64_t digest(std::string_view bytes) {
    return word_hash(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
}

// Digests that are not 0. Its memory is used again from pair to pair.
class DigestSet {
  public:
    void clear() {
        if (size_) slots_.assign(kFewest, 0);
        size_ = 0;
    }
    bool contains(uint64_t digest) const { return slots_[place(digest)] != 0; }
    // Whether it was not there.
    bool insert(uint64_t digest) {
        if (2 * size_ >= slots_.size()) grow();
        uint64_t &slot = slots_[place(digest)];
        const bool is_new = slot == 0;
        slot = digest;
        size_ += is_new;
        return is_new;
    }

  private:
    static constexpr size_t kFewest = 64;

    size_t place(uint64_t digest) const {
        const size_t mask = slots_.size() - 1;
        size_t at = digest & mask;
        while (slots_[at] && slots_[at] != digest) at = (at + 1) & mask;
        return at;
    }
    void grow() {
        std::vector<uint64_t> before(2 * slots_.size());
        before.swap(slots_);
        for (uint64_t digest : before)
            if (digest) slots_[place(digest)] = digest;
    }

    std::vector<uint64_t> slots_ = std::vector<uint64_t>(kFewest);
    size_t size_ = 0;
};

// What one text alone has.
struct Alone {
    bool of_b;
    WrittenSide side;
    int64_t words;
    Where at;
    bool own_line;
    size_t first_line, end_line;  // of the lines of the tally, where they may be a header
    DifferenceClass name{};       // once all passages are known
};

// The differing passages of one pair. Texts are compared by digests of 64 bits, as words are.
class Tally {
  public:
    void clear() {
        counts_ = {};
        alone_.clear();
        lines_.clear();
        for (DigestSet *set : {&seen_, &lines_once_[0], &lines_once_[1], &lines_again_[0], &lines_again_[1]}) set->clear();
        for (auto &parts : parts_) parts.clear();
    }

    void add(const WrittenSide &a, const WrittenSide &b, Where at) {
        parts_[0].push_back(a.bytes());
        parts_[1].push_back(b.bytes());
        if (!a.words || !b.words) return add_alone(!a.words, a.words ? a : b, std::max(a.words, b.words), at);
        if (const int64_t more = more_characters(a, b)) return count(DifferenceClass::inside, more < 0, std::abs(more));
        int64_t most = std::max(a.words, b.words);
        const int64_t least = std::min(a.words, b.words);
        if (most - least > std::max(kParagraphWords, 3 * least)) {  // an addition beside a small edit
            const bool of_b = a.words < b.words;
            add_alone(of_b, of_b ? b : a, most - least, at);
            most = least;
        }
        add_both(a, b, most);
    }

    // Whether nearly the same words are on both sides, only elsewhere.
    bool is_reordered() {
        size_t sizes[2] = {};
        for (int side : {0, 1})
            for (std::string_view part : parts_[side]) sizes[side] += part.size();
        const auto [least, most] = std::minmax({sizes[0], sizes[1]});
        if (static_cast<double>(least) < kMostly / 2 * static_cast<double>(most)) return false;  // it cannot be
        for (int side : {0, 1}) read_words(parts_[side], words_[side]);
        const auto [fewer, more] = std::minmax({words_[0].size(), words_[1].size()});
        const double needed = kMostly * static_cast<double>(more);
        if (fewer < static_cast<size_t>(kMovedWords) || static_cast<double>(fewer) < needed) return false;
        for (std::vector<uint64_t> &side : words_) std::sort(side.begin(), side.end());
        return static_cast<double>(in_both(words_[0], words_[1])) >= needed;
    }

    std::array<int64_t, kDifferenceColumns> counts() {
        seen_.clear();
        bool any_furniture = false;
        for (Alone &alone : alone_) {
            alone.name = class_of(alone);
            any_furniture |= alone.name == DifferenceClass::furniture;
        }
        for (const Alone &alone : alone_) {
            const std::string_view part = alone.words <= kMostRunning ? alone.side.bytes() : std::string_view();
            const bool is_first = !any_furniture || is_new(alone.of_b ? "b" : "a", plain_letters(part));
            // The same header on another page counts once.
            if (is_first || alone.name != DifferenceClass::furniture) count(alone.name, alone.of_b, alone.words);
        }
        return counts_;
    }

  private:
    void count(DifferenceClass name, bool of_b, int64_t words) {
        auto column = static_cast<size_t>(name);
        if (column >= kClassesOfBoth && of_b) column += kClassesOfOne;
        counts_[column] += words;
    }

    // The letters of a part without digits, until the next call.
    std::string_view plain_letters(std::string_view part) {
        letters(part, letters_[0]);
        without_digits(letters_[0], plain_[0]);
        return plain_[0];
    }

    // Whether a change is made for the first time.
    bool is_new(std::string_view one, std::string_view other) {
        return seen_.insert(fold_multiply(digest(one) ^ kSecret[1], digest(other) ^ kSecret[2]) | 1);
    }

    void add_both(const WrittenSide &a, const WrittenSide &b, int64_t words) {
        letters(a.bytes(), letters_[0]);
        letters(b.bytes(), letters_[1]);
        if (letters_[0] == letters_[1]) return count(DifferenceClass::rebroken, false, words);
        for (int side : {0, 1}) without_digits(letters_[side], plain_[side]);
        if (a.edges & b.edges & only_numbers || plain_[0] == plain_[1])
            return count(DifferenceClass::numbers, false, words);
        if (!is_new(plain_[0], plain_[1])) return;
        const bool misread = are_alike(letters_[0], letters_[1]);
        count(misread ? DifferenceClass::misread : DifferenceClass::replaced, false, words);
    }

    void add_alone(bool of_b, const WrittenSide &side, int64_t words, Where at) {
        if (words <= kOnceWords) {
            const std::string_view word = plain_letters(side.bytes());
            if (!word.empty() && !is_new(of_b ? "b" : "a", word)) return;
        }
        const bool own_line = begins_line(side) && ends_line(side);
        const size_t first = lines_.size();
        if (own_line && words <= kMostRunning) read_lines(of_b, side);
        alone_.push_back({of_b, side, words, at, own_line, first, lines_.size()});
    }

    void read_lines(bool of_b, const WrittenSide &side) {
        for (std::string_view line : written_lines(side)) {
            const std::string_view plain = plain_letters(line);
            if (plain.empty()) continue;
            lines_.push_back(digest(plain));
            if (!lines_once_[of_b].insert(lines_.back())) lines_again_[of_b].insert(lines_.back());
        }
    }

    DifferenceClass class_of(const Alone &alone) const {
        if (alone.own_line && (is_running(alone) || is_notice(alone) || is_menu(alone)))
            return DifferenceClass::furniture;
        if (alone.at != Where::within) return class_at_end(alone);
        const bool is_long = alone.words >= kParagraphWords;
        return is_long && whole_paragraphs(alone.side) ? DifferenceClass::paragraphs : DifferenceClass::inside;
    }

    // Page numbers, and lines that come again with different ones.
    bool is_running(const Alone &alone) const {
        if (alone.words > kMostRunning) return false;
        const uint64_t *lines = lines_.data();
        return std::all_of(lines + alone.first_line, lines + alone.end_line,
                           [&](uint64_t line) { return lines_again_[alone.of_b].contains(line); });
    }

    // Short lines before or after the text: a byline, a heading, a page, a right.
    static bool is_notice(const Alone &alone) {
        return alone.at != Where::within && alone.words <= kNotice && short_lines(alone.side.bytes(), kNoticeLine);
    }

    // Short entries with bars between them, before or after the text: a frame.
    static bool is_menu(const Alone &alone) {
        if (alone.at == Where::within) return false;
        const auto [entries, bars, sentences] = menu_entries(alone.side.bytes());
        return bars > 0 && static_cast<int64_t>(bars * 8) >= alone.words - 8 && sentences * 4 <= entries;
    }

    // By where the text is cut: within a sentence, between sentences, between paragraphs.
    static DifferenceClass class_at_end(const Alone &alone) {
        const bool first = alone.at == Where::beginning;
        if (first ? ends_a_paragraph(alone.side) : begins_a_paragraph(alone.side))
            return DifferenceClass::end_paragraphs;
        const bool sentence = alone.side.edges & (first ? ends_sentence : begins_sentence);
        return sentence ? DifferenceClass::end_sentences : DifferenceClass::cut;
    }

    // Replaces `words` by those of all parts, each as a digest: letters and digits, small.
    static void read_words(const std::vector<std::string_view> &parts, std::vector<uint64_t> &words) {
        words.clear();
        uint64_t word = 0;  // 0: none has begun
        const auto close = [&] {
            if (word) words.push_back(word);
            word = 0;
        };
        for (std::string_view part : parts) {
            for (char c : part) {
                const uint8_t letter = kLetter[static_cast<uint8_t>(c)];
                if (letter) word = fold_multiply((word ? word : kSecret[1]) ^ letter, kSecret[3]) | 1;
                else close();
            }
            close();
        }
    }

    static size_t in_both(const std::vector<uint64_t> &a, const std::vector<uint64_t> &b) {
        size_t both = 0;
        for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
            both += a[i] == b[j];
            const bool next_a = a[i] <= b[j], next_b = b[j] <= a[i];
            i += next_a;
            j += next_b;
        }
        return both;
    }

    std::array<int64_t, kDifferenceColumns> counts_{};
    std::vector<Alone> alone_;
    std::vector<uint64_t> lines_;  // digests
    DigestSet seen_, lines_once_[2], lines_again_[2];
    std::vector<std::string_view> parts_[2];
    std::string letters_[2], plain_[2];
    std::vector<uint64_t> words_[2];
};

// Two passages of a text, and what lies between them, as one.
void extend(Side &side, const Side &by) {
    const auto begins = static_cast<uint8_t>(side.edges & (begins_sentence | begins_paragraph));
    const auto ends = static_cast<uint8_t>(by.edges & (ends_sentence | ends_paragraph));
    side = {std::min(side.begin, by.begin), std::max(side.end, by.end), side.words + by.words,
            static_cast<uint8_t>(begins | ends | (side.edges & by.edges & only_numbers))};
}

// A word or two that both have, in the midst of much that differs, are there by chance: the passages around them
// become one.
void join_islands(std::vector<Passage> &passages) {
    const auto words = [](const Passage &p) { return int64_t{std::max(p.a.words, p.b.words)}; };
    const auto is_island = [&](size_t i) {
        if (i == 0 || i + 1 >= passages.size() || passages[i].how != How::shared) return false;
        const Passage &before = passages[i - 1], &after = passages[i + 1];
        if (before.how != How::differs || after.how != How::differs || words(passages[i]) > kIsland) return false;
        return std::min(words(before), words(after)) >= kSea * words(passages[i]);
    };
    std::vector<bool> islands(passages.size());
    for (size_t i = 0; i < passages.size(); ++i) islands[i] = is_island(i);
    size_t kept = 0;
    for (size_t i = 0; i < passages.size(); ++i) {
        if (islands[i] || (i > 0 && islands[i - 1])) {
            extend(passages[kept - 1].a, passages[i].a);
            extend(passages[kept - 1].b, passages[i].b);
        } else {
            passages[kept++] = passages[i];
        }
    }
    passages.resize(kept);
}

std::string_view view(const CutText &text) { return {reinterpret_cast<const char *>(text.text), text.size}; }

WrittenSide written(WrittenText &text, const Side &side, int64_t words) {
    return {&text, side.begin, side.end, words, side.edges};
}

}  // namespace

DifferenceMeasures measure_differences(const CutText &a, const CutText &b, std::vector<Passage> &passages) {
    join_islands(passages);
    DifferenceMeasures found;
    WrittenText text_a(view(a)), text_b(view(b));
    static thread_local Tally scratch;
    Tally &tally = scratch;
    tally.clear();
    for (size_t i = 0; i < passages.size(); ++i) {
        const Passage &passage = passages[i];
        const int64_t in_a = units(a, passage.a), in_b = units(b, passage.b), most = std::max(in_a, in_b);
        found.differs |= passage.how != How::shared;
        if (passage.how == How::differs) {
            const Where at = i == 0 ? Where::beginning : i + 1 == passages.size() ? Where::end : Where::within;
            if (most) tally.add(written(text_a, passage.a, in_a), written(text_b, passage.b, in_b), at);
            continue;
        }
        found.shared += in_a;
        if (passage.how == How::shared && in_a >= kVerbatim) found.verbatim += in_a;
        if (in_a >= kBlock) found.blocks += in_a;
        found.longest = std::max(found.longest, in_a);
        if (passage.how == How::shared) continue;
        const bool far = std::min(in_a, in_b) >= kMovedWords;
        (far ? found.moved : found.counts[static_cast<size_t>(DifferenceClass::replaced)]) += most;
    }
    const bool reordered = tally.is_reordered();
    for (size_t column = 0; const int64_t count : tally.counts()) (reordered ? found.moved : found.counts[column++]) += count;
    return found;
}

}  // namespace neardup
