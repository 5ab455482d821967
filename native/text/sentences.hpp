// Where sentences end, in any script: a rule without dictionaries.
//
// A full stop, exclamation or question mark of a script that puts a space after it, or an ellipsis, ends a
// sentence where white space or the end of the text follows ("3.14", "example.org" and "a?b=c" do not end
// one); the marks of scripts without such a space (。！？। ؟ ።) always do. Closing quotes and brackets
// belong to what they close. A blank line ends a sentence; a single line break does not, since hard-wrapped
// copies of one text break their lines elsewhere. "Dr. Who" is cut in two, in every copy alike.
#pragma once
#include <cstdint>

namespace neardup {

// The end of the sentence that begins at `p`, one past the white space that follows it; `end` if it is the
// last. White space at the beginning belongs to the first sentence. Any bytes are safe.
const uint8_t *sentence_end(const uint8_t *p, const uint8_t *end);

// The most line breaks without anything but white space between them; 2 stands for more.
int line_breaks(const uint8_t *p, const uint8_t *end);

}  // namespace neardup
