#include "methods/shingles.hpp"

#include <algorithm>
#include <array>

#include "features/minhash.hpp"
#include "features/shingles.hpp"
#include "hash.hpp"
#include "methods/reading.hpp"

namespace neardup {
namespace {

// Keys of unlike tables must never meet, so the table's number is part of the key.
constexpr uint64_t kPrefixTable = ~uint64_t{0};
constexpr uint64_t kShortTable = ~uint64_t{1};

uint64_t feature_key(uint64_t feature, uint64_t table) { return scramble(feature ^ fold_multiply(table, kSecret[2])); }

// |A| − ⌈t·|A|⌉ + 1: whoever shares t of A shares one of these.
size_t prefix_size(size_t size, const ShingleSettings &s) {
    const uint64_t needed = (size * s.threshold_num + s.threshold_den - 1) / s.threshold_den;
    return size - std::max<uint64_t>(needed, 1) + 1;
}

class Worker {
  public:
    Worker(const TextOptions &text, const WordMap *map, uint32_t width, std::span<const uint64_t> ignored)
        : tokenizer_(text, map), width_(width), ignored_(ignored) {}

    void words(const uint8_t *text, size_t size) { tokenizer_.hashes(text, size, words_); }
    // Reads the words; gives their digest.
    uint64_t read(const uint8_t *text, size_t size) { return read_text(tokenizer_, text, size, words_, normal_); }
    size_t size() const { return words_.size(); }
    // Keeps the last words, which begin the shingles of the next piece; says how many there are.
    size_t carry(size_t most) {
        if (words_.size() > most) words_.erase(words_.begin(), words_.end() - static_cast<ptrdiff_t>(most));
        return words_.size();
    }
    const std::vector<uint64_t> &more_words(const uint8_t *text, size_t size) {
        tokenizer_.hashes(text, size, hashes_);
        words_.insert(words_.end(), hashes_.begin(), hashes_.end());
        return words_;
    }
    void forget() { words_.clear(); }
    // False where nothing is left to compare.
    bool shingle() {
        shingle_hashes(words_.data(), words_.size(), width_, hashes_);
        if (!ignored_.empty())
            std::erase_if(hashes_, [&](uint64_t hash) {
                return std::binary_search(ignored_.begin(), ignored_.end(), hash);
            });
        return !hashes_.empty();
    }
    const std::vector<uint32_t> &features() {
        feature_set(hashes_, features_, counts_);
        return features_;
    }
    uint64_t digest(const uint8_t *text, size_t size, uint64_t seed) {
        return normal_digest(tokenizer_, words_, text, size, seed, normal_);
    }
    void minima(std::span<const uint32_t> multipliers, uint32_t *out) {
        minhash(hashes_.data(), hashes_.size(), multipliers.data(), multipliers.size(), out);
    }

  private:
    Tokenizer tokenizer_;
    uint32_t width_;
    std::span<const uint64_t> ignored_;
    std::vector<uint64_t> words_, hashes_;
    std::vector<uint32_t> features_, counts_;
    std::vector<uint8_t> normal_;
};

void append_keys(const std::vector<uint32_t> &features, const std::vector<uint32_t> &minima,
                 const ShingleSettings &s, ShingleBatch &out) {
    if (s.scheme == KeyScheme::bands) {
        for (uint32_t b = 0; b < s.bands; ++b) out.keys.push_back(band_key(minima.data() + b * s.rows, s.rows, b));
        out.probes.push_back(static_cast<int32_t>(s.bands));
        return;
    }
    const size_t probes = prefix_size(features.size(), s);
    const size_t count = s.scheme == KeyScheme::containment ? features.size() : probes;
    for (size_t i = 0; i < count; ++i) out.keys.push_back(feature_key(features[i], kPrefixTable));
    out.probes.push_back(static_cast<int32_t>(probes));
}

void append_short(Worker &worker, const uint8_t *text, size_t size, ShingleBatch &out) {
    const uint64_t a = worker.digest(text, size, 1), b = worker.digest(text, size, 2);
    std::array<uint32_t, 4> digest = {uint32_t(a), uint32_t(a >> 32), uint32_t(b), uint32_t(b >> 32)};
    std::sort(digest.begin(), digest.end());
    out.features.insert(out.features.end(), digest.begin(), digest.end());
    out.keys.push_back(feature_key(a, kShortTable));
    out.probes.push_back(1);
}

// What is the same for documents of any length, once their features are at the end of the batch.
void append_digests(const uint8_t *text, size_t size, bool too_short, uint64_t normal_digest, ShingleBatch &out) {
    const auto begin = static_cast<size_t>(out.feature_ends.back());
    const auto *set = reinterpret_cast<const uint8_t *>(out.features.data() + begin);
    const size_t bytes = (out.features.size() - begin) * sizeof(uint32_t);
    for (uint64_t seed : {3, 4}) out.set_digests.push_back(bytes_digest(set, bytes, seed + (too_short ? 2 : 0)));
    out.text_digests.push_back(bytes_digest(text, size, kTextSeed));
    out.normal_digests.push_back(normal_digest);
    out.too_short.push_back(too_short);
    out.feature_ends.push_back(static_cast<int64_t>(out.features.size()));
    out.key_ends.push_back(static_cast<int64_t>(out.keys.size()));
}

void append_document(Worker &worker, const uint8_t *text, size_t size, const ShingleSettings &s,
                     std::vector<uint32_t> &minima, ShingleBatch &out) {
    const uint64_t normal_digest = worker.read(text, size);
    const bool too_short = worker.size() < std::max<uint32_t>(s.min_words, 1) || !worker.shingle();
    if (too_short) {
        append_short(worker, text, size, out);
    } else {
        const auto &features = worker.features();
        if (s.scheme == KeyScheme::bands) worker.minima(s.multipliers, minima.data());
        append_keys(features, minima, s, out);
        out.features.insert(out.features.end(), features.begin(), features.end());
    }
    append_digests(text, size, too_short, normal_digest, out);
}

// A space or line feed always parts words, in every script and under all options.
const uint8_t *piece_end(const uint8_t *begin, const uint8_t *end, size_t bytes) {
    if (static_cast<size_t>(end - begin) <= bytes) return end;
    const uint8_t *p = begin + std::max<size_t>(bytes, 1);  // a piece is never empty
    while (p < end && *p != ' ' && *p != '\n') ++p;
    return p;
}

// A long text in pieces: memory for words and hashes of one piece and for the distinct features.
class LongText {
  public:
    LongText(Worker &worker, const ShingleSettings &s)
        : worker_(worker), s_(s), digest_({kNormalSeed}), minima(s.multipliers.size(), ~uint32_t{0}), piece_(minima) {}

    void add(const uint8_t *text, size_t size) {
        const size_t carried = worker_.carry(s_.width - 1);
        const auto &words = worker_.more_words(text, size);
        digest_.add(words.data() + carried, words.size() - carried);
        count_ += words.size() - carried;
        if (words.size() < s_.width || !worker_.shingle()) return;
        const auto &some = worker_.features();
        features.insert(features.end(), some.begin(), some.end());
        if (features.size() > 2 * distinct_ + (size_t{1} << 20)) compact();
        worker_.minima(s_.multipliers, piece_.data());
        for (size_t i = 0; i < minima.size(); ++i) minima[i] = std::min(minima[i], piece_[i]);
    }
    void compact() {
        std::sort(features.begin(), features.end());
        features.erase(std::unique(features.begin(), features.end()), features.end());
        distinct_ = features.size();
    }
    size_t words() const { return count_; }
    uint64_t normal_digest() const { return digest_.value(); }

  private:
    Worker &worker_;
    const ShingleSettings &s_;
    SequenceDigest digest_;
    size_t count_ = 0, distinct_ = 0;

  public:
    std::vector<uint32_t> features, minima;

  private:
    std::vector<uint32_t> piece_;
};

// The same result as append_document.
void append_long(Worker &worker, const uint8_t *text, size_t size, const ShingleSettings &s,
                 std::vector<uint32_t> &minima, ShingleBatch &out) {
    worker.forget();
    LongText whole(worker, s);
    const uint8_t *const end = text + size;
    for (const uint8_t *p = text; p < end;) {
        const uint8_t *next = piece_end(p, end, s.piece_bytes);
        whole.add(p, static_cast<size_t>(next - p));
        p = next;
    }
    // Few words in much space, or nothing but boilerplate.
    if (whole.words() < std::max({s.min_words, s.width, 1u}) || whole.features.empty())
        return append_document(worker, text, size, s, minima, out);
    whole.compact();
    append_keys(whole.features, whole.minima, s, out);
    out.features.insert(out.features.end(), whole.features.begin(), whole.features.end());
    append_digests(text, size, false, whole.normal_digest(), out);
}

}  // namespace

struct ShingleReader::State {
    ShingleSettings settings;
    Worker worker;
    std::vector<uint32_t> minima;
    ShingleBatch batch;
};

ShingleReader::ShingleReader(const TextOptions &text, const WordMap *map, const ShingleSettings &s)
    : state_(new State{s, Worker(text, map, s.width, s.ignored), std::vector<uint32_t>(s.multipliers.size()), {}}) {}
ShingleReader::~ShingleReader() = default;

const ShingleBatch &ShingleReader::read(const uint8_t *text, size_t size) {
    auto &[settings, worker, minima, batch] = *state_;
    batch.features.clear();
    batch.keys.clear();
    for (auto *ends : {&batch.feature_ends, &batch.key_ends}) ends->assign(1, 0);
    for (auto *digests : {&batch.set_digests, &batch.text_digests, &batch.normal_digests}) digests->clear();
    batch.probes.clear();
    batch.too_short.clear();
    const auto append = size > settings.piece_bytes ? append_long : append_document;
    append(worker, text, size, settings, minima, batch);
    return batch;
}

void prepare_shingles(const uint8_t *values, const int64_t *offsets, size_t documents, const TextOptions &text,
                      const WordMap *map, const ShingleSettings &settings, ShingleBatch &out) {
    Worker worker(text, map, settings.width, settings.ignored);
    std::vector<uint32_t> minima(settings.multipliers.size());
    out.features.reserve(static_cast<size_t>(offsets[documents] - offsets[0]) / 7);
    out.keys.reserve(documents * std::max<uint32_t>(settings.bands, 1));
    for (size_t d = 0; d < documents; ++d) {
        const auto size = static_cast<size_t>(offsets[d + 1] - offsets[d]);
        const auto append = size > settings.piece_bytes ? append_long : append_document;
        append(worker, values + offsets[d], size, settings, minima, out);
    }
}

void shingle_signatures(const uint8_t *values, const int64_t *offsets, size_t documents, const TextOptions &text,
                        const WordMap *map, uint32_t width, std::span<const uint64_t> ignored,
                        std::span<const uint32_t> multipliers, std::vector<uint32_t> &out) {
    Worker worker(text, map, width, ignored);
    out.resize(documents * multipliers.size());
    for (size_t d = 0; d < documents; ++d) {
        worker.words(values + offsets[d], static_cast<size_t>(offsets[d + 1] - offsets[d]));
        worker.shingle();
        worker.minima(multipliers, out.data() + d * multipliers.size());
    }
}

}  // namespace neardup
