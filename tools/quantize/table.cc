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
std::string quantization_text(const tengine_calibrated_tensor& tensor, bool is_unsigned)
{
    char text[48];
    std::snprintf(text, sizeof text, "%.9g %d", static_cast<double>(tensor.scale),
                  tensor.zero_point - (is_unsigned ? 128 : 0));
    return text;
}

}  // namespace

std::string calibration_table(const Calibration& calibration)
{
    std::string table = kFirstLine;
    const bool is_unsigned = calibration.summary().unsigned_activations != 0;
    for (const tengine_calibrated_tensor& tensor : calibration.tensors())
        if (tensor.is_quantized)
            table += line_of(quantization_text(tensor, is_unsigned), tensor.name);
    for (const std::string& node : float_nodes(calibration))
        table += line_of("keep", node);
    return table;
}

}  // namespace tengine::tools
