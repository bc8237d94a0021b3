// SPDX-License-Identifier: Apache-2.0
// Writes the calibration table. The contract is in table.h.
#include "quantize/table.h"

#include <cstdio>

#include "tensor_file/failure.h"

namespace tengine::tools {
namespace {

constexpr const char* kFirstLine = "# tengine calibration table 1\n";

constexpr const char* kLineBreaks = "\r\n";

std::string on_one_line(std::string text)
{
    for (char& c : text)
        if (c == '\r' || c == '\n') c = '?';
    return text;
}

// A name is the rest of its line, so it may hold anything else.
std::string line_of(const std::string& start, const std::string& name)
{
    if (name.find_first_of(kLineBreaks) != std::string::npos)
        throw Failure("a calibration table cannot hold '" + on_one_line(name) +
                      "', a name with a line break");
    return start + " " + name + "\n";
}

// Nine digits restore a float exactly. Zero points are those of int8.
std::string quantization_text(const Quantization& quantization, bool is_unsigned)
{
    char text[48];
    std::snprintf(text, sizeof text, "%.9g %d", static_cast<double>(quantization.scale),
                  quantization.zero_point - (is_unsigned ? 128 : 0));
    return text;
}

}  // namespace

std::string calibration_table(const QuantizedModel& quantized,
                              const std::set<std::string>& float_nodes)
{
    std::string table = kFirstLine;
    for (const auto& [tensor, quantization] : quantized.quantizations)
        table +=
            line_of(quantization_text(quantization, quantized.has_unsigned_activations), tensor);
    for (const std::string& node : float_nodes)
        table += line_of("keep", node);
    return table;
}

}  // namespace tengine::tools
