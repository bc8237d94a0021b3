// SPDX-License-Identifier: Apache-2.0
// Every operation of Highway that the sources use is checked in tests/vector_operations.
#include <gtest/gtest.h>
#include <regex>
#include <set>

#include "rules/source_tree.h"

namespace tengine::rules {
namespace {

// Names of types, functions for the number of lanes, and those with which every check loads and
// stores.
const std::set<std::string> kOthers = {"CappedTag",
                                       "FixedTag",
                                       "Full128",
                                       "Full256",
                                       "Full512",
                                       "Half",
                                       "Lanes",
                                       "Load",
                                       "LoadU",
                                       "MaxLanes",
                                       "Rebind",
                                       "RebindToFloat",
                                       "Simd",
                                       "Store",
                                       "StoreU",
                                       "RebindToSigned",
                                       "RebindToUnsigned",
                                       "Repartition",
                                       "TFromD",
                                       "ScalableTag",
                                       "Vec",
                                       "Vec128",
                                       "Vec256",
                                       "Vec512",
                                       "VFromD",
                                       "RepartitionToWide"};

std::set<std::string> operations_below(const std::string& folder)
{
    const std::regex name("\\bhn::([A-Z][A-Za-z0-9]*)");
    std::set<std::string> found;
    for (const SourceFile& file : code_below(folder)) {
        const std::string text = strip_comments(join_lines(file.lines));
        for (std::sregex_iterator i(text.begin(), text.end(), name), end; i != end; ++i)
            if (kOthers.count((*i)[1]) == 0) found.insert((*i)[1]);
    }
    return found;
}

TEST(VectorOperations, AllThatAreUsedAreChecked)
{
    const std::set<std::string> used = operations_below("source");
    std::set<std::string> checked = operations_below("tests/vector_operations");
    checked.insert("ReorderDemote2To");  // by demote_words()
    EXPECT_GT(used.size(), 60u);
    for (const std::string& operation : used)
        EXPECT_EQ(checked.count(operation), 1u) << "hn::" << operation << " is not checked";
}

}  // namespace
}  // namespace tengine::rules
