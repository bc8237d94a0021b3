// SPDX-License-Identifier: Apache-2.0
// Writes reports. The contract is in json_file.h.
#include "json_file.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "base/utf8.h"
#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"

namespace tengine::tools {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";  // U+FFFD

std::string escape_text(char letter)
{
    static constexpr std::pair<char, const char*> kShort[] = {
        {'"', "\\\""}, {'\\', "\\\\"}, {'\n', "\\n"}, {'\r', "\\r"},
        {'\t', "\\t"}, {'\b', "\\b"},  {'\f', "\\f"}};
    for (const auto& [plain, escaped] : kShort)
        if (letter == plain) return escaped;
    if (static_cast<unsigned char>(letter) >= 0x20) return std::string(1, letter);
    char text[8];
    std::snprintf(text, sizeof text, "\\u%04x", static_cast<unsigned>(letter));
    return text;
}

// Writes a value and its contents, each member and element on a line of its own.
class Printer
{
  public:
    void operator()(std::nullptr_t) { text_ += "null"; }
    void operator()(bool value) { text_ += value ? "true" : "false"; }
    void operator()(int64_t value) { text_ += std::to_string(value); }
    void operator()(uint64_t value) { text_ += std::to_string(value); }

    // The shortest form that is read back as the same number. JSON has neither infinity nor NaN.
    void operator()(double value)
    {
        char digits[40];
        if (!std::isfinite(value)) return (*this)(nullptr);
        const std::string number(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
        text_ += number;
        if (number.find_first_of(".e") == std::string::npos) text_ += ".0";
    }

    void operator()(const std::string& value)
    {
        text_ += '"';
        for (const char letter : valid_utf8(value))
            text_ += escape_text(letter);
        text_ += '"';
    }

    void operator()(const Json::Array& items)
    {
        print_all('[', items, ']', [this](const Json& item) { std::visit(*this, item.value()); });
    }

    void operator()(const Json::Object& members)
    {
        print_all('{', members, '}', [this](const auto& member) {
            (*this)(member.first);
            text_ += ": ";
            std::visit(*this, member.second.value());
        });
    }

    std::string take_text() { return std::move(text_); }

  private:
    template <class List, class Print>
    void print_all(char begin, const List& list, char end, const Print& print)
    {
        text_ += begin;
        indent_ += 2;
        for (size_t i = 0; i < list.size(); ++i) {
            text_ += i == 0 ? "\n" : ",\n";
            text_.append(indent_, ' ');
            print(list[i]);
        }
        indent_ -= 2;
        if (!list.empty()) text_.append(1, '\n').append(indent_, ' ');
        text_ += end;
    }

    std::string text_;
    size_t indent_ = 0;
};

bool is_member(const Json& item)
{
    const Json::Array* pair = std::get_if<Json::Array>(&item.value());
    return pair && pair->size() == 2 && std::holds_alternative<std::string>((*pair)[0].value());
}

}  // namespace

Json::Json(std::initializer_list<Json> items) : value_(Array(items))
{
    if (!std::all_of(items.begin(), items.end(), is_member)) return;
    Object members;
    for (const Json& item : items) {
        const Array& pair = std::get<Array>(item.value_);
        members.emplace_back(std::get<std::string>(pair[0].value_), pair[1]);
    }
    value_ = std::move(members);
}

Json Json::array()
{
    Json json;
    json.value_ = Array();
    return json;
}

Json Json::object()
{
    Json json;
    json.value_ = Object();
    return json;
}

void Json::push_back(const Json& item)
{
    std::get<Array>(value_).push_back(item);
}

size_t Json::size() const
{
    return std::get<Array>(value_).size();
}

Json& Json::operator[](const std::string& name)
{
    if (std::holds_alternative<std::nullptr_t>(value_)) value_ = Object();
    Object& members = std::get<Object>(value_);
    const auto found = std::find_if(members.begin(), members.end(),
                                    [&](const auto& member) { return member.first == name; });
    return found != members.end() ? found->second : members.emplace_back(name, nullptr).second;
}

void write_text(const std::string& path, const std::string& text)
{
    if (path != "-") return write_file(path, text);
    if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
        throw Failure(std::string("standard output cannot be written: ") + std::strerror(errno));
}

void write_json(const std::string& path, const Json& json)
{
    Printer printer;
    std::visit(printer, json.value());
    write_text(path, printer.take_text() + '\n');
}

std::string valid_utf8(const std::string& text)
{
    std::string valid;
    for (size_t at = 0; at < text.size();) {
        const size_t length = measure_utf8_character(&text[at], text.size() - at);
        valid += length == 0 ? kReplacement : text.substr(at, length);
        at += std::max<size_t>(length, 1);
    }
    return valid;
}

}  // namespace tengine::tools
