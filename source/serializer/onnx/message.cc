// SPDX-License-Identifier: Apache-2.0
// Names in messages.
#include "serializer/onnx/message.h"

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

}  // namespace tengine
