// SPDX-License-Identifier: Apache-2.0
// Words for error sentences.
#include "serializer/onnx/message.h"

#include <iterator>

namespace tengine {

std::string clean_name(std::string_view name)
{
    constexpr size_t kMaxLength = 100;
    std::string result;
    for (const char letter : name.substr(0, kMaxLength)) {
        const auto code = static_cast<unsigned char>(letter);
        result += code < 0x20 || code == 0x7f ? '?' : letter;
    }
    return name.size() > kMaxLength ? result + "..." : result;
}

std::string quote_name(std::string_view name)
{
    return "'" + clean_name(name) + "'";
}

std::string node_label(std::string_view operator_type, std::string_view name)
{
    return clean_name(operator_type) + " " + quote_name(name);
}

std::string element_type_name(int onnx_type)
{
    static const char* const kNames[] = {"undefined",
                                         "float32",
                                         "uint8",
                                         "int8",
                                         "uint16",
                                         "int16",
                                         "int32",
                                         "int64",
                                         "string",
                                         "bool",
                                         "float16",
                                         "float64",
                                         "uint32",
                                         "uint64",
                                         "complex64",
                                         "complex128",
                                         "bfloat16",
                                         "float8_e4m3fn",
                                         "float8_e4m3fnuz",
                                         "float8_e5m2",
                                         "float8_e5m2fnuz",
                                         "uint4",
                                         "int4"};
    if (onnx_type < 0 || onnx_type >= static_cast<int>(std::size(kNames)))
        return "number " + std::to_string(onnx_type);
    return kNames[onnx_type];
}

}  // namespace tengine
