#include "methods/reading.hpp"

namespace neardup {
namespace {

constexpr std::array<uint64_t, 2> kShortSeeds = {1, 2};

void append_short_digests(Tokenizer &tokenizer, const std::vector<uint64_t> &words, const uint8_t *text, size_t size,
                          std::vector<uint8_t> &scratch, std::vector<uint64_t> &out) {
    if (words.empty()) {
        for (uint64_t seed : kShortSeeds) out.push_back(wordless_digest(tokenizer, text, size, seed, scratch));
        return;
    }
    SequenceDigests<2> digests(kShortSeeds);
    digests.add(words.data(), words.size());
    for (size_t i : {0, 1}) out.push_back(digests.value(i));
}

}  // namespace

void read_words(const uint8_t *values, const int64_t *offsets, size_t documents, const TextOptions &options,
                const WordMap *map, bool hashes, Reading &out) {
    Tokenizer tokenizer(options, map);
    std::vector<uint64_t> words;
    std::vector<uint8_t> scratch;
    if (hashes) out.words.reserve(static_cast<size_t>(offsets[documents] - offsets[0]) / 5);
    int64_t count = 0;
    for (size_t d = 0; d < documents; ++d) {
        const uint8_t *text = values + offsets[d];
        const auto size = static_cast<size_t>(offsets[d + 1] - offsets[d]);
        out.normal_digests.push_back(read_text(tokenizer, text, size, words, scratch));
        if (hashes) out.words.insert(out.words.end(), words.begin(), words.end());
        out.ends.push_back(count += static_cast<int64_t>(words.size()));
        out.text_digests.push_back(bytes_digest(text, size, kTextSeed));
        append_short_digests(tokenizer, words, text, size, scratch, out.short_digests);
    }
}

}  // namespace neardup
