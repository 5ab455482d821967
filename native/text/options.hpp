// Text options: they define which words count as the same, hold for a whole run and are stored with every signature.
#pragma once
#include <cstdint>

namespace neardup {

struct TextOptions {
    enum class Digits : uint8_t { keep, mask, drop };
    enum class Punctuation : uint8_t { split, remove };

    bool fold_case = true;
    Digits digits = Digits::keep;
    Punctuation punctuation = Punctuation::split;
    bool strip_diacritics = false;

    bool deletes() const { return digits == Digits::drop || punctuation == Punctuation::remove; }
};

inline TextOptions without_punctuation(TextOptions options) {
    options.punctuation = TextOptions::Punctuation::remove;
    return options;
}

}  // namespace neardup
