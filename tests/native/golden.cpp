// The golden vectors of the kernels, without Python: for processors that no test machine has.
//
// Computes every kernel on made-up input at each level that the machine has and compares a digest of all bits with
// the one that x86-64 gave. `golden` fails where one differs; `golden --print` shows them all; `golden --each` only runs
// them, for a count of instructions.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "decisions/differences.hpp"
#include "documents/lines.hpp"
#include "features/minhash.hpp"
#include "features/parity.hpp"
#include "features/gram_samples.hpp"
#include "features/qgrams.hpp"
#include "features/shingles.hpp"
#include "features/sketch.hpp"
#include "hash.hpp"
#include "methods/majority.hpp"
#include "methods/raregrams.hpp"
#include "simd.hpp"
#include "text/words.hpp"

using namespace neardup;

namespace {

class Numbers {
  public:
    explicit Numbers(uint64_t seed) : state_(seed) {}
    uint64_t next() { return scramble(state_ += kSecret[0]); }
    template <typename T>
    std::vector<T> many(size_t size, uint64_t below = 0) {
        std::vector<T> out(size);
        for (T &value : out) value = static_cast<T>(below ? next() % below : next());
        return out;
    }

  private:
    uint64_t state_;
};

template <typename T>
uint64_t digest(const std::vector<T> &values) {
    return bytes_digest(reinterpret_cast<const uint8_t *>(values.data()), values.size() * sizeof(T), 0);
}

std::string made_text(uint64_t seed, size_t words) {
    constexpr const char *pieces[] = {"The ",   "quick, ", "Brown ", "fox-",   "jumps ", "over\n", "1999 ", "größe ",
                                      "日本語", "жук ",    "a ",     "\n\n",   "İ",      "end. ",  "ﬁne ",  "x\u0301 ",
                                      "Abcdefghijklmnopqrstuvwxyz "};
    Numbers numbers(seed);
    std::string text;
    for (size_t i = 0; i < words; ++i) text += pieces[numbers.next() % std::size(pieces)];
    return text;
}

const uint8_t *bytes_of(const std::string &text) { return reinterpret_cast<const uint8_t *>(text.data()); }

uint64_t words() {
    static const std::string text = made_text(1, 5000);
    std::vector<uint64_t> hashes;
    SequenceDigest sequence({1});
    Tokenizer(TextOptions{}, nullptr).hashes(bytes_of(text), text.size(), hashes, &sequence);
    hashes.push_back(sequence.value());
    return digest(hashes);
}

uint64_t shingles() {
    static const auto words = Numbers(2).many<uint64_t>(1003);
    std::vector<uint64_t> out, all;
    for (uint32_t width : {1u, 3u, 5u, 20u, 64u}) {
        shingle_hashes(words.data(), words.size(), width, out);
        all.insert(all.end(), out.begin(), out.end());
    }
    return digest(all);
}

uint64_t minima() {
    static const auto hashes = Numbers(3).many<uint64_t>(777);
    static const auto multipliers = Numbers(4).many<uint32_t>(272);
    std::vector<uint32_t> out(multipliers.size());
    minhash(hashes.data(), hashes.size(), multipliers.data(), multipliers.size(), out.data());
    return digest(out);
}

uint64_t classic_minima() {
    static const auto hashes = Numbers(5).many<uint64_t>(777);
    static const auto a = Numbers(6).many<uint32_t>(144, kClassicPrime), b = Numbers(7).many<uint32_t>(144, kClassicPrime);
    std::vector<uint32_t> out(a.size());
    classic_minhash(hashes.data(), hashes.size(), {a, b}, out.data());
    return digest(out);
}

uint64_t places() {
    static const auto values = Numbers(8).many<uint32_t>(1000, 3);
    const std::vector<int64_t> offsets = {0, 333, 666, 1000}, a = {0, 0, 1}, b = {1, 2, 1};
    std::vector<int64_t> counts(3);
    equal_places(values.data(), offsets.data(), a.data(), b.data(), 3, counts.data());
    return digest(counts);
}

uint64_t qgrams() {
    static const std::string text = made_text(9, 5000);
    std::vector<uint32_t> out;
    Qgrams(TextOptions{}, 4, 1).append(bytes_of(text), text.size(), 0, out);
    return digest(out);
}

std::vector<uint64_t> sampled_texts(std::vector<int64_t> &ends) {
    static const std::vector<std::string> texts = {made_text(17, 300), made_text(17, 2000) + "1234 567", made_text(18, 9000)};
    GramSamples samples(TextOptions{}, 8);
    std::vector<uint64_t> out;
    for (const std::string &text : texts) {
        samples.append(bytes_of(text), text.size(), 512, out);
        ends.push_back(static_cast<int64_t>(out.size()));
    }
    return out;
}

uint64_t samples() {
    std::vector<int64_t> ends{0};
    return digest(sampled_texts(ends));
}

// Weights, keys and scores of the method raregrams.
uint64_t rare_grams() {
    static std::vector<int64_t> ends{0}, a{0, 0, 1, 2}, b{1, 2, 2, 2};
    static const auto entries = sampled_texts(ends);
    static const auto wide = Numbers(19).many<uint16_t>(1 << 12, 200);
    static const std::vector<uint8_t> counts(wide.begin(), wide.end());
    static const uint64_t none[2] = {};
    static const auto weights = Numbers(20).many<uint32_t>(200, 1 << 20);
    static const auto multipliers = Numbers(21).many<uint32_t>(48);
    std::vector<uint64_t> values = entries, keys;
    weigh_grams(values.data(), ends.data(), ends.size() - 1, {counts.data(), counts.size(), none, 2}, weights.data());
    std::vector<int64_t> key_ends;
    std::vector<int32_t> probes;
    gram_keys(values.data(), ends.data(), ends.size() - 1, {32, 16, 16, 3, 8, 6, 8, multipliers.data(), 48}, keys, key_ends,
              probes);
    std::vector<GramSums> sums(a.size());
    compare_grams(values.data(), ends.data(), a.data(), b.data(), a.size(), sums.data());
    for (const GramSums &one : sums)
        for (const int64_t sum : {one.common, one.a, one.b, one.shared, one.rare, one.smaller, one.own, one.figures,
                                  one.common_figures, one.level, one.lone, one.apart})
            keys.push_back(static_cast<uint64_t>(sum));
    return digest(keys);
}

uint64_t parity() {
    static const auto a = Numbers(10).many<uint64_t>(64), b = Numbers(11).many<uint64_t>(64);
    std::vector<int64_t> bits;
    for (size_t words : {1u, 8u, 32u, 64u}) bits.push_back(differing_bits(a.data(), 64, b.data(), words, INT64_MAX));
    return digest(bits);
}

uint64_t votes() {
    static const auto hashes = Numbers(12).many<uint64_t>(1000);
    std::vector<uint64_t> prints;
    for (size_t size = 0; size < hashes.size(); size += 37) prints.push_back(majority(hashes.data(), size));
    return digest(prints);
}

uint64_t lines() {
    std::vector<int64_t> counts;
    static const std::vector<std::string> texts = {"", made_text(13, 10), made_text(13, 100), made_text(13, 20000)};
    for (const std::string &text : texts) counts.push_back(count_lines(text));
    return digest(counts);
}

uint64_t differences() {
    static const std::string first = made_text(14, 600);
    static const std::string second = made_text(15, 40) + first.substr(first.find(' ')) + made_text(16, 30);
    Aligner aligner(TextOptions{}, nullptr, nullptr, false);
    CutText a, b;
    std::vector<Passage> passages;
    aligner.cut(bytes_of(first), first.size(), a);
    aligner.cut(bytes_of(second), second.size(), b);
    aligner.align(a, b, passages);
    const DifferenceMeasures found = measure_differences(a, b, passages);
    std::vector<int64_t> all = {found.shared, found.verbatim, found.blocks, found.longest, found.moved};
    all.insert(all.end(), found.counts.begin(), found.counts.end());
    return digest(all);
}

struct Golden {
    const char *name;
    uint64_t (*kernel)();
    uint64_t expected;
};

constexpr Golden kGolden[] = {
    {"words", words, 0x02c1d9ca90446398ull},
    {"shingles", shingles, 0xe1c09c640b92e5bcull},
    {"minima", minima, 0x404ce01941391ddbull},
    {"classic minima", classic_minima, 0xc7be951f67661d49ull},
    {"places", places, 0xfb34978a3bdc73fcull},
    {"q-grams", qgrams, 0xe3bfe51c868a8b8bull},
    {"samples", samples, 0x82a382effe13fd4eull},
    {"rare grams", rare_grams, 0xed277ebf470e475bull},
    {"parity", parity, 0xe12056d3bf956ed3ull},
    {"votes", votes, 0x7bd6f3802ab8f89cull},
    {"lines", lines, 0x3e2120c7ab153269ull},
    {"differences", differences, 0xcbaf21845d4c315bull},
};

}  // namespace

// callgrind is told to begin a new count here.
extern "C" NEARDUP_NOINLINE void next_kernel() { asm volatile(""); }

// What benchmarks/instruction_counts.py counts: one kernel after the other, on inputs that are there already.
static void run_each() {
    const int levels = static_cast<int>(best_instructions());
    for (int level = -1; level <= levels; ++level) {
        use_instructions(static_cast<Instructions>(std::max(level, 0)));
        for (const auto &[name, kernel, expected] : kGolden) {
            if (level >= 0) next_kernel();
            kernel();
            if (level >= 0) std::printf("%d %s\n", level, name);
        }
    }
    next_kernel();
}

int main(int count, char **arguments) {
    if (count > 1 && std::strcmp(arguments[1], "--each") == 0) return run_each(), 0;
    const bool print = count > 1 && std::strcmp(arguments[1], "--print") == 0;
    int wrong = 0;
    for (int level = 0; level <= static_cast<int>(best_instructions()); ++level) {
        use_instructions(static_cast<Instructions>(level));
        for (const auto &[name, kernel, expected] : kGolden) {
            const uint64_t found = kernel();
            if (print) std::printf("level %d  %-15s 0x%016llx\n", level, name, static_cast<unsigned long long>(found));
            if (found == expected) continue;
            ++wrong;
            if (!print) std::printf("The bits of %s differ from those of x86-64 at level %d.\n", name, level);
        }
    }
    if (!wrong) std::printf("All kernels give the bits of x86-64; levels of instructions tested: %d.\n", static_cast<int>(best_instructions()) + 1);
    return wrong && !print ? 1 : 0;
}
