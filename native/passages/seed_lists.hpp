// Which stored grams each document meets, when documents are compared apart from each other (on several machines).
//
// `Copies::find` takes documents one after the other: what one of them stores depends on its copies, and these on what
// those before it stored. Of a gram, the first `most` places that are stored count. If it is known which grams are not
// stored, the lists of all documents are known, and documents can be compared in any order (`Copies::listed`), which
// says again which grams are not stored. Repeated until the lists stay the same, this ends with the answer of `find`:
// the first document has no lists, the second depends on the first, and so on.
//
// A place whose extension ends within the context of both grams without a copy is left out, so few words travel.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "passages/copies.hpp"

namespace neardup {

inline constexpr uint32_t context_words = 24;  // on each side of a gram

// A sampled gram: the words around it are known, `left` and `right` of its begin, which may be all of the document.
struct Occurrence {
    uint32_t tag, document, position, left, right, is_begin, is_end;
};

// The lists of occurrences, which are sorted by tag, then in the order of the documents. `contexts` has
// `context_words + gram + context_words` words for each. `covered` marks those that are not stored; if it is not known
// yet (null), those are taken that lie inside an exact run with an earlier place.
void seed_lists(const CopySettings &settings, const Occurrence *occurrences, size_t count, const uint32_t *contexts,
                const uint8_t *covered, std::vector<SeedList> &out);

}  // namespace neardup
