// SPDX-License-Identifier: Apache-2.0
#include "tensor_file/npy_text.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "tensor_file/failure.h"

namespace tengine::tools {
namespace {

constexpr size_t kCharacterBytes = 4;
constexpr size_t kMostCharacters = size_t{1} << 20;  // in an element

size_t read_width(const std::string& type)
{
    const size_t width = std::strtoul(type.c_str() + 1, nullptr, 10);
    if (width <= kMostCharacters) return width;
    throw Failure("element type '" + type + "' has more than " + std::to_string(kMostCharacters) +
                  " characters");
}

void append_character(uint32_t character, std::string* text)
{
    if (character > 0x10ffff || (character >= 0xd800 && character < 0xe000))
        throw Failure("character " + std::to_string(character) +
                      " of an element is not in Unicode");
    if (character < 0x80) {
        *text += static_cast<char>(character);
        return;
    }
    const int more = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
    constexpr unsigned kFirst[] = {0, 0xc0, 0xe0, 0xf0};
    *text += static_cast<char>(kFirst[more] | character >> (6 * more));
    for (int i = more - 1; i >= 0; --i)
        *text += static_cast<char>(0x80 | (character >> (6 * i) & 0x3f));
}

std::string decode_characters(std::string_view element)
{
    std::string text;
    size_t end = element.size() / kCharacterBytes;
    const auto at = [&](size_t index) {
        uint32_t character;
        std::memcpy(&character, element.data() + index * kCharacterBytes, kCharacterBytes);
        return character;
    };
    while (end > 0 && at(end - 1) == 0)
        --end;
    for (size_t i = 0; i < end; ++i)
        append_character(at(i), &text);
    return text;
}

std::string decode_bytes(std::string_view element)
{
    const size_t last = element.find_last_not_of('\0');
    return std::string(element.substr(0, last == std::string_view::npos ? 0 : last + 1));
}

std::vector<uint32_t> characters_of(const std::string& text)
{
    std::vector<uint32_t> characters;
    size_t left = 0;
    for (const char letter : text) {
        const auto byte = static_cast<unsigned char>(letter);
        const bool follows = (byte & 0xc0) == 0x80;
        if (follows != (left > 0)) throw Failure("a string is not UTF-8");
        if (follows) {
            characters.back() = characters.back() << 6 | (byte & 0x3f);
            --left;
            continue;
        }
        left = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc0 ? 1 : 0;
        characters.push_back(left == 0 ? byte : byte & (0x3f >> left));
    }
    if (left > 0) throw Failure("a string is not UTF-8");
    return characters;
}

}  // namespace

bool is_text_type(const std::string& type)
{
    return type.size() > 1 && std::strchr("US", type[0]) &&
           std::all_of(type.begin() + 1, type.end(),
                       [](unsigned char c) { return std::isdigit(c); });
}

std::vector<std::string> decode_texts(const std::string& type, std::string_view elements,
                                      size_t number)
{
    const bool is_bytes = type[0] == 'S';
    const size_t size = read_width(type) * (is_bytes ? 1 : kCharacterBytes);
    if (elements.size() != size * number)
        throw Failure("there are " + std::to_string(elements.size()) + " bytes of elements, " +
                      std::to_string(number) + " of " + type + " need " +
                      std::to_string(size * number));
    std::vector<std::string> texts;
    for (size_t i = 0; i < number; ++i) {
        const std::string_view element = elements.substr(i * size, size);
        texts.push_back(is_bytes ? decode_bytes(element) : decode_characters(element));
    }
    return texts;
}

std::string encode_texts(const std::vector<std::string>& texts, std::string* out_type)
{
    std::vector<std::vector<uint32_t>> all;
    size_t width = 1;
    for (const std::string& text : texts) {
        all.push_back(characters_of(text));
        width = std::max(width, all.back().size());
    }
    *out_type = "U" + std::to_string(width);
    std::string elements(all.size() * width * kCharacterBytes, '\0');
    for (size_t i = 0; i < all.size(); ++i)
        if (!all[i].empty())
            std::memcpy(&elements[i * width * kCharacterBytes], all[i].data(),
                        all[i].size() * kCharacterBytes);
    return elements;
}

}  // namespace tengine::tools
