// SPDX-License-Identifier: Apache-2.0
#include "fuzz/onnx_values.h"

#include <algorithm>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>

namespace tengine::test {

using ::onnx::AttributeProto;
using ::onnx::TensorProto;

int64_t OnnxValues::some_integer()
{
    constexpr int64_t kExtremes[] = {INT64_MIN, INT64_MAX, INT_MIN, INT_MAX, 0,  65536,
                                     1 << 30,   -2,        -1,      7,       16, 1000};
    // Returns mostly values that are valid as an axis, an extent or a pad.
    if (draw(4) != 0) return draw(6) - 1;
    return kExtremes[draw(static_cast<int>(std::size(kExtremes)))];
}

float OnnxValues::some_float()
{
    const float extremes[] = {NAN, INFINITY, -INFINITY, FLT_MAX, -FLT_MAX, FLT_MIN, 0.0f, -0.0f};
    if (draw(8) == 0) return extremes[draw(static_cast<int>(std::size(extremes)))];
    return static_cast<float>(draw(4001) - 2000) / 500.0f;
}

std::string OnnxValues::some_word(const char* choices)
{
    std::vector<std::string> words = {"", "linear", "NOTSET"};
    const std::string list = choices && draw(8) != 0 ? choices : "";
    for (size_t begin = 0; begin < list.size();) {
        const size_t end = std::min(list.find('|', begin), list.size());
        words.push_back(list.substr(begin, end - begin));
        begin = end + 1;
    }
    return words[list.empty() ? draw(3) : 3 + draw(static_cast<int>(words.size()) - 3)];
}

std::string OnnxValues::some_text()
{
    static const std::string kTexts[] = {"",
                                         "a",
                                         "b",
                                         "ab",
                                         "a b",
                                         "A",
                                         "1",
                                         "-7",
                                         "1e40",
                                         "nan",
                                         "(a*)*b",
                                         "[",
                                         "\xc3\xa9",
                                         "\xff",
                                         std::string("a\0b", 3),
                                         std::string(300, 'x')};
    return kTexts[draw(static_cast<int>(std::size(kTexts)))];
}

const ir_method_t* OnnxValues::some_operator()
{
    for (int tries = 0; tries < 20; ++tries) {
        const ir_method_t* method = find_op_method_via_index(draw(get_op_method_count()));
        if (!method->tengine) return method;
    }
    return find_op_method_via_index(0);
}

void OnnxValues::fill_attribute(const op_field_t& field, AttributeProto* attribute)
{
    attribute->Clear();
    attribute->set_name(field.name);
    const int number = draw(5);
    switch (field.kind) {
        case OP_FIELD_INT:
            attribute->set_type(AttributeProto::INT);
            attribute->set_i(some_integer());
            return;
        case OP_FIELD_FLOAT:
            attribute->set_type(AttributeProto::FLOAT);
            attribute->set_f(some_float());
            return;
        case OP_FIELD_STRING:
            attribute->set_type(AttributeProto::STRING);
            attribute->set_s(some_word(field.choices));
            return;
        case OP_FIELD_INTS:
            attribute->set_type(AttributeProto::INTS);
            for (int i = 0; i < number; ++i)
                attribute->add_ints(some_integer());
            return;
        case OP_FIELD_FLOATS:
            attribute->set_type(AttributeProto::FLOATS);
            for (int i = 0; i < number; ++i)
                attribute->add_floats(some_float());
            return;
        case OP_FIELD_STRINGS:
            attribute->set_type(AttributeProto::STRINGS);
            for (int i = 0; i < number; ++i)
                attribute->add_strings(some_text());
            return;
        default:
            attribute->set_type(AttributeProto::TENSOR);
            fill_constant(attribute->mutable_t());
    }
}

void OnnxValues::fill_constant(TensorProto* constant)
{
    const std::string name = constant->name();
    constant->Clear();
    constant->set_name(name);
    int number = 1;
    for (int i = draw(4); i > 0; --i) {
        const int extent = draw(8) == 0 ? 0 : draw(4) + 1;
        constant->add_dims(extent);
        number *= extent;
    }
    const int choice = draw(8);
    if (choice == 0) return fill_typed(draw(27), number, constant);
    constant->set_data_type(choice < 4 ? TensorProto::INT64 : TensorProto::FLOAT);
    for (int i = 0; i < number; ++i) {
        if (choice < 4)
            constant->add_int64_data(some_integer());
        else
            constant->add_float_data(some_float());
    }
}

// Sometimes a byte or a string is missing, or one too many.
void OnnxValues::fill_typed(int type, int number, TensorProto* constant)
{
    constexpr int kBits[] = {0,  32,  8,  8, 16, 16, 32, 64, 0, 8, 16, 64, 32, 64,
                             64, 128, 16, 8, 8,  8,  8,  4,  4, 4, 8,  2,  2};
    constant->set_data_type(type);
    const int error = draw(8) == 0 ? draw(3) - 1 : 0;
    if (type == TensorProto::STRING) {
        for (int i = 0; i < number + error; ++i)
            constant->add_string_data(some_text());
        return;
    }
    const int bytes = std::max(0, (number * kBits[type] + 7) / 8 + error);
    for (int i = 0; i < bytes; ++i)
        constant->mutable_raw_data()->push_back(static_cast<char>(draw(256)));
}

}  // namespace tengine::test
