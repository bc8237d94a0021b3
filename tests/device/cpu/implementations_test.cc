// SPDX-License-Identifier: Apache-2.0
// The list of implementations in their order, against the existing kernels.
#include "device/cpu/implementations.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "device/cpu/kernel_list.h"
#include "operator/registry.h"
#include "support/ir_builder.h"

namespace tengine::cpu {
namespace {

// Reads the sources below a folder, whether or not this build compiles them.
std::string read_sources(const std::string& folder)
{
    std::ostringstream text;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(
             TENGINE_SOURCE_DIR "/source/device/cpu/" + folder))
        if (entry.is_regular_file()) text << std::ifstream(entry.path()).rdbuf();
    return text.str();
}

std::vector<std::string> names_of(const Implementations& row)
{
    std::vector<std::string> names;
    for (const char* name : row.names)
        if (name) names.emplace_back(name);
    return names;
}

TEST(ImplementationsTest, EveryNameIsThatOfAKernel)
{
    const std::string text = read_sources("kernel") + read_sources("reference");
    std::set<std::string> operators;
    for (const Implementations& row : implementations) {
        EXPECT_TRUE(operators.insert(row.op).second) << row.op << " is there twice";
        EXPECT_GT(names_of(row).size(), 1u) << row.op;
        for (const std::string& name : names_of(row))
            EXPECT_NE(text.find('"' + name + '"'), std::string::npos) << row.op << ": " << name;
    }
    EXPECT_GT(operators.size(), 10u);
}

TEST(ImplementationsTest, KernelsAreAskedInThisOrder)
{
    const test::IrBuilder with_operators;
    KernelList kernels;
    ASSERT_EQ(kernels.fill(), TENGINE_OK) << tengine_error_message();
    int compared = 0;
    for (const Implementations& row : implementations) {
        const int type = get_op_type_by_name(row.op);
        if (type < 0) continue;  // not part of this build
        std::vector<std::string> asked;
        for (const Kernel* kernel : kernels.of_operator(type))
            asked.emplace_back(kernel->name);
        std::vector<std::string> expected;
        for (const std::string& name : names_of(row))
            if (std::find(asked.begin(), asked.end(), name) != asked.end())
                expected.push_back(name);
        EXPECT_EQ(asked, expected) << row.op;
        ++compared;
    }
    EXPECT_GT(compared, 0);
}

}  // namespace
}  // namespace tengine::cpu
