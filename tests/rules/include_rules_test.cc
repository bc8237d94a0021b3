// SPDX-License-Identifier: Apache-2.0
// The include rules hold in the whole tree, and judge_include() itself is right.
#include "rules/include_rules.h"

#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <set>

#include "rules/source_tree.h"

namespace tengine::rules {
namespace {

bool is_sibling(const SourceFile& file, const std::string& include)
{
    namespace fs = std::filesystem;
    return include.find('/') == std::string::npos &&
           fs::exists((fs::path(TENGINE_SOURCE_DIR) / file.path).parent_path() / include);
}

TEST(IncludeRules, HoldInTheTree)
{
    int judged = 0;
    for (const char* folder : {"include", "source", "tools", "examples", "benchmark"}) {
        for (const SourceFile& file : code_below(folder)) {
            for (const std::string& include : includes_of(join_lines(file.lines))) {
                EXPECT_EQ(judge_include(file.path, include, is_sibling(file, include)), "")
                    << file.path << " includes " << include;
                ++judged;
            }
        }
    }
    EXPECT_GT(judged, 50);
}

// Returns the program or device that a file belongs to, as its folder.
std::string program_of(const std::string& path)
{
    const bool is_source = path.compare(0, 7, "source/") == 0;
    size_t slash = path.find('/');
    for (int depth = 1; is_source && depth < 3; ++depth)
        slash = path.find('/', slash + 1);
    return path.substr(0, slash);
}

// These headers take longer to compile than all other code of the files that include them.
TEST(IncludeRules, EachProgramHasHeavyHeadersBehindOneFile)
{
    std::map<std::pair<std::string, std::string>, std::set<std::string>> users;
    for (const char* folder : {"include", "source", "tools", "examples"}) {
        for (const SourceFile& file : code_below(folder)) {
            for (const std::string& include : includes_of(join_lines(file.lines))) {
                for (const char* heavy : {"CLI/", "nlohmann/"})
                    if (include.compare(0, std::strlen(heavy), heavy) == 0)
                        users[{program_of(file.path), heavy}].insert(file.path);
            }
        }
    }
    EXPECT_EQ(users.count({"tools", "CLI/"}), 1u);
    EXPECT_EQ(users.count({"tools", "nlohmann/"}), 0u) << "tools/json_file.h";
    for (const auto& [use, files] : users) {
        EXPECT_EQ(files.size(), 1u) << testing::PrintToString(files);
        EXPECT_EQ(files.begin()->find(".h"), std::string::npos) << *files.begin();
    }
}

struct Case
{
    const char* path;
    const char* include;
    bool allowed;
};

TEST(IncludeRules, JudgeCases)
{
    const Case cases[] = {
        {"source/graph/node.c", "base/alloc.h", true},
        {"source/graph/node.c", "graph/graph.h", true},
        {"source/graph/node.c", "tengine/ir.h", true},
        {"source/graph/node.c", "stdio.h", true},
        {"source/graph/node.c", "operator/operator.h", false},
        {"source/base/log.c", "graph/graph.h", false},
        {"source/device/cpu/plan/plan.cc", "device/cpu/kernel/gemm.h", true},
        {"source/device/cpu/plan/plan.cc", "module/module.h", true},
        {"source/device/cpu/plan/plan.cc", "device/skeleton/other.h", false},
        {"source/device/cpu/plan/plan.cc", "optimizer/split.h", false},
        {"source/serializer/onnx/reader.cc", "serializer/onnx/reader.h", true},
        {"source/serializer/onnx/reader.cc", "serializer/tmfile/reader.h", false},
        {"source/serializer/onnx/reader.cc", "serializer/serializer.h", true},
        {"source/serializer/serializer.h", "device/cpu/shared/types.h", false},
        {"source/scheduler/sync.c", "module/module.h", true},
        {"source/api/graph.c", "scheduler/scheduler.h", true},
        {"source/api/graph.c", "device/cpu/shared/types.h", false},
        {"include/tengine/ir.h", "base/alloc.h", false},
        {"tools/main.cc", "graph/graph.h", false},
        {"tools/main.cc", "base/alloc.h", false},
        {"tools/json_file.cc", "base/utf8.h", true},
        {"source/provider/onnxruntime/report.cc", "base/utf8.h", true},
        {"source/provider/onnxruntime/report.cc", "base/alloc.h", false},
        {"tools/main.cc", "../source/base/alloc.h", false},
    };
    for (const Case& c : cases) {
        EXPECT_EQ(judge_include(c.path, c.include, false).empty(), c.allowed)
            << c.path << " includes " << c.include;
    }
}

TEST(IncludeRules, FindIncludeLines)
{
    const std::string text =
        "#include <a.h>\n  #  include \"b/c.h\"\n// #include \"d.h\"\n/* \n#include \"e.h\" */\n";
    EXPECT_EQ(includes_of(text), (std::vector<std::string>{"a.h", "b/c.h"}));
}

}  // namespace
}  // namespace tengine::rules
