#include "methods/reading.hpp"

namespace neardup {

void read_words(const uint8_t *values, const int64_t *offsets, size_t documents, const TextOptions &options,
                const WordMap *map, Reading &out) {
    Tokenizer tokenizer(options, map);
    std::vector<uint64_t> words;
    std::vector<uint8_t> scratch;
    out.words.reserve(static_cast<size_t>(offsets[documents] - offsets[0]) / 5);
    for (size_t d = 0; d < documents; ++d) {
        const uint8_t *text = values + offsets[d];
        const auto size = static_cast<size_t>(offsets[d + 1] - offsets[d]);
        tokenizer.hashes(text, size, words);
        out.words.insert(out.words.end(), words.begin(), words.end());
        out.ends.push_back(static_cast<int64_t>(out.words.size()));
        out.text_digests.push_back(bytes_digest(text, size, kTextSeed));
        out.normal_digests.push_back(normal_digest(tokenizer, words, text, size, kNormalSeed, scratch));
        for (uint64_t seed : {1, 2})
            out.short_digests.push_back(normal_digest(tokenizer, words, text, size, seed, scratch));
    }
}

}  // namespace neardup
