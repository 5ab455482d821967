#include "features/spots.hpp"

#include <algorithm>
#include <bit>

#include "features/qgrams.hpp"
#include "hash.hpp"

namespace neardup {

Spots::Spots(const SpotSettings &settings) : distance_(settings.distance), chain_(settings.chain) {
    const auto &antecedents = settings.antecedents;
    table_.resize(std::bit_ceil(4 * antecedents.size() + 2));
    for (uint64_t word : antecedents) {
        size_t at = word & (table_.size() - 1);
        while (table_[at] != 0) at = (at + 1) & (table_.size() - 1);
        table_[at] = word;
    }
}

bool Spots::is_antecedent(uint64_t word) const {
    size_t at = word & (table_.size() - 1);
    while (table_[at] != word && table_[at] != 0) at = (at + 1) & (table_.size() - 1);
    return table_[at] == word;
}

void Spots::append(const uint64_t *words, size_t count, std::vector<uint32_t> &out) {
    content_.clear();
    found_.clear();
    hashes_.clear();
    for (size_t i = 0; i < count; ++i) {
        if (!is_antecedent(words[i])) {
            content_.push_back(words[i]);
        } else {
            found_.push_back(words[i]);
            found_.push_back(content_.size());
        }
    }
    const size_t reach = size_t{distance_} * chain_;
    for (size_t i = 0; i < found_.size() && found_[i + 1] + reach <= content_.size(); i += 2) {
        uint64_t hash = fold_multiply(found_[i] ^ kSecret[0], kSecret[1]);
        for (uint32_t step = 1; step <= chain_; ++step)
            hash = fold_multiply(hash ^ content_[found_[i + 1] + size_t{step} * distance_ - 1], kSecret[2]);
        hashes_.push_back(hash);
    }
    std::sort(hashes_.begin(), hashes_.end());
    features_.clear();
    uint64_t repeat = 0;
    for (size_t i = 0; i < hashes_.size(); ++i) {
        repeat = i > 0 && hashes_[i] == hashes_[i - 1] ? repeat + 1 : 0;
        features_.push_back(static_cast<uint32_t>(scramble(hashes_[i] + repeat * kSecret[3]) >> 32));
    }
    sort_distinct(features_, scratch_);
    out.insert(out.end(), features_.begin(), features_.end());
}

}  // namespace neardup
