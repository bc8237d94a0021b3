// SPDX-License-Identifier: Apache-2.0
// The fast kernels of operators on int8 and uint8 against the reference, bit by bit, for the cases
// of the table, on every instruction set this machine has, with int8 instructions and without.
#include <algorithm>
#include <gtest/gtest.h>

#include "cases/case.h"
#include "device/cpu/byte_node.h"
#include "device/cpu/kernel/vector/vector_target.h"
#include "device/cpu/runnable.h"
#include "support/emulated.h"

namespace tengine::test {
namespace {

using tools::Case;

// Data movement, whose bytes are the reference's as well, is in movement_pixels_test.cc.
constexpr const char* kOperators[] = {"DequantizeLinear",
                                      "DynamicQuantizeLinear",
                                      "MatMulInteger",
                                      "MaxPool",
                                      "QLinearConv",
                                      "QLinearMatMul",
                                      "QuantizeLinear",
                                      "com.microsoft.QGemm",
                                      "com.microsoft.QLinearAdd",
                                      "com.microsoft.QLinearAveragePool",
                                      "com.microsoft.QLinearGlobalAveragePool",
                                      "com.microsoft.QLinearMul",
                                      "tengine.Lookup"};

std::vector<Case> list_cases_of(const std::string& op)
{
    std::vector<Case> chosen;
    for (const auto& list : {tools::list_cases(), tools::list_quantized_cases()})
        for (const Case& each : list)
            if (each.op == op && !each.is_behind_conv) chosen.push_back(each);
    return chosen;
}

// The input that is the zero point of the results, whose type is theirs; 0: there is none.
size_t find_result_zero(const Case& of)
{
    if (of.op == "com.microsoft.QGemm") return 8;
    if (of.op.find("AveragePool") != std::string::npos) return 4;
    return of.op.find("QLinear") != std::string::npos ? 7 : 0;
}

// The inputs that are the second tensor and its zero point, where they follow the case's type.
std::vector<size_t> find_second(const Case& of)
{
    if (of.op == "MatMulInteger") return {1, 3};
    const bool has_second = of.op == "QLinearMatMul" || of.op == "com.microsoft.QLinearAdd" ||
                            of.op == "com.microsoft.QLinearMul";
    return has_second && of.inputs[3].data_type == tools::kCaseType ? std::vector<size_t>{3, 5}
                                                                    : std::vector<size_t>{};
}

// The case with all its tensors of this type, and with a second tensor and with results of the
// other.
std::vector<Case> list_types(const Case& of, int data_type)
{
    const int other_type = data_type == TENGINE_DT_INT8 ? TENGINE_DT_UINT8 : TENGINE_DT_INT8;
    std::vector<Case> made = {of};
    if (!find_second(of).empty()) {
        made.push_back(of);
        for (const size_t input : find_second(of))
            made.back().inputs[input].data_type = other_type;
    }
    const size_t zero = find_result_zero(of);
    for (size_t i = 0, number = made.size(); zero != 0 && i < number; ++i) {
        made.push_back(made[i]);
        made.back().outputs = {other_type};
        made.back().inputs[zero].data_type = other_type;
    }
    return made;
}

// Compares as on a processor with all int8 instructions that run here, also on several threads;
// with each alone, and with none. Returns whether the node has a fast kernel.
bool compare_formats(ByteNode& node)
{
    std::vector<uint64_t> formats = {0, cpu::find_runnable_features()};
    for (const cpu::SpecialInstructions& special : cpu::list_special_instructions())
        if (special.runs && !kEmulated) formats.push_back(special.feature);
    std::sort(formats.begin(), formats.end());
    formats.erase(std::unique(formats.begin(), formats.end()), formats.end());
    bool has_fast = false;
    for (const uint64_t features : formats) {
        SCOPED_TRACE("features " + std::to_string(features));
        const cpu::ForcedFeatures forced(features);
        std::vector<int> thread_nums = {kEmulated ? 2 : 1};
        if (!kEmulated && features == cpu::find_runnable_features()) thread_nums.push_back(5);
        has_fast = node.compare_fast(thread_nums) || has_fast;
    }
    return has_fast;
}

class QuantizedCaseTest : public testing::TestWithParam<const char*>
{
};

TEST_P(QuantizedCaseTest, HasTheBitsOfTheReference)
{
    if (cpu::get_vector_target_num() == 0)
        GTEST_SKIP() << "the reference is all that this build has";
    int fast_num = 0;
    size_t number = 0;
    for (const Case& each : list_cases_of(GetParam()))
        for (const int type : tools::byte_types()) {
            if (std::find(each.types.begin(), each.types.end(), type) == each.types.end()) continue;
            // An emulator is slow.
            if (kEmulated && number++ % 3 != 0) continue;
            for (const Case& typed : list_types(each, type)) {
                SCOPED_TRACE(typed.name() + (type == TENGINE_DT_INT8 ? " int8" : " uint8"));
                ByteNode node;
                node.make(typed, type);
                fast_num += compare_formats(node);
            }
        }
    EXPECT_GT(fast_num, 0);
}

INSTANTIATE_TEST_SUITE_P(All, QuantizedCaseTest, testing::ValuesIn(kOperators),
                         [](const auto& name) {
                             const std::string op = name.param;
                             return op.substr(op.rfind('.') + 1);
                         });

}  // namespace
}  // namespace tengine::test
