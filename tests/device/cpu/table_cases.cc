// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/table_cases.h"

#include <algorithm>
#include <cctype>

#include "device/cpu/kernel_list.h"
#include "device/cpu/kernel_runner.h"

namespace tengine::tools {

void PrintTo(const Case& of, std::ostream* stream)
{
    *stream << of.name();
}

}  // namespace tengine::tools

namespace tengine::cpu {

std::vector<Case> choose_cases(const std::vector<Case>& all, const OperatorNames& operators,
                               int data_type)
{
    std::vector<Case> chosen;
    std::copy_if(all.begin(), all.end(), std::back_inserter(chosen), [&](const Case& each) {
        return operators.count(each.op) != 0 && !each.is_behind_conv &&
               std::find(each.types.begin(), each.types.end(), data_type) != each.types.end();
    });
    return chosen;
}

std::string test_name(const testing::TestParamInfo<Case>& info)
{
    std::string name = info.param.name();
    for (char& c : name) {
        if (c == '#') c = 'c';
        if (c == '-') c = 'm';
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    }
    return name;
}

void expect_fast_kernels(const std::vector<Case>& all, const OperatorNames& operators,
                         int data_type)
{
    OperatorNames found;
    for (const Case& each : choose_cases(all, operators, data_type))
        if (found.count(each.op) == 0 &&
            !is_reference(*KernelRunner(each, data_type).kernels().front()))
            found.insert(each.op);
    EXPECT_EQ(found, operators);
}

}  // namespace tengine::cpu
