// SPDX-License-Identifier: Apache-2.0
// The shared library exports the declarations of the public headers, and nothing else.
#include <algorithm>
#include <gtest/gtest.h>
#include <iterator>

#include "rules/link/symbols.h"

#ifdef TENGINE_SHARED_LIBRARY

namespace tengine::rules {
namespace {

using Names = std::set<std::string>;

Names in_first_only(const Names& first, const Names& second)
{
    Names difference;
    std::set_difference(first.begin(), first.end(), second.begin(), second.end(),
                        std::inserter(difference, difference.end()));
    return difference;
}

TEST(Exports, AreWhatThePublicHeadersDeclare)
{
    const Symbols symbols = symbols_of("-D", {TENGINE_SHARED_LIBRARY});
    std::set<std::string> declared = public_functions();
    declared.erase("tengine_plugin");  // defined in a plug-in by the macro TENGINE_PLUGIN
    EXPECT_GT(declared.size(), 200u);
    EXPECT_EQ(in_first_only(symbols.defined, declared), Names()) << "exported, not declared";
    EXPECT_EQ(in_first_only(declared, symbols.defined), Names()) << "declared, not exported";
}

}  // namespace
}  // namespace tengine::rules

#endif
