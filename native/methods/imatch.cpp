#include "methods/imatch.hpp"

#include "features/sha1.hpp"
#include "hash.hpp"

namespace neardup {
namespace {

constexpr uint32_t kUndropped = 1u << 31;

void sign(uint32_t lexicon, const uint32_t *begin, const uint32_t *end, std::vector<uint64_t> &out) {
    Sha1 sha;
    sha.add(lexicon);
    for (const uint32_t *p = begin; p < end; ++p) sha.add(*p);
    const auto digest = sha.finish();
    out.insert(out.end(), digest.begin(), digest.end());
}

}  // namespace

void imatch_signatures(const uint32_t *ranks, const int64_t *offsets, size_t documents, const uint64_t *hashes,
                       const ImatchSettings &settings, std::vector<uint64_t> &out) {
    out.reserve(documents * (settings.lexicons + 1) * 2);
    std::vector<uint32_t> left;
    for (size_t d = 0; d < documents; ++d) {
        const uint32_t *begin = ranks + offsets[d], *end = ranks + offsets[d + 1];
        sign(0, begin, end, out);
        for (uint32_t lexicon = 1; lexicon <= settings.lexicons; ++lexicon) {
            const uint64_t salt = scramble(settings.seed * kSecret[0] + lexicon);
            left.clear();
            for (const uint32_t *p = begin; p < end; ++p)
                if (scramble(hashes[*p] ^ salt) >= settings.dropped) left.push_back(*p);
            if (left.size() < settings.min_terms)
                sign(lexicon | kUndropped, begin, end, out);
            else
                sign(lexicon, left.data(), left.data() + left.size(), out);
        }
    }
}

}  // namespace neardup
