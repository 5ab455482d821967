// What counts as the same text. Chosen once a run; stored with every signature.
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

}  // namespace neardup
