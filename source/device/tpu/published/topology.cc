// SPDX-License-Identifier: Apache-2.0
// The contract is in topology.h.
#include "device/tpu/published/topology.h"

#include <algorithm>
#include <charconv>

#include "base/guard.hpp"
#include "tengine/error.h"

namespace tengine::tpu {
namespace {

// The limits keep all products within 64 bits, and an output's pixels within an instruction's two
// numbers.
constexpr int64_t kLargestImage = 65535;
constexpr int64_t kLargestDepth = 1 << 24;
constexpr int64_t kMostPixels = 1 << 24;

enum Column
{
    kName,
    kInputHeight,
    kInputWidth,
    kFilterHeight,
    kFilterWidth,
    kChannels,
    kFilters,
    kStride,
    kColumnNum,
};

struct ColumnRule
{
    const char* name;
    int64_t largest;
};

constexpr ColumnRule kRules[kColumnNum] = {
    {"name", 0},
    {"height of the input", kLargestImage},
    {"width of the input", kLargestImage},
    {"height of the filter", kLargestImage},
    {"width of the filter", kLargestImage},
    {"number of channels", kLargestDepth},
    {"number of filters", kLargestDepth},
    {"stride", kLargestImage},
};

std::string trim(const std::string& text)
{
    constexpr const char* kBlanks = " \t\r";
    const size_t begin = text.find_first_not_of(kBlanks);
    if (begin == std::string::npos) return "";
    return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

// Returns the values before each comma.
std::vector<std::string> split(const std::string& line)
{
    std::vector<std::string> values;
    size_t begin = 0;
    for (size_t end; (end = line.find(',', begin)) != std::string::npos; begin = end + 1)
        values.push_back(trim(line.substr(begin, end - begin)));
    return values;
}

bool parse_number(const std::string& text, int64_t* out_number)
{
    const char* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, *out_number);
    return !text.empty() && result.ec == std::errc() && result.ptr == end;
}

class TopologyReader
{
  public:
    TopologyReader(const std::string& where, std::vector<TopologyLayer>* layers)
        : where_(where), layers_(*layers)
    {
    }

    int read(const std::string& text)
    {
        for (size_t begin = 0; begin < text.size();) {
            const size_t end = std::min(text.find('\n', begin), text.size());
            ++line_;
            TENGINE_RETURN_IF_ERROR(read_line(trim(text.substr(begin, end - begin))));
            begin = end + 1;
        }
        if (!layers_.empty()) return TENGINE_OK;
        return tengine_error_set(TENGINE_EFORMAT, "%s: no layer after the heading", where_.c_str());
    }

  private:
    int fail(int code, const std::string& cause) const
    {
        return tengine_error_set(code, "%s, line %d: %s", where_.c_str(), line_, cause.c_str());
    }

    int read_line(const std::string& line)
    {
        const std::vector<std::string> values = split(line);
        int64_t number;
        const bool is_layer = values.size() >= kColumnNum && parse_number(values[kStride], &number);
        if (line_ == 1 && is_layer)
            return fail(TENGINE_EFORMAT,
                        "a layer, expected the heading (Layer name, IFMAP Height, …)");
        if (line_ == 1 || line.empty()) return TENGINE_OK;
        const bool has_ratio = values.size() == kColumnNum + 1;
        if (values.size() != kColumnNum && !has_ratio)
            return fail(TENGINE_EFORMAT,
                        std::to_string(values.size()) +
                            " values before the last comma, expected a name and 7 numbers");
        if (has_ratio && values.back() != "1:1")
            return fail(
                TENGINE_EFORMAT,
                "'" + values.back().substr(0, 40) +
                    "' after the stride, expected nothing or 1:1: sparse layers are not supported");
        return read_layer(values);
    }

    int read_layer(const std::vector<std::string>& values)
    {
        int64_t numbers[kColumnNum];
        for (int i = kInputHeight; i < kColumnNum; ++i) {
            const bool is_number = parse_number(values[i], &numbers[i]);
            if (!is_number || numbers[i] < 1 || numbers[i] > kRules[i].largest)
                return fail(TENGINE_EFORMAT, std::string("the ") + kRules[i].name + " is '" +
                                                 values[i].substr(0, 40) + "', expected 1 to " +
                                                 std::to_string(kRules[i].largest));
        }
        if (numbers[kFilterHeight] > numbers[kInputHeight] ||
            numbers[kFilterWidth] > numbers[kInputWidth])
            return fail(TENGINE_EFORMAT, "a filter of " + std::to_string(numbers[kFilterHeight]) +
                                             "x" + std::to_string(numbers[kFilterWidth]) +
                                             " on an input of " +
                                             std::to_string(numbers[kInputHeight]) + "x" +
                                             std::to_string(numbers[kInputWidth]));
        return add_layer(values[kName], numbers);
    }

    int add_layer(const std::string& name, const int64_t* numbers)
    {
        const auto outputs = [numbers](Column input, Column filter) {
            return divide_up(numbers[input] - numbers[filter] + numbers[kStride], numbers[kStride]);
        };
        const int64_t pixels =
            outputs(kInputHeight, kFilterHeight) * outputs(kInputWidth, kFilterWidth);
        if (pixels > kMostPixels)
            return fail(TENGINE_ELIMIT, std::to_string(pixels) +
                                            " output pixels, expected at most " +
                                            std::to_string(kMostPixels));
        const bool is_depthwise = name.find("DP") != std::string::npos;
        const int64_t channels = is_depthwise ? 1 : numbers[kChannels];
        layers_.push_back({name,
                           {is_depthwise ? numbers[kChannels] : 1,
                            {pixels, numbers[kFilters],
                             numbers[kFilterHeight] * numbers[kFilterWidth] * channels}}});
        return TENGINE_OK;
    }

    const std::string& where_;
    std::vector<TopologyLayer>& layers_;
    int line_ = 0;
};

}  // namespace

int parse_topology(const std::string& text, const std::string& where,
                   std::vector<TopologyLayer>* out_layers)
{
    return guarded(
        [&]() -> int {
            out_layers->clear();
            return TopologyReader(where, out_layers).read(text);
        },
        "out of memory for a topology");
}

}  // namespace tengine::tpu
