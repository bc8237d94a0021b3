// SPDX-License-Identifier: Apache-2.0
// The kernels that compute the cases of the table (tools/cases): another choice is a change that
// users see. case_kernels.txt has a line for each operator and type: the kernels of its cases,
// behind nodes in NCHW and behind a convolution, whose results have their channels last, on a
// processor that has vectors only. With TENGINE_WRITE_TABLE=1 it is written.
#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "device/cpu/implementations.h"
#include "device/cpu/kernel/vector/vector_target.h"
#include "device/cpu/kernel_list.h"
#include "device/cpu/kernel_runner.h"
#include "device/cpu/runnable.h"
#include "support/written_table.h"

namespace tengine::cpu {
namespace {

const char* const kFolder = TENGINE_SOURCE_DIR "/tests/device/cpu/";

using Names = std::set<std::string>;
using KernelsOfOperators = std::map<std::string, Names>;  // by "Conv fp32"

// Operators with one implementation have nothing to choose from.
Names list_operators()
{
    Names operators;
    for (const Implementations& row : implementations)
        operators.insert(row.op);
    return operators;
}

void add_choices(const Case& of, int data_type, Names* names)
{
    const KernelRunner runner(of, data_type);
    const ForcedFeatures forced(0);
    KernelList kernels;
    ASSERT_EQ(kernels.fill(), TENGINE_OK) << tengine_error_message();
    const Kernel* usual = kernels.pick_usual(runner.get());
    const Kernel* channels_last = kernels.pick(runner.get(), Layout::kChannelsLast);
    for (const Kernel* kernel : {usual, channels_last})
        if (kernel && !is_reference(*kernel)) names->insert(kernel->name);
}

// Types that have kernels of their own; kernels that only move elements take all types.
constexpr int kTypes[] = {TENGINE_DT_FP32, TENGINE_DT_FP16, TENGINE_DT_BF16, TENGINE_DT_INT8,
                          TENGINE_DT_UINT8};

KernelsOfOperators choose_kernels()
{
    const Names operators = list_operators();
    KernelsOfOperators chosen;
    for (const auto& list : {tools::list_cases(), tools::list_network_cases()})
        for (const Case& each : list)
            for (const int type : each.types)
                if (operators.count(each.op) != 0 &&
                    std::find(std::begin(kTypes), std::end(kTypes), type) != std::end(kTypes) &&
                    each.text_lists.empty())
                    add_choices(each, type, &chosen[each.op + " " + get_data_type_name(type)]);
    return chosen;
}

std::string print(const KernelsOfOperators& kernels)
{
    std::string text;
    for (const auto& [op, names] : kernels) {
        if (names.empty()) continue;
        text += op;
        for (const std::string& name : names)
            text += " " + name;
        text += "\n";
    }
    return text;
}

std::string read(const char* file)
{
    std::ifstream stream(std::string(kFolder) + file);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

TEST(CaseKernels, AreChosen)
{
    if (get_vector_target_num() == 0) GTEST_SKIP() << "the reference is all that this build has";
    const std::string kernels = print(choose_kernels());
    if (test::is_table_written())
        std::ofstream(std::string(kFolder) + "case_kernels.txt") << kernels;
    EXPECT_EQ(read("case_kernels.txt"), kernels);
}

// Else a kernel could be unreachable without a test that fails. The tests of some make nodes that
// the table does not have: products of rows that were quantised, and of weights in blocks, and
// layers of TensorFlow Lite's.
TEST(CaseKernels, EachKernelIsChosenInATest)
{
    std::string texts;
    for (const char* file :
         {"case_kernels.txt", "network_layers.txt", "byte_matmul_test.cc", "matmul_nbits_test.cc",
          "recurrent_bytes_test.cc", "recurrent_kernel_test.cc"})
        texts += read(file);
    for (const Implementations& row : implementations)
        for (const char* name : row.names) {
            const bool is_kernel = name && std::string(name).rfind("reference", 0) != 0;
            EXPECT_TRUE(!is_kernel || texts.find(name) != std::string::npos)
                << row.op << ": " << (name ? name : "");
        }
}

}  // namespace
}  // namespace tengine::cpu
