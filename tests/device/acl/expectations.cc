// SPDX-License-Identifier: Apache-2.0
// The cases of the table that ACL refuses, its reasons, and the errors of its approximations.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "device/acl/docs_table.h"
#include "device/acl/node_case.h"

namespace tengine::acl {
namespace {

// ACL refuses the cases whose names have all these words, for a reason with this text; the first
// row that fits counts. Without a reason it takes them.
struct Refusal
{
    const char* words;
    const char* reason;
};

constexpr const char* kAxes = "a window over 3 axes";
constexpr const char* kPower = "powers of negative numbers";
constexpr const char* kSquare = "weights->dimension(width_idx) != weights->dimension(height_idx)";

constexpr Refusal kRefusals[] = {
    {"AveragePool dilations=2,1", "ACL does not support dilations 2"},
    {"AveragePool dilations=2,3", "ACL does not support dilations 3"},
    {"AveragePool 1x3x5x6x7", kAxes},
    {"Conv 1x3x5x6x7", kAxes},
    {"Conv 1x4x3x5x4", kAxes},
    {"Conv 1x4x3x5x6", kAxes},
    {"Conv 1x5x9x11 7x5x3x3", "the weight must be constant"},
    {"ConvTranspose group=2", "ACL does not support group 2"},
    {"ConvTranspose group=4", "ACL does not support group 4"},
    {"ConvTranspose dilations=2,1", "ACL does not support dilations 2"},
    {"ConvTranspose dilations=2,2", "ACL does not support dilations 2"},
    {"ConvTranspose dilations=3,2", "ACL does not support dilations 2"},
    {"ConvTranspose dilations=2,3", "ACL does not support dilations 3"},
    {"ConvTranspose 1x7x33", kSquare},
    {"ConvTranspose #5x17x7x6", kSquare},
    {"ConvTranspose 1x3x3x4x5", kAxes},
    {"ConvTranspose 1x1x5x5", "ACL does not support pads 1"},
    {"ConvTranspose 1x2x4x4", "ACL does not support pads 2"},
    {"DepthToSpace mode=CRD", "ACL does not support mode 'CRD'"},
    {"Gemm beta=2.25", "ACL would add C as it is"},
    {"MaxPool dilations=2,1", "ACL does not support dilations 2"},
    {"MaxPool dilations=2,3", "ACL does not support dilations 3"},
    {"MaxPool 1x3x5x6x7", kAxes},
    {"MaxPool 1x3x4x5", "ACL does not support dilations 900000000"},
    {"Pad mode=edge", "ACL does not support mode 'edge'"},
    {"Pad mode=wrap", "ACL does not support mode 'wrap'"},
    {"Pow [2]", ""},
    {"Pow [0.5]", ""},
    {"Pow", kPower},
    {"Resize mode=cubic", "ACL does not support mode 'cubic'"},
    {"Resize mode=nearest coordinate_transformation_mode=half_pixel",
     "ACL does not support coordinate_transformation_mode 'half_pixel'"},
    {"Resize [1,1,282,3]", "ACL takes pixel 127 for 141, not 128"},
    {"Resize [1,1,3,142]", "ACL takes pixel 62 for 71, not 63"},
    {"Resize [1,1,6,82]", "ACL takes pixel 0 for 41, not 1"},
    {"Slice [-1,-2]", "ACL does not support step -1"},
    {"Slice 5x7", "has no elements"},
};

constexpr const char* kEdge = "windows at the edge have fewer values";
constexpr const char* kMean = "com.microsoft.QLinearAveragePool";

// The same for arithmetic in int8 and uint8.
constexpr Refusal kByteRefusals[] = {
    {"com.microsoft.QLinearAveragePool dilations=2,3", "ACL does not support dilations 3"},
    {"com.microsoft.QLinearAveragePool count_include_pad=1", ""},
    {"com.microsoft.QLinearAveragePool pads=1,1,1,1", kEdge},
    {"com.microsoft.QLinearAveragePool pads=0,0,1,1", kEdge},
    {"com.microsoft.QLinearAveragePool pads=0,1,1,0", kEdge},
    {"com.microsoft.QLinearAveragePool pads=3,3,3,3", kEdge},
    {"com.microsoft.QLinearAveragePool pads=3,4,3,4", kEdge},
    {"com.microsoft.QLinearAveragePool pads=0,128,0,130", kEdge},
    {"com.microsoft.QLinearAveragePool pads=1,1", kEdge},
    {"com.microsoft.QLinearAveragePool ceil_mode=1", kEdge},
    {"com.microsoft.QGemm 7x13 #7x17", "C has a value for each element"},
    {"com.microsoft.QGemm 7x13 #7x1", "expected one for each column"},
    {"com.microsoft.QGemm 13x13 #13x1", "C has a value for each row"},
    {"com.microsoft.QGemm transA=1", "ACL does not support transA 1"},
    {"DequantizeLinear axis=1", "has several scales"},
    {"DequantizeLinear 2x3x5", "has several scales"},
    {"MaxPool dilations=2,1", "ACL does not support dilations 2"},
    {"MaxPool dilations=2,3", "ACL does not support dilations 3"},
    {"MaxPool 1x3x5x6x7", kAxes},
    {"MaxPool 1x3x4x5", "ACL does not support dilations 900000000"},
    {"QLinearConv 1x3x5x5x5", kAxes},
    {"QLinearConv 1x2x3x5x4", kAxes},
    {"QLinearConv [0,0,0,0,0,0,0]", "weights with a scale for each channel reach"},
    {"QLinearConv [213833,228802,243770,258738,273707,213833,228802]",
     "ACL computes them in 32 bits"},
    {"QLinearConv 1x64x9x9 [9.25926e-06]", "ACL treats factors below"},
    {"QLinearMatMul [1,2,3,4,5,6,7]", "has several scales"},
    {"QuantizeLinear axis=1", "has several scales"},
};

// The Winograd kernels of ACL need this option.
constexpr const char* kFastCases[] = {"Conv 1x16x13x17", "Conv 1x16x14x14", "Conv 2x7x9x11",
                                      "Conv 1x32x28x28"};

using Words = std::set<std::string>;

Words split(const std::string& text)
{
    std::istringstream stream(text);
    return Words(std::istream_iterator<std::string>(stream), {});
}

bool has_words(const Words& present, const char* words)
{
    const Words wanted = split(words);
    return std::includes(present.begin(), present.end(), wanted.begin(), wanted.end());
}

template <size_t number>
std::string find_refusal(const Refusal (&refusals)[number], const tools::Case& of,
                         const Words& name)
{
    if (of.shape_class == "zero-sized") return "has no elements";
    for (const Refusal& refusal : refusals)
        if (has_words(name, refusal.words)) return refusal.reason;
    return "";
}

// Three steps are rounded for places up to 8 and 6: the scale, a product, and a difference. That is
// 7.1 and 6.6 units of 2^-23, times the most that neighbours differ by, 1.
constexpr float kResizeUnits = 4 + 7.1F + 6.6F;
// x / (2 + ...)^0.75 by exp(0.75 log(...)), of which ACL's logarithm is wrong by 1.5e-6 up to 2.4
// (a polynomial with terms of 22 that cancel out; all values of [1, 1.2] tried) and its exponential
// by 2.1e-7, relatively.
constexpr float kLrnError = 0.75F * 1.5e-6F + 2.1e-7F;

bool has_text(const tools::Case& of, const std::string& text)
{
    return std::any_of(of.texts.begin(), of.texts.end(),
                       [&](const auto& each) { return each.second == text; });
}

NodeCase expect(const tools::Case& of, const Words& name)
{
    NodeCase made = {of};
    made.refusal = find_refusal(kRefusals, of, name);
    if (of.op == "Round" && made.refusal.empty() && sizeof(void*) == 4)
        made.refusal = "ACL for 32 bits rounds up to 2^31 only";
    if (of.op == "Resize" && has_text(of, "linear")) made.ulps = kResizeUnits;
    if (of.op == "LRN") made.relative = kLrnError;
    made.refusal_of_bytes = made.refusal;
    if (of.op == "Pad" && has_text(of, "reflect"))
        made.refusal_of_bytes = "ACL does not reflect bytes";
    return made;
}

std::vector<NodeCase> make_cases()
{
    const std::map<std::string, DocsRow> rows = read_docs_rows(false);
    std::vector<NodeCase> cases;
    for (const tools::Case& each : tools::list_cases()) {
        const Words name = split(each.name());
        const NodeCase made = expect(each, name);
        const bool has_index = each.outputs.back() != tools::kCaseType;
        if (rows.count(each.op) == 0 || !made.is_of(TENGINE_DT_FP32) || has_index ||
            each.is_behind_conv)
            continue;
        cases.push_back(made);
        for (const char* words : kFastCases)
            if (has_words(name, words)) {
                cases.push_back(cases.back());
                cases.back().options["fast_math"] = "1";
            }
    }
    add_special_values(cases);
    return cases;
}

// Means of an even number of values, with the same scale, are seldom between two integers.
double share_of_ties(const tools::Case& of)
{
    if (of.op != kMean || of.inputs[1].values != of.inputs[3].values) return 0;
    int64_t values = 1;
    for (const int64_t size : of.lists[0].second)
        values *= size;
    return values % 2 == 0 ? 1 / static_cast<double>(values) : 0;
}

bool has_several_values(const tools::Operand& operand)
{
    return std::set<double>(operand.values.begin(), operand.values.end()).size() > 1;
}

NodeCase expect_bytes(const tools::Case& of)
{
    NodeCase made = {of};
    made.refusal = find_refusal(kByteRefusals, of, split(of.name()));
    if (made.refusal.empty() && of.op == "QLinearConv" && has_several_values(of.inputs[5]))
        made.refusal = "weights with a scale for each channel reach";
    if (of.op == "QLinearMatMul" && of.inputs[3].dims.size() > 2)
        made.refusal = "b is a stack of matrices";
    else if (of.op == "QLinearMatMul" && !of.inputs[3].is_constant)
        made.refusal = "the weights must be constant";
    const std::set<std::string> rounding = {"QuantizeLinear", "com.microsoft.QLinearAdd",
                                            "com.microsoft.QLinearMul"};
    if (rounding.count(of.op) != 0 && made.refusal.empty() && sizeof(void*) == 4)
        made.refusal = "truncates results instead of rounding";
    made.ties = share_of_ties(of);
    return made;
}

std::vector<NodeCase> make_quantized_cases()
{
    const std::map<std::string, DocsRow> rows = read_docs_rows(true);
    std::vector<NodeCase> cases;
    for (const auto& list : {tools::list_cases(), tools::list_quantized_cases()})
        for (const tools::Case& each : list) {
            const NodeCase made = expect_bytes(each);
            const bool has_bytes = made.is_of(TENGINE_DT_INT8) || made.is_of(TENGINE_DT_UINT8);
            const bool has_index = each.outputs.size() > 1;
            if (rows.count(each.op) != 0 && has_bytes && !has_index && !each.is_behind_conv)
                cases.push_back(made);
        }
    return cases;
}

}  // namespace

const std::vector<NodeCase>& list_cases()
{
    static const std::vector<NodeCase> cases = make_cases();
    return cases;
}

const std::vector<NodeCase>& list_quantized_cases()
{
    static const std::vector<NodeCase> cases = make_quantized_cases();
    return cases;
}

}  // namespace tengine::acl
