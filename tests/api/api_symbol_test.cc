// SPDX-License-Identifier: Apache-2.0
// The public headers declare functions that are defined, and api_symbols.c lists them all.
#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "api_symbols.h"

namespace tengine {
namespace {

std::set<std::string> declared_functions(const std::string& header)
{
    std::ifstream file(std::string(TENGINE_SOURCE_DIR) + "/include/tengine/" + header);
    std::stringstream text;
    text << file.rdbuf();
    const std::string code = std::regex_replace(text.str(), std::regex("//[^\n]*"), "");
    const std::regex declaration("TENGINE_API\\s[\\w\\s*]*?(\\w+)\\(");
    std::set<std::string> names;
    for (std::sregex_iterator match(code.begin(), code.end(), declaration), end; match != end;
         ++match)
        names.insert((*match)[1]);
    return names;
}

TEST(ApiSymbols, EveryDeclaredFunctionIsDefined)
{
    std::set<std::string> listed;
    for (int i = 0; i < api_symbol_num; ++i) {
        EXPECT_NE(api_symbols[i].address, nullptr) << api_symbols[i].name;
        EXPECT_TRUE(listed.insert(api_symbols[i].name).second) << api_symbols[i].name;
    }
    std::set<std::string> declared = declared_functions("c_api.h");
    EXPECT_GT(declared.size(), 90u);
    declared.merge(declared_functions("custom_op.h"));
    declared.merge(declared_functions("file.h"));
    declared.merge(declared_functions("entry.h"));
    declared.merge(declared_functions("graph.h"));
    declared.merge(declared_functions("image.h"));
    declared.merge(declared_functions("inspect.h"));
    declared.merge(declared_functions("trace.h"));
    declared.merge(declared_functions("memory.h"));
    declared.merge(declared_functions("metadata.h"));
    declared.merge(declared_functions("plugin_loader.h"));
    declared.merge(declared_functions("quantize.h"));
    declared.merge(declared_functions("run.h"));
    declared.merge(declared_functions("sequence.h"));
    declared.merge(declared_functions("state.h"));
    declared.merge(declared_functions("placement.h"));
    declared.merge(declared_functions("bucket.h"));
    declared.merge(declared_functions("string.h"));
    EXPECT_EQ(listed, declared);
}

}  // namespace
}  // namespace tengine
