#include "documents/jsonl.hpp"

#include <array>

#include "documents/lines.hpp"
#include "documents/string_run.hpp"
#include "documents/utf8.hpp"

namespace neardup::jsonl {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

int hex_digit(char c) {
    if (is_digit(c)) return c - '0';
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Reads one value after another. On an error, `status` and `p` are the error and its position, and every function up the
// stack returns false.
class Reader {
  public:
    Reader(const char *begin, const char *end, const char *limit) : p(begin), end_(end), limit_(limit) {}

    const char *p;
    Status status = Status::ok;
    bool escaped = false;         // the last string had an escape
    const char *lone = nullptr;  // the first unpaired surrogate that was written

    bool fail(Status what) {
        status = p < end_ ? what : Status::cut_off;
        return false;
    }
    bool fail_here(Status what) {
        status = what;
        return false;
    }
    bool at(char c) const { return p < end_ && *p == c; }
    bool done() const { return p >= end_; }
    void skip() { p = skip_space(p, end_); }

    // Reads a string whose opening quote is at p, and writes its content to `out`, if given.
    bool string(Buffer *out) {
        escaped = false;
        const char *run = ++p;
        for (;;) {
            const Run found = string_run(run, limit_);
            p = found.end < end_ ? found.end : end_;
            if (found.multibyte && !utf8(run)) return false;
            if (p == end_) return fail_here(Status::cut_off);
            const char c = *p;
            if (c != '"' && c != '\\') return fail_here(Status::control_character);
            if (out) out->append(run, static_cast<size_t>(p - run));
            ++p;
            if (c == '"') return true;
            escaped = true;
            if (!escape(out)) return false;
            run = p;
        }
    }

    bool value(Buffer *out, Type &type) {
        if (done()) return fail(Status::expected_value);
        switch (*p) {
        case '"': type = Type::string; return string(out);
        case '{': type = Type::object; return raw(out, &Reader::container);
        case '[': type = Type::array; return raw(out, &Reader::container);
        case 't': type = Type::true_; return literal("true", out);
        case 'f': type = Type::false_; return literal("false", out);
        case 'n': type = Type::null; return literal("null", nullptr);
        default:
            if (*p != '-' && !is_digit(*p)) return fail(Status::expected_value);
            type = Type::number;
            return raw(out, &Reader::number);
        }
    }

    // Reads a key (opening quote at p), the colon, and the white space around it.
    bool key() {
        if (!at('"')) return fail(Status::expected_key);
        return string(nullptr) && colon();
    }
    bool colon() {
        skip();
        if (!at(':')) return fail(Status::expected_colon);
        ++p;
        skip();
        return true;
    }

  private:
    const char *end_;
    const char *limit_;  // string runs may be read up to here, because the newline stops them
    std::array<char, max_depth> open_;

    bool raw(Buffer *out, bool (Reader::*parse)()) {
        const char *begin = p;
        if (!(this->*parse)()) return false;
        if (out) out->append(begin, static_cast<size_t>(p - begin));
        return true;
    }

    bool literal(std::string_view word, Buffer *out) {
        const char *begin = p;
        for (char c : word) {
            if (!at(c)) {
                if (done()) return fail_here(Status::cut_off);
                p = begin;
                return fail_here(Status::expected_value);
            }
            ++p;
        }
        if (out) out->append(begin, word.size());
        return true;
    }

    bool digits() {
        if (done() || !is_digit(*p)) return fail(Status::bad_number);
        while (!done() && is_digit(*p)) ++p;
        return true;
    }

    bool number() {
        if (at('-')) ++p;
        if (at('0')) {
            ++p;
            if (!done() && is_digit(*p)) return fail(Status::bad_number);
        } else if (!digits()) {
            return false;
        }
        if (at('.')) {
            ++p;
            if (!digits()) return false;
        }
        if (at('e') || at('E')) {
            ++p;
            if (at('+') || at('-')) ++p;
            return digits();
        }
        return true;
    }

    bool utf8(const char *run) {
        const char *bad = invalid_utf8(run, p);
        if (bad == nullptr) return true;
        p = bad;
        return fail_here(Status::bad_utf8);
    }

    bool hex4(uint32_t &code) {
        code = 0;
        for (int i = 0; i < 4; ++i, ++p) {
            const int digit = done() ? -1 : hex_digit(*p);
            if (digit < 0) return fail(Status::bad_escape);
            code = code << 4 | static_cast<uint32_t>(digit);
        }
        return true;
    }

    bool unicode_escape(Buffer *out) {
        uint32_t code = 0, low = 0;
        if (!hex4(code)) return false;
        if (code >= 0xD800 && code < 0xDC00 && end_ - p >= 6 && p[0] == '\\' && p[1] == 'u') {
            const char *second = p;
            p += 2;
            if (!hex4(low)) return false;
            if (low >= 0xDC00 && low < 0xE000) {
                code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
            } else {
                p = second;
            }
        }
        if (code >= 0xD800 && code < 0xE000) {
            if (out && !lone) lone = p - 6;
            code = 0xFFFD;
        }
        if (out) append_utf8(*out, code);
        return true;
    }

    bool escape(Buffer *out) {
        if (done()) return fail(Status::bad_escape);
        char c = *p;
        switch (c) {
        case '"': case '\\': case '/': break;
        case 'b': c = '\b'; break;
        case 'f': c = '\f'; break;
        case 'n': c = '\n'; break;
        case 'r': c = '\r'; break;
        case 't': c = '\t'; break;
        case 'u': ++p; return unicode_escape(out);
        default: return fail(Status::bad_escape);
        }
        ++p;
        if (out) out->push(c);
        return true;
    }

    // Reads an object or array inside the line's object, so the first one opened here is at depth 2.
    bool container() {
        int depth = 0;
        do {
            if (at('{') || at('[')) {
                if (depth + 1 == max_depth) return fail(Status::too_deep);
                const char open = *p++;
                open_[static_cast<size_t>(depth++)] = open;
                skip();
                if (!at(open == '{' ? '}' : ']')) {
                    if (open == '{' && !key_or_close()) return false;
                    continue;
                }
            } else {
                Type type;
                if (!value(nullptr, type)) return false;
            }
            if (!after_value(depth)) return false;
        } while (depth > 0);
        return true;
    }

    bool key_or_close() {
        if (!at('"')) return fail(Status::expected_key_or_close);
        return key();
    }

    // Closes the containers that end here, then reads the comma (and in an object the key) before the next value.
    bool after_value(int &depth) {
        for (;;) {
            if (depth == 0) return true;
            const bool object = open_[static_cast<size_t>(depth - 1)] == '{';
            skip();
            if (at(object ? '}' : ']')) {
                ++p;
                --depth;
                continue;
            }
            if (!at(',')) {
                return fail(object ? Status::expected_comma_or_brace : Status::expected_comma_or_bracket);
            }
            ++p;
            skip();
            return !object || key();
        }
    }
};

class Scanner {
  public:
    Scanner(std::span<const std::string> names, Scan &scan) : names_(names), scan_(scan), found_(names.size()) {
        scan_.fields.resize(names.size());
    }

    void line(const Line &line, const char *limit) {
        found_.assign(found_.size(), Type::absent);
        places_.assign(2 * found_.size(), 0);
        lone_ = nullptr;
        begin_ = line.begin;
        Reader reader(line.first, line.last, limit);
        if (line.blank) {
            reader.status = Status::blank;
        } else if (!object(reader)) {
            discard();
        }
        const char *place = reader.status > Status::blank ? reader.p : lone_;
        scan_.status.push_back(static_cast<uint8_t>(reader.status));
        scan_.position.push_back(place ? place - line.begin + 1 : 0);
        for (size_t i = 0; i < found_.size(); ++i) {
            Field &field = scan_.fields[i];
            field.types.push_back(static_cast<uint8_t>(found_[i]));
            field.offsets.push_back(static_cast<int64_t>(field.values.size()));
            field.places.insert(field.places.end(), {places_[2 * i], places_[2 * i + 1]});
        }
    }

  private:
    std::span<const std::string> names_;
    Scan &scan_;
    std::vector<Type> found_;
    std::vector<int64_t> places_;
    const char *lone_ = nullptr, *begin_ = nullptr;
    Buffer unescaped_;

    void discard() {
        for (size_t i = 0; i < found_.size(); ++i) restart(i);
        found_.assign(found_.size(), Type::absent);
    }
    void restart(size_t i) {
        Field &field = scan_.fields[i];
        field.values.truncate(static_cast<size_t>(field.offsets.back()));
    }

    bool object(Reader &reader) {
        reader.skip();
        if (!reader.at('{')) return not_object(reader);
        ++reader.p;
        reader.skip();
        if (!reader.at('}')) {
            if (!reader.at('"')) return reader.fail(Status::expected_key_or_close);
            if (!members(reader)) return false;
        }
        ++reader.p;
        reader.skip();
        return reader.done() || reader.fail(Status::trailing_data);
    }

    bool not_object(Reader &reader) {
        const char c = *reader.p;
        const bool value = c == '[' || c == '"' || c == '-' || c == 't' || c == 'f' || c == 'n' || is_digit(c);
        return reader.fail(value ? Status::not_object : Status::expected_value);
    }

    bool members(Reader &reader) {
        for (;;) {
            if (!member(reader)) return false;
            reader.skip();
            if (reader.at('}')) return true;
            if (!reader.at(',')) return reader.fail(Status::expected_comma_or_brace);
            ++reader.p;
            reader.skip();
        }
    }

    bool member(Reader &reader) {
        const char *quote = reader.p;
        if (!reader.at('"')) return reader.fail(Status::expected_key);
        if (!reader.string(nullptr)) return false;
        const size_t field = find(reader, quote);
        if (!reader.colon()) return false;
        Type type;
        if (field == names_.size()) return reader.value(nullptr, type);
        restart(field);
        reader.lone = nullptr;
        places_[2 * field] = reader.p - begin_;
        if (!reader.value(&scan_.fields[field].values, type)) return false;
        places_[2 * field + 1] = reader.p - begin_;
        found_[field] = reader.lone ? Type::surrogate : type;
        if (reader.lone && !lone_) lone_ = reader.lone;
        return true;
    }

    // The requested field whose name is the key from `quote` to the reader's position.
    size_t find(Reader &reader, const char *quote) {
        std::string_view key(quote + 1, static_cast<size_t>(reader.p - quote - 2));
        if (reader.escaped) {
            unescaped_.truncate(0);
            reader.p = quote;
            reader.string(&unescaped_);
            key = unescaped_.view();
        }
        size_t i = 0;
        while (i < names_.size() && names_[i] != key) ++i;
        return i;
    }
};

}  // namespace

Scan scan(std::string_view chunk, std::span<const std::string> fields, bool start_of_file) {
    Scan out;
    Scanner scanner(fields, out);
    for (Field &field : out.fields) field.values.expect(chunk.size());
    const char *const end = chunk.data() + chunk.size();
    for (const char *p = chunk.data(); p < end;) {
        const Line line = line_at(p, end, start_of_file && p == chunk.data());
        scanner.line(line, end);
        p = line.next;
    }
    return out;
}

}  // namespace neardup::jsonl
