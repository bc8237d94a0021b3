// SPDX-License-Identifier: Apache-2.0
// Graphs that are known to mislead splitters, from tests/data.
#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>

#include "optimizer/split_oracle.h"
#ifdef TENGINE_HAVE_JSON
#include <nlohmann/json.hpp>
#endif

namespace {

using namespace tengine::test;

#ifdef TENGINE_HAVE_JSON
using nlohmann::json;

// preds: the producers of each node; device: the nodes that the accelerator takes, which are kind 0
// here.
Dag read_dag(const json& fixture)
{
    Dag dag = {2, {}, fixture.at("preds").get<std::vector<std::vector<int>>>()};
    dag.kind.assign(dag.producers.size(), 1);
    for (const int node : fixture.at("device").get<std::vector<int>>())
        dag.kind[node] = 0;
    return dag;
}

std::vector<SplitPart> read_bad_grouping(const json& fixture)
{
    std::vector<SplitPart> parts;
    for (const auto& group : fixture.at("bad_grouping").get<std::vector<std::vector<int>>>()) {
        SplitPart part = {"A", {}};
        for (const int node : group)
            part.nodes.push_back("n" + std::to_string(node));
        std::sort(part.nodes.begin(), part.nodes.end());
        parts.push_back(part);
    }
    return parts;
}

void check_fixture(const json& fixture, DagSplitter& splitter)
{
    const SplitGraph split = splitter.split(read_dag(fixture));
    ASSERT_NE(split.execution, nullptr) << tengine_error_message();
    const std::vector<SplitPart> parts = read_parts(split.execution.get());
    const auto is_on_device = [](const SplitPart& part) { return part.device == "A"; };
    EXPECT_EQ(std::count_if(parts.begin(), parts.end(), is_on_device),
              fixture.at("min_device_partitions").get<int>());
    if (!fixture.contains("bad_grouping")) return;
    const std::vector<SplitPart> bad = read_bad_grouping(fixture);
    const auto is_there = [&](const SplitPart& part) {
        return std::find(parts.begin(), parts.end(), part) != parts.end();
    };
    EXPECT_FALSE(std::all_of(bad.begin(), bad.end(), is_there));
}
#endif

TEST(SplitFixture, PartsOfTheReferenceGraphs)
{
#ifdef TENGINE_HAVE_JSON
    std::ifstream file(TENGINE_SOURCE_DIR "/tests/data/partition/fixtures.json");
    ASSERT_TRUE(file);
    DagSplitter splitter(2);
    const json fixtures = json::parse(file).at("fixtures");
    EXPECT_EQ(fixtures.size(), 6u);
    for (const json& fixture : fixtures) {
        SCOPED_TRACE(fixture.at("name").get<std::string>());
        check_fixture(fixture, splitter);
    }
#else
    GTEST_SKIP() << "built without nlohmann-json";
#endif
}

// Two graphs without a file. A -> host -> A and A -> A: the two nodes of A must not become one
// part.
TEST(SplitFixture, ADiamondIsCut)
{
    DagSplitter splitter(2);
    const SplitGraph split = splitter.split({2, {0, 1, 0}, {{}, {0}, {0, 1}}});
    ASSERT_NE(split.execution, nullptr) << tengine_error_message();
    const std::string host = find_default_device()->name;
    const std::vector<SplitPart> expected = {{"A", {"n0"}}, {host, {"n1"}}, {"A", {"n2"}}};
    EXPECT_EQ(read_parts(split.execution.get()), expected);
}

// A -> host and host -> A: one part per device and level makes four, three are enough.
TEST(SplitFixture, TwoSourcesStartOnTheHost)
{
    DagSplitter splitter(2);
    const SplitGraph split = splitter.split({2, {0, 1, 1, 0}, {{}, {0}, {}, {2}}});
    ASSERT_NE(split.execution, nullptr) << tengine_error_message();
    const std::string host = find_default_device()->name;
    const std::vector<SplitPart> expected = {{host, {"n2"}}, {"A", {"n0", "n3"}}, {host, {"n1"}}};
    EXPECT_EQ(read_parts(split.execution.get()), expected);
}

}  // namespace
