// Finds the ends of sentences in any script, by a rule without dictionaries.
//
// A full stop, exclamation mark, question mark or ellipsis ends a sentence if white space or the end of the text
// follows ("3.14", "example.org" and "a?b=c" contain no end). The marks of scripts that put no space after them
// (。！？। ؟ ።) always end one. Closing quotes and brackets belong to the sentence that they close. A blank line ends
// a sentence; a single line break does not, because copies of a text may be wrapped at different places. Abbreviations
// are not recognised: "Dr. Who" is divided in every copy alike.
#pragma once
#include <cstdint>

namespace neardup {

// The end of the sentence that begins at `p`, after the white space that follows it; `end` for the last sentence.
// White space at the beginning belongs to the first sentence. The bytes need not be valid UTF-8.
const uint8_t *sentence_end(const uint8_t *p, const uint8_t *end);

// The greatest number of line breaks with only white space between them, at most 2.
int line_breaks(const uint8_t *p, const uint8_t *end);

}  // namespace neardup
