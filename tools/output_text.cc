// SPDX-License-Identifier: Apache-2.0
// Prints tensors. The contract is in output_text.h.
#include "output_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <sstream>

#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"
#include "text.h"

namespace tengine::tools {
namespace {

constexpr size_t kFirstValues = 8;
constexpr size_t kFewValues = 64;

// The string in quotes, which separates it from its surroundings.
std::string quoted_text(const std::string& text)
{
    std::string quoted = "\"";
    for (const char letter : text) {
        const auto byte = static_cast<unsigned char>(letter);
        if (letter == '"' || letter == '\\') {
            quoted += '\\';
            quoted += letter;
        } else if (letter == '\n' || letter == '\t') {
            quoted += letter == '\n' ? "\\n" : "\\t";
        } else if (byte < 0x20 || byte == 0x7f) {
            char code[8];
            std::snprintf(code, sizeof code, "\\x%02x", byte);
            quoted += code;
        } else {
            quoted += letter;
        }
    }
    return quoted + '"';
}

std::string element_text(const Tensor& tensor, size_t index)
{
    if (tensor.data_type == TENGINE_DT_STRING) return quoted_text(tensor.texts[index]);
    if (is_complex(tensor.data_type)) return complex_text(get_complex(tensor, index));
    return number_text(get_element(tensor, index));
}

// Strings and complex numbers have no range.
std::string range_text(const Tensor& tensor)
{
    if (tensor.data_type == TENGINE_DT_STRING || is_complex(tensor.data_type)) return "";
    const size_t number = tensor.element_number();
    double least = get_element(tensor, 0);
    double greatest = least;
    double sum = 0;
    for (size_t i = 0; i < number; ++i) {
        const double value = get_element(tensor, i);
        least = std::min(least, value);
        greatest = std::max(greatest, value);
        sum += value;
    }
    return "  min " + number_text(least) + "  max " + number_text(greatest) + "  mean " +
           number_text(sum / static_cast<double>(number)) + "\n";
}

}  // namespace

std::string summary_text(const Tensor& tensor)
{
    const size_t number = tensor.element_number();
    if (number == 0) return "";
    std::string text = "  first";
    for (size_t i = 0; i < std::min(number, kFirstValues); ++i)
        text += " " + element_text(tensor, i);
    return text + (number > kFirstValues ? " ...\n" : "\n") + range_text(tensor);
}

std::string values_text(const Tensor& tensor)
{
    const size_t number = tensor.element_number();
    if (number == 0 || number > kFewValues) return summary_text(tensor);
    const size_t row = tensor.shape.empty() ? 1 : static_cast<size_t>(tensor.shape.back());
    std::string text;
    for (size_t begin = 0; begin < number; begin += row) {
        std::vector<std::string> words;
        for (size_t i = begin; i < begin + row; ++i)
            words.push_back(element_text(tensor, i));
        text += paragraph_text(words, 2);
    }
    return text + (number > 1 ? range_text(tensor) : "");
}

bool is_row(const Tensor& tensor)
{
    const auto is_long = [](int extent) { return extent > 1; };
    return is_floating(tensor.data_type) && tensor.element_number() > 1 &&
           std::count_if(tensor.shape.begin(), tensor.shape.end(), is_long) == 1;
}

std::string top_text(const Tensor& row, int number, const std::vector<std::string>& labels)
{
    std::vector<size_t> ranking(row.element_number());
    std::iota(ranking.begin(), ranking.end(), size_t{0});
    const auto value = [&row](size_t index) {
        const double element = get_element(row, index);
        return std::isnan(element) ? -HUGE_VAL : element;
    };
    std::stable_sort(ranking.begin(), ranking.end(),
                     [&](size_t a, size_t b) { return value(a) > value(b); });
    ranking.resize(std::min(ranking.size(), static_cast<size_t>(number)));
    std::vector<std::vector<std::string>> rows = {
        {">  top", ">value", labels.empty() ? "" : "label"}};
    for (const size_t index : ranking)
        rows.push_back({std::to_string(index), number_text(get_element(row, index)),
                        labels.empty() ? "" : labels.at(index)});
    return table_text(rows);
}

std::vector<std::string> read_labels(const std::string& path)
{
    std::istringstream text(read_file(path));
    std::vector<std::string> labels;
    for (std::string line; std::getline(text, line);) {
        if (!line.empty() && line.back() == '\r') line.pop_back();
        labels.push_back(line);
    }
    if (labels.empty()) throw Failure("'" + path + "' has no labels: expected one per line");
    return labels;
}

}  // namespace tengine::tools
