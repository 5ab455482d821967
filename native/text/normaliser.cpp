#include "text/normaliser.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "text/ascii.hpp"
#include "text/utf8.hpp"

namespace neardup {

using unicode::Record;
using unicode::record;

namespace {

constexpr size_t block = kAsciiBlock;
constexpr uint8_t deleted = 0xFF;
constexpr uint32_t has_two_bytes = 1u << 16, has_one_byte = 1u << 17, is_alphabet = 1u << 18, is_odd = 1u << 19;

bool is_ascii_letter(uint32_t c) { return (c | 0x20) - 'a' < 26; }

}  // namespace

Normaliser::Normaliser(const TextOptions &options, bool blank)
    : options_(options),
      blank_(blank),
      change_flag_(options.fold_case ? unicode::changes_folded : unicode::changes_kept),
      slow_flags_(change_flag_ | unicode::unsafe | unicode::digit | unicode::punctuation) {
    if (options.strip_diacritics) slow_flags_ |= unicode::strips | unicode::any_mark;
    ascii_to_ = tables().ascii_to;
    two_byte_ = tables().two_byte;
    for (uint8_t c = 0; c < 128; ++c)
        if (ascii_to_[c] != deleted) kept_.keep(c);
}

const Normaliser::Tables &Normaliser::tables() const {
    static Tables made[2][2][3][2][2];
    static std::once_flag once[2][2][3][2][2];
    const auto [fold, digits, punctuation, strip] = options_;
    const auto d = static_cast<size_t>(digits), p = static_cast<size_t>(punctuation);
    Tables &own = made[blank_][fold][d][p][strip];
    std::call_once(once[blank_][fold][d][p][strip], [&] { fill(own); });
    return own;
}

void Normaliser::fill(Tables &tables) const {
    for (uint32_t c = 0; c < 128; ++c) {
        const uint16_t flags = record(c).flags;
        const bool digit = flags & unicode::digit, upper = c - 'A' < 26;
        tables.ascii_to[c] = static_cast<uint8_t>(upper && options_.fold_case ? c + 32 : c);
        if (digit && options_.digits == TextOptions::Digits::mask) tables.ascii_to[c] = '0';
        if (digit && options_.digits == TextOptions::Digits::drop) tables.ascii_to[c] = deleted;
        if ((flags & unicode::punctuation) && options_.punctuation == TextOptions::Punctuation::remove)
            tables.ascii_to[c] = deleted;
    }
    std::fill(std::begin(tables.two_byte), std::end(tables.two_byte), 0);
    for (uint32_t cp = 0x80; cp < 2048; ++cp) {
        uint32_t to = cp;
        if (record(cp).flags & change_flag_) {
            const uint32_t *sequence = unicode::mapped(cp, options_.fold_case);
            if (sequence[0] != 1) continue;
            to = sequence[1];
        }
        if (options_.strip_diacritics && (record(to).flags & unicode::strips)) to = unicode::base_of(to);
        const uint16_t flags = record(to).flags;
        const bool simple = !(flags & (unicode::unsafe | unicode::digit | unicode::punctuation));
        if (to >= 2048 || !simple || unicode::is_mark(record(to))) continue;
        if (becomes_blank(to, record(to))) to = ' ';
        uint8_t bytes[4] = {};
        const bool one = encode(to, bytes) - bytes == 1;
        tables.two_byte[cp] = bytes[0] | uint32_t{bytes[1]} << 8 | (one ? has_one_byte : has_two_bytes) |
                        ((flags & unicode::alphabet) ? is_alphabet : 0) |
                        (one || unicode::is_wordlike(record(to)) ? 0 : is_odd);
    }
}

void Normaliser::reserve(size_t more) {
    if (buffer_.size() - size_ < more) buffer_.resize(std::max(buffer_.size() * 2, size_ + more));
}

void Normaliser::run(const uint8_t *text, size_t size, std::vector<Piece> *pieces) {
    size_ = 0;
    pieces_ = pieces;
    last_ccc_ = 0;
    on_alphabet_ = mixed_ = false;
    reserve(size + size / 8 + padding + 2 * block);
    if (pieces) return follow(text, size);
    const uint8_t *p = text, *end = text + size;
    while (p < end) {
        const size_t left = static_cast<size_t>(end - p);
        const size_t done = options_.deletes() ? ascii_deleting(p, left) : ascii(p, left);
        p = others(p + done, end);
    }
    pad();
}

void Normaliser::pad() {
    reserve(padding);
    std::memset(buffer_.data() + size_, 0, padding);
}

// The same with origins; text that is not ASCII is read character by character.
void Normaliser::follow(const uint8_t *text, size_t size) {
    pieces_->clear();
    for (size_t at = 0; at < size;) {
        if (text[at] < 0x80 && !options_.deletes()) {
            flush();
            followed(size_, at, 0);
            at += ascii(text + at, size - at);
            continue;
        }
        const Decoded c = decode(text + at, text + size);
        in_ = at;
        taken_ = c.size;
        character(c.cp);
        at += c.size;
    }
    flush();
    pad();
}

// Bytes that continue the previous piece one to one need no piece of their own.
void Normaliser::followed(size_t out, size_t in, size_t taken) {
    if (!pieces_->empty()) {
        const Piece &last = pieces_->back();
        if (!taken && !last.taken && last.in - last.out == in - out) return;
    }
    pieces_->push_back({out, in, taken});
}

// Returns the origin of the character at `out` and forgets the origins of everything after it.
size_t Normaliser::take_back(size_t out) {
    while (!pieces_->empty() && pieces_->back().out > out) pieces_->pop_back();
    const Piece &last = pieces_->back();
    const size_t in = last.in + (last.taken ? 0 : out - last.out);
    if (last.out == out) pieces_->pop_back();
    return in;
}

AsciiRule Normaliser::ascii_rule() const {
    return {static_cast<uint8_t>(options_.fold_case ? 26 : 0),
            static_cast<uint8_t>(options_.digits == TextOptions::Digits::mask ? 10 : 0)};
}

// Returns the number of leading ASCII bytes.
size_t Normaliser::ascii(const uint8_t *text, size_t size) {
    reserve(size + padding + block);
    uint8_t *out = buffer_.data() + size_;
    const AsciiRule rule = ascii_rule();
    size_t n = copy_ascii(text, size / block, out, rule) * block;
    if (size - n >= block) {
        n += ascii_prefix(text + n);
    } else {
        uint8_t tail[block] = {};
        std::memcpy(tail, text + n, size - n);
        copy_ascii(tail, 1, out + n, rule);
        n += std::min(ascii_prefix(tail), size - n);
    }
    if (n == 0) return 0;
    size_ += n;
    last_ccc_ = 0;
    on_alphabet_ = is_ascii_letter(out[n - 1]);
    return n;
}

size_t Normaliser::ascii_deleting(const uint8_t *text, size_t size) {
    reserve(size + padding + block);
    uint8_t *const start = buffer_.data() + size_, *out = start;
    const Copied copied = copy_kept(text, size, out, kept_, ascii_rule());
    out += copied.made;
    size_t n = copied.taken;
    for (; n < size && text[n] < 0x80; ++n) {
        *out = ascii_to_[text[n]];
        out += *out != deleted;
    }
    if (out == start) return n;
    size_ += static_cast<size_t>(out - start);
    last_ccc_ = 0;
    on_alphabet_ = is_ascii_letter(out[-1]);
    return n;
}

// Reads up to the next run of ASCII characters.
const uint8_t *Normaliser::others(const uint8_t *p, const uint8_t *end) {
    while (p < end) {
        if (run_.empty()) p = simple(p, end);
        if (p == end || p[0] < 0x80) break;
        const Decoded c = decode(p, end);
        p += c.size;
        character(c.cp);
    }
    flush();
    return p;
}

// Reads characters that map to one character of at most as many bytes and need no composition, and single ASCII
// characters among them (the space of Cyrillic text). All state is local, because a store of a byte may alias any
// member.
const uint8_t *Normaliser::simple(const uint8_t *p, const uint8_t *end) {
    reserve(static_cast<size_t>(end - p) + padding);
    uint8_t *const start = buffer_.data() + size_, *out = start;
    bool on_alphabet = on_alphabet_;
    uint32_t seen = 0;
    const bool alone = !options_.deletes();
    const uint16_t slow = slow_flags_;
    while (end - p >= 3) {
        const uint32_t lead = p[0];
        const bool second = (p[1] & 0xC0) == 0x80;
        if (lead < 0x80) {
            if (!alone || p[1] < 0x80) break;
            *out++ = ascii_to_[lead];
            on_alphabet = is_ascii_letter(lead);
            p += 1;
        } else if (lead < 0xE0) {
            const uint32_t to = lead >= 0xC2 && second ? two_byte_[(lead & 0x1F) << 6 | (p[1] & 0x3Fu)] : 0;
            if (!to) break;
            out[0] = static_cast<uint8_t>(to);
            out[1] = static_cast<uint8_t>(to >> 8);
            out += to & has_two_bytes ? 2 : 1;
            on_alphabet = to & is_alphabet;
            seen |= to;
            p += 2;
        } else {
            const Decoded c = decode(p, end);
            const Record &r = record(c.cp);
            if (c.size != 3 || (r.flags & slow) || r.kind == unicode::separator) break;
            std::memcpy(out, p, 3);
            out += 3;
            if (!unicode::is_mark(r)) on_alphabet = r.flags & unicode::alphabet;
            if (!unicode::is_wordlike(r)) seen |= is_odd;
            p += 3;
        }
    }
    if (out == start) return p;
    size_ += static_cast<size_t>(out - start);
    on_alphabet_ = on_alphabet;
    mixed_ |= (seen & is_odd) != 0;
    last_ccc_ = 0;
    return p;
}

void Normaliser::character(uint32_t cp) {
    const Record &r = record(cp);
    if (!(r.flags & slow_flags_)) return place(cp, r);
    if (!(r.flags & change_flag_)) return mapped(cp);
    const uint32_t *sequence = unicode::mapped(cp, options_.fold_case);
    for (uint32_t i = 1; i <= sequence[0]; ++i) mapped(sequence[i]);
}

void Normaliser::mapped(uint32_t cp) {
    const Record *r = &record(cp);
    if (r->flags & unicode::digit) {
        if (options_.digits == TextOptions::Digits::drop) return;
        if (options_.digits == TextOptions::Digits::mask) r = &record(cp = '0');
    }
    if ((r->flags & unicode::punctuation) && options_.punctuation == TextOptions::Punctuation::remove) return;
    if (options_.strip_diacritics) {
        // Only on these alphabets: in other scripts (Indic vowel signs, Thai, Hebrew points) Mn distinguishes words.
        if (on_alphabet_ && unicode::is_mark(*r)) return spacing_marks(cp);
        if (r->flags & unicode::strips) r = &record(cp = unicode::base_of(cp));
    }
    place(cp, *r);
}

// Writes what remains of a mark without its nonspacing parts.
void Normaliser::spacing_marks(uint32_t cp) {
    parts_.clear();
    unicode::decompose(cp, parts_);
    for (uint32_t part : parts_)
        if (!(record(part).flags & unicode::nonspacing)) place(part, record(part));
}

// UAX #15, detecting normalisation forms: text in NFC stays so if a character that is NFC_QC = Yes is
// added in the order of combining classes. Anything else starts a run that is composed as a whole.
void Normaliser::place(uint32_t cp, const Record &r) {
    if (!unicode::is_mark(r)) on_alphabet_ = r.flags & unicode::alphabet;
    if (!(r.flags & unicode::unsafe)) {
        flush();
    } else if (!run_.empty()) {
        return hold(cp);
    } else if (r.ccc == 0 || r.ccc < last_ccc_ || (r.flags & unicode::composes)) {
        gather();
        return hold(cp);
    }
    last_ccc_ = r.ccc;
    write(becomes_blank(cp, r) ? ' ' : cp);
}

void Normaliser::hold(uint32_t cp) {
    run_.push_back(cp);
    run_end_ = in_ + taken_;
}

// A separator that composes (← with U+0338) must stay until the next character is known.
bool Normaliser::becomes_blank(uint32_t cp, const Record &r) const {
    return blank_ && cp >= 0x80 && r.kind == unicode::separator && !(r.flags & unicode::joins);
}

void Normaliser::write(uint32_t cp) {
    reserve(block);
    mixed_ |= cp >= 0x80 && !unicode::is_wordlike(record(cp));
    const size_t before = size_;
    size_ = static_cast<size_t>(encode(cp, buffer_.data() + size_) - buffer_.data());
    if (pieces_ && run_.empty()) followed(before, in_, size_ - before == taken_ ? 0 : taken_);
}

// Moves the output back into `run_`, up to the last character that does not interact with those before it.
void Normaliser::gather() {
    while (size_ > 0) {
        size_t at = size_ - 1;
        while ((buffer_[at] & 0xC0) == 0x80) --at;
        const uint32_t cp = decode_valid(buffer_.data() + at).cp;
        size_ = at;
        run_.push_back(cp);
        if (!(record(cp).flags & unicode::unsafe)) break;
    }
    std::reverse(run_.begin(), run_.end());
    if (pieces_) run_in_ = run_.empty() ? in_ : take_back(size_);
}

void Normaliser::flush() {
    if (run_.empty()) return;
    if (pieces_) pieces_->push_back({size_, run_in_, run_end_ - run_in_});
    unicode::compose(run_, scratch_);
    for (uint32_t cp : run_) write(cp);
    last_ccc_ = record(run_.back()).ccc;
    run_.clear();
}

}  // namespace neardup
