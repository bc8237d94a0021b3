// SPDX-License-Identifier: Apache-2.0
// The .npy format: a magic string, the length of a header, the header (a Python dictionary with
// exactly three keys), the elements. The contract is in npy.h.
#include "tensor_file/npy.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string_view>

#include "tensor_file/failure.h"
#include "tensor_file/npy_text.h"
#include "tensor_file/small_element.h"

namespace tengine::tools {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr size_t kMagicSize = sizeof kMagic - 1;

struct TypeName
{
    const char* text;  // without the byte order
    int data_type;
};

constexpr TypeName kTypeNames[] = {
    {"f4", TENGINE_DT_FP32},        {"f2", TENGINE_DT_FP16},   {"f8", TENGINE_DT_FP64},
    {"V2", TENGINE_DT_BF16},        {"i1", TENGINE_DT_INT8},   {"u1", TENGINE_DT_UINT8},
    {"i2", TENGINE_DT_INT16},       {"u2", TENGINE_DT_UINT16}, {"i4", TENGINE_DT_INT32},
    {"u4", TENGINE_DT_UINT32},      {"i8", TENGINE_DT_INT64},  {"u8", TENGINE_DT_UINT64},
    {"b1", TENGINE_DT_BOOL},        {"V1", TENGINE_DT_UINT8},  {"c8", TENGINE_DT_COMPLEX64},
    {"c16", TENGINE_DT_COMPLEX128},
};

int parse_type(const std::string& text)
{
    if (text.size() < 2 || !std::strchr("<=|", text[0]))
        throw Failure("element type '" + text + "' is not little-endian");
    for (const TypeName& name : kTypeNames) {
        if (text.substr(1) == name.text) return name.data_type;
    }
    throw Failure("element type '" + text + "' is not supported");
}

// Reads the header left to right; every take_… fails if the header is not as NumPy writes it.
class HeaderReader
{
  public:
    explicit HeaderReader(const std::string& text) : text_(text) {}

    bool take(char wanted)
    {
        skip_space();
        if (at_ == text_.size() || text_[at_] != wanted) return false;
        ++at_;
        return true;
    }

    void expect(char wanted)
    {
        if (!take(wanted)) throw Failure("the header is damaged: " + text_);
    }

    std::string take_string()
    {
        const char quote = take('"') ? '"' : '\'';
        if (quote == '\'') expect('\'');
        const size_t end = text_.find(quote, at_);
        if (end == std::string::npos) throw Failure("the header is damaged: " + text_);
        std::string result = text_.substr(at_, end - at_);
        at_ = end + 1;
        return result;
    }

    bool take_bool()
    {
        const bool value = take('T');
        for (const char letter : std::string(value ? "rue" : "False"))
            expect(letter);
        return value;
    }

    std::vector<int64_t> take_tuple()
    {
        std::vector<int64_t> values;
        expect('(');
        while (!take(')')) {
            values.push_back(take_number());
            if (!take(',')) {
                expect(')');
                break;
            }
        }
        return values;
    }

  private:
    void skip_space()
    {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])))
            ++at_;
    }

    // A number with more digits than fit is larger than every tensor.
    int64_t take_number()
    {
        constexpr int kMostDigits = 18;
        skip_space();
        int64_t value = 0;
        const size_t begin = at_;
        for (; at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])); ++at_)
            value = at_ - begin < kMostDigits ? value * 10 + (text_[at_] - '0') : INT64_MAX / 10;
        if (at_ == begin) throw Failure("the header is damaged: " + text_);
        return value;
    }

    const std::string& text_;
    size_t at_ = 0;
};

struct Header
{
    std::string type;
    bool column_major = false;
    std::vector<int64_t> shape;
};

Header parse_header(const std::string& text)
{
    Header header;
    HeaderReader reader(text);
    reader.expect('{');
    while (!reader.take('}')) {
        const std::string key = reader.take_string();
        reader.expect(':');
        if (key == "descr") {
            header.type = reader.take_string();
        } else if (key == "fortran_order") {
            header.column_major = reader.take_bool();
        } else if (key == "shape") {
            header.shape = reader.take_tuple();
        } else {
            throw Failure("the header has the unknown key '" + key + "'");
        }
        reader.take(',');
    }
    return header;
}

// Position and length of the header's characters.
struct HeaderPlace
{
    size_t begin = 0;
    size_t length = 0;
};

HeaderPlace find_header(const std::string& content)
{
    const size_t version_end = kMagicSize + 2;
    if (content.size() < version_end + 4 || content.compare(0, kMagicSize, kMagic) != 0)
        throw Failure("not an .npy file");
    const int version = static_cast<unsigned char>(content[kMagicSize]);
    if (version < 1 || version > 3)
        throw Failure(".npy version " + std::to_string(version) + ", expected 1 to 3");
    const size_t length_bytes = version == 1 ? 2 : 4;
    HeaderPlace place;
    place.begin = version_end + length_bytes;
    for (size_t i = 0; i < length_bytes; ++i)
        place.length |= static_cast<size_t>(static_cast<unsigned char>(content[version_end + i]))
                        << (8 * i);
    if (place.length > content.size() - place.begin) throw Failure("the header is truncated");
    return place;
}

}  // namespace

Tensor decode_npy(const std::string& content)
{
    const HeaderPlace place = find_header(content);
    const Header header = parse_header(content.substr(place.begin, place.length));
    if (header.column_major && header.shape.size() > 1)
        throw Failure("the elements are column-major; save numpy.ascontiguousarray(...) instead");
    const std::string_view elements = std::string_view(content).substr(place.begin + place.length);
    const std::string type = header.type.substr(std::min<size_t>(1, header.type.size()));
    if (!is_text_type(type)) return make_tensor(parse_type(header.type), header.shape, elements);
    Tensor tensor = make_tensor(TENGINE_DT_STRING, header.shape);
    tensor.texts = decode_texts(type, elements, tensor.element_number());
    return tensor;
}

std::string encode_npy(const Tensor& tensor)
{
    if (is_small(tensor.data_type)) return encode_npy(widen_small(tensor));
    std::string type;
    std::string texts;
    if (tensor.data_type == TENGINE_DT_STRING) texts = encode_texts(tensor.texts, &type);
    for (const TypeName& name : kTypeNames) {
        if (name.data_type == tensor.data_type && type.empty()) type = name.text;
    }
    const bool single_byte = type.back() == '1' && type.front() != 'U';
    std::string header = std::string("{'descr': '") + (single_byte ? '|' : '<') + type +
                         "', 'fortran_order': False, 'shape': (";
    for (const int extent : tensor.shape)
        header += std::to_string(extent) + ", ";
    header += "), }";
    // The elements begin at a multiple of 64 bytes, and the header ends with a line feed.
    const size_t before = kMagicSize + 4;
    header.append(63 - (before + header.size()) % 64, ' ');
    header += '\n';

    std::string content = kMagic;
    content += '\x01';
    content += '\0';
    content += static_cast<char>(header.size() & 0xff);
    content += static_cast<char>(header.size() >> 8);
    content += header;
    if (tensor.data_type == TENGINE_DT_STRING) return content + texts;
    content.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
    return content;
}

}  // namespace tengine::tools
