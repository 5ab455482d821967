#include "text/recognition.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <new>

#include "simd.hpp"
#include "text/utf8.hpp"

namespace neardup {
namespace {

constexpr size_t kPiece = 60, kMostPieces = 40, kLike = 70;
constexpr size_t kTogether = 8;          // pieces that are searched for at once: a register of the widest level
constexpr size_t kCoarse = 2, kFine = 6;  // a block begins after a half of a piece, within it after a sixth
constexpr size_t kTries = 4;  // pieces that are searched for as they are, in vain
constexpr size_t kCharacters = 0x110000;

void decode_all(const uint8_t *p, size_t size, std::vector<uint32_t> &out) {
    out.clear();
    for (const uint8_t *const end = p + size; p < end;) {
        const Decoded c = decode_valid(p);
        out.push_back(c.cp);
        p += c.size;
    }
}

// Bits that are not set at the end are characters in order.
NEARDUP_INLINE uint64_t next_row(uint64_t row, uint64_t mask) {
    const uint64_t both = row & mask;
    return (row + both) | (row - both);
}

// The rows of kTogether pieces over a block of text; `masks` are those of the first of them.
template <Instructions Level>
NEARDUP_INLINE void block_rows_on(const uint16_t *text, size_t size, const uint64_t *masks, size_t lanes, uint64_t *out) {
    using Lanes = typename LanesOf<uint64_t, Level>::type;
    constexpr size_t count = LanesOf<uint64_t, Level>::count, parts = kTogether / count;
    Lanes row[parts];
    for (Lanes &part : row) part = Lanes{} - 1;
    for (size_t i = 0; i < size; ++i) {
        Lanes mask[parts];
        std::memcpy(mask, masks + text[i] * lanes, sizeof mask);
        for (size_t k = 0; k < parts; ++k) {
            const Lanes both = row[k] & mask[k];
            row[k] = (row[k] + both) | (row[k] - both);
        }
    }
    std::memcpy(out, row, sizeof row);
}

NEARDUP_EACH_LEVEL(void, block_rows, (const uint16_t *text, size_t size, const uint64_t *masks, size_t lanes, uint64_t *out),
                   (text, size, masks, lanes, out))

}  // namespace

// Memory that is zero already costs nothing where no character is.
Recogniser::Recogniser() : codes_(static_cast<uint16_t *>(std::calloc(kCharacters, sizeof(uint16_t)))) {
    if (!codes_) throw std::bad_alloc();
}

// A code of its own for each character of a piece, and the places of the character in it.
uint16_t Recogniser::code_of(uint32_t character) {
    uint16_t &code = codes_[character];
    if (code == 0) {
        used_.push_back(character);
        code = static_cast<uint16_t>(used_.size());
        masks_.resize((used_.size() + 1) * lanes_);
    }
    return code;
}

// A shorter remainder at the end is left out, unless the text is shorter than one piece.
void Recogniser::read_pieces() {
    for (const uint32_t character : used_) codes_[character] = 0;
    used_.clear();
    const size_t count = std::max<size_t>(smaller_->size() / kPiece, 1), sampled = std::min(count, kMostPieces);
    size_ = std::min(smaller_->size(), kPiece);
    least_ = (kLike * size_ + 99) / 100;
    lanes_ = (sampled + kTogether - 1) / kTogether * kTogether;
    masks_.assign(lanes_, 0);
    starts_.clear();
    piece_codes_.clear();
    for (size_t piece = 0; piece < sampled; ++piece) {
        starts_.push_back(kPiece * (piece * count / sampled));
        for (size_t i = 0; i < size_; ++i) {
            const size_t code = code_of((*smaller_)[starts_[piece] + i]);
            piece_codes_.push_back(static_cast<uint16_t>(code));
            masks_[code * lanes_ + piece] |= uint64_t{1} << i;
        }
    }
}

void Recogniser::read_larger() {
    text_.assign(larger_->size() + 2 * size_, 0);
    uint16_t *next = text_.data() + size_;
    for (const uint32_t character : *larger_) *next++ = codes_[character];
}

size_t Recogniser::in_order(size_t piece, size_t begin, size_t size) const {
    const uint64_t *const masks = masks_.data() + piece;
    uint64_t row = ~uint64_t{0};
    for (size_t i = begin; i < begin + size; ++i) row = next_row(row, masks[text_[i] * lanes_]);
    return counted_ones(~row & ((uint64_t{1} << size_) - 1));
}

// Whether a stretch that begins in begin … end − 1 has enough characters in order.
bool Recogniser::has_stretch(size_t piece, size_t begin, size_t end) {
    const size_t step = std::max<size_t>(size_ / kFine, 1);
    for (size_t from = begin; from < end; from += step) {
        const size_t some = std::min(step, end - from);
        if (in_order(piece, from, size_ + some - 1) < least_) continue;
        for (size_t at = from; at < from + some; ++at) {
            if (in_order(piece, at, size_) < least_) continue;
            shift_ = static_cast<ptrdiff_t>(at) - static_cast<ptrdiff_t>(starts_[piece]);
            return true;
        }
    }
    return false;
}

// Whether a stretch about where the pieces before were found has enough characters in order.
bool Recogniser::is_near(size_t piece) {
    const ptrdiff_t last = static_cast<ptrdiff_t>(text_.size() - size_);
    const ptrdiff_t at = std::clamp<ptrdiff_t>(static_cast<ptrdiff_t>(starts_[piece]) + shift_, 0, last);
    const auto around = static_cast<ptrdiff_t>(size_ / kFine);
    if (in_order(piece, static_cast<size_t>(at), size_) >= least_) return true;
    const auto begin = static_cast<size_t>(std::max<ptrdiff_t>(at - around, 0));
    const auto end = static_cast<size_t>(std::min(at + around, last)) + 1;
    return has_stretch(piece, begin, end);
}

// Whether the larger text has the piece as it is; this is where the pieces after it are then looked for.
bool Recogniser::is_exact(size_t piece) {
    const auto begin = text_.begin(), own = piece_codes_.begin() + static_cast<ptrdiff_t>(piece * size_);
    const auto at = std::search(begin, text_.end(), own, own + static_cast<ptrdiff_t>(size_));
    if (at == text_.end()) return false;
    shift_ = (at - begin) - static_cast<ptrdiff_t>(starts_[piece]);
    return true;
}

// How many of the open pieces first … last − 1 are anywhere in the larger text. Their masks are copied beside each other.
int64_t Recogniser::search(size_t first, size_t last) {
    const size_t codes = used_.size() + 1, together = last - first;
    std::vector<uint64_t> &masks = together_;
    masks.assign(codes * kTogether, 0);
    for (size_t code = 1; code < codes; ++code)
        for (size_t k = 0; k < together; ++k) masks[code * kTogether + k] = masks_[code * lanes_ + open_[first + k]];
    const size_t step = std::max<size_t>(size_ / kCoarse, 1), stretches = text_.size() - size_ + 1;
    const uint64_t whole = (uint64_t{1} << size_) - 1;
    std::array<uint64_t, kTogether> rows;
    std::array<bool, kTogether> seen{};
    int64_t found = 0;
    for (size_t from = 0; from < stretches && found < static_cast<int64_t>(together); from += step) {
        const size_t some = std::min(step, stretches - from);
        block_rows(text_.data() + from, size_ + some - 1, masks.data(), kTogether, rows.data());
        for (size_t k = 0; k < together; ++k) {
            if (seen[k] || counted_ones(~rows[k] & whole) < least_) continue;
            seen[k] = has_stretch(open_[first + k], from, from + some);
            found += seen[k];
        }
    }
    return found;
}

Recognised Recogniser::compare(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, int64_t floor) {
    decode_all(a, a_size, one_);
    decode_all(b, b_size, other_);
    const bool in_this_order = one_.size() != other_.size() ? one_.size() < other_.size() : one_ <= other_;
    smaller_ = in_this_order ? &one_ : &other_;
    larger_ = in_this_order ? &other_ : &one_;
    read_pieces();
    Recognised result{0, static_cast<int64_t>(starts_.size())};
    if (size_ == 0) return {1, 1};  // nothing is in everything
    read_larger();
    const auto enough = [&] { return 100 * result.found >= floor * result.pieces; };
    open_.clear();
    shift_ = static_cast<ptrdiff_t>(size_);  // the larger text begins there
    for (size_t piece = 0; piece < starts_.size() && !enough(); ++piece) {
        if (is_near(piece) || (open_.size() < kTries && is_exact(piece)))
            ++result.found;
        else
            open_.push_back(piece);
    }
    for (size_t first = 0; first < open_.size() && !enough(); first += kTogether) {
        const auto left = static_cast<int64_t>(open_.size() - first);
        if (floor <= 100 && 100 * (result.found + left) < floor * result.pieces) break;
        result.found += search(first, std::min(first + kTogether, open_.size()));
    }
    return result;
}

}  // namespace neardup
