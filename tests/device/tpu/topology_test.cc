// SPDX-License-Identifier: Apache-2.0
// Topology files of SCALE-Sim: the layers that are read, refusals with their line, and the
// simulator's time for them, which equals SCALE-Sim's.
#include "device/tpu/published/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/tpu/published/comparison.h"
#include "tengine/error.h"

namespace tengine::tpu {
namespace {

using testing::HasSubstr;

constexpr char kHeading[] =
    "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, "
    "Strides,\n";

// The file has remarks after the last comma, blanks, an empty line, and the line ends of another
// system.
constexpr char kAlexNet[] =
    "Conv1, 224, 224, 11, 11, 3, 96, 4,\r\n"
    "Conv2,27,27,5,5,96,256,1, 23x23\n"
    "\n"
    "Conv3,\t13, 13, 3, 3, 256, 384, 1,\n"
    "Conv4, 13, 13, 3, 3, 384, 384, 1, 1:1,\n"
    "Conv5, 13, 13, 3, 3, 384, 256, 1, 1:1, NPU";

std::vector<TopologyLayer> parse(const std::string& lines)
{
    std::vector<TopologyLayer> layers;
    EXPECT_EQ(parse_topology(kHeading + lines, "'net.csv'", &layers), TENGINE_OK)
        << tengine_error_message();
    return layers;
}

TEST(Topology, LayersAreProducts)
{
    const std::vector<TopologyLayer> layers =
        parse("a,5,7,2,3,4,6,2,\nFC, 1, 1, 1, 1, 512, 10, 1,");
    ASSERT_EQ(layers.size(), 2u);
    EXPECT_EQ(layers[0].name, "a");
    EXPECT_EQ(layers[0].repeated.number, 1);
    EXPECT_EQ(layers[0].repeated.layer.vectors, 3 * 3) << "a last stride that is not whole counts";
    EXPECT_EQ(layers[0].repeated.layer.filters, 6);
    EXPECT_EQ(layers[0].repeated.layer.window, 2 * 3 * 4);
    EXPECT_EQ(layers[1].repeated.layer.vectors, 1);
    EXPECT_EQ(layers[1].repeated.layer.window, 512);
}

TEST(Topology, DepthwiseLayersAreThereForEachChannel)
{
    const std::vector<TopologyLayer> layers = parse("Conv2DP,8,8,3,3,32,1,1,\n");
    ASSERT_EQ(layers.size(), 1u);
    EXPECT_EQ(layers[0].repeated.number, 32);
    EXPECT_EQ(layers[0].repeated.layer.window, 9);
}

TEST(Topology, AlexNetAsScaleSimPrintsIt)
{
    struct Case
    {
        const char* config;
        int rows;
        std::vector<double> printed;
    };
    const Case cases[] = {
        {"tpu-v1", 256, {7581, 12949, 15965, 24835, 12417, 73747}},
        {"scale32", 32, {112283, 373799, 185759, 278639, 185759, 1136239}},
    };
    const std::vector<TopologyLayer> layers = parse(kAlexNet);
    ASSERT_EQ(layers.size(), 5u);
    for (const Case& each : cases) {
        Config config;
        ASSERT_EQ(load_config(each.config, &config), TENGINE_OK);
        std::vector<ValidationRow> rows;
        ASSERT_EQ(run_topology_validation(layers, config, &rows), TENGINE_OK);
        ASSERT_EQ(rows.size(), 6u);
        for (size_t i = 0; i < rows.size(); ++i) {
            EXPECT_EQ(rows[i].ours, each.printed[i]) << rows[i].name;
            EXPECT_EQ(rows[i].reference, each.printed[i]) << rows[i].name;
            EXPECT_TRUE(rows[i].ok) << rows[i].name;
        }
        EXPECT_EQ(rows[0].name, "Conv1");
        EXPECT_EQ(rows[5].name,
                  "all on " + std::to_string(each.rows) + "x" + std::to_string(each.rows));
    }
}

// More vectors than one number of an instruction can count, and an array that is not square.
TEST(Topology, LargeImages)
{
    Config config;
    ASSERT_EQ(load_config("edge", &config), TENGINE_OK);
    config.rows = 24;
    std::vector<ValidationRow> rows;
    ASSERT_EQ(run_topology_validation(parse("c,4096,4096,1,1,3,8,1,\nd,641,642,3,3,3,33,1,\n"),
                                      config, &rows),
              TENGINE_OK)
        << tengine_error_message();
    for (const ValidationRow& row : rows)
        EXPECT_TRUE(row.ok) << row.name << ": " << row.ours << ", not " << row.reference;
}

TEST(Topology, TotalsArePrintedToTheLastCycle)
{
    const std::vector<ValidationRow> rows = {
        {"all", 123456789, 123456788, 123456788, 123456788, "cycles", "here", false}};
    EXPECT_THAT(print_validation(rows), HasSubstr("  123456789   123456788 "));
}

TEST(Topology, WhatIsNoLayerIsRefusedWithItsLine)
{
    const std::pair<const char*, const char*> cases[] = {
        {"a,5,5,3,3,4,6,1", "line 2: 7 values before the last comma, expected a name and 7 num"},
        {"\na,5,5,3,3,4,6,1,1:1,2,", "line 3: 10 values before the last comma"},
        {"GEMM,5,5,3,", "line 2: 4 values"},
        {"a,5,5,3,3,4,6,1,2:4,", "line 2: '2:4' after the stride"},
        {"a,five,5,3,3,4,6,1,", "line 2: the height of the input is 'five'"},
        {"a,5,,3,3,4,6,1,", "line 2: the width of the input is '', expected 1 to 65535"},
        {"a,5,5,0,3,4,6,1,", "line 2: the height of the filter is '0'"},
        {"a,5,5,3,-3,4,6,1,", "line 2: the width of the filter is '-3'"},
        {"a,5,5,3,3,4.5,6,1,", "line 2: the number of channels is '4.5'"},
        {"a,5,5,3,3,4,99999999999999999999,1,", "line 2: the number of filters is '9999"},
        {"a,5,5,3,3,4,6,0,", "line 2: the stride is '0'"},
        {"a,5,5,3,3,4,6,1,\nb,5,5,6,3,4,6,1,", "line 3: a filter of 6x3 on an input of 5x5"},
        {"a,65535,65535,1,1,1,1,1,", "line 2: 4294836225 output pixels, expected at most 16777216"},
        {"\n\n", "'net.csv': no layer after the heading"},
    };
    for (const auto& [lines, words] : cases) {
        std::vector<TopologyLayer> layers;
        EXPECT_LT(parse_topology(kHeading + std::string(lines), "'net.csv'", &layers), 0) << lines;
        EXPECT_THAT(tengine_error_message(), HasSubstr("'net.csv'")) << lines;
        EXPECT_THAT(tengine_error_message(), HasSubstr(words)) << lines;
    }
}

// SCALE-Sim drops the first line, whatever it is: a layer there would be silently missing.
TEST(Topology, TheHeadingIsWanted)
{
    std::vector<TopologyLayer> layers;
    EXPECT_EQ(parse_topology("a,5,5,3,3,4,6,1,\nb,5,5,3,3,4,6,1,\n", "'net.csv'", &layers),
              TENGINE_EFORMAT);
    EXPECT_THAT(tengine_error_message(), HasSubstr("line 1: a layer, expected the heading"));
    EXPECT_EQ(parse_topology("", "'net.csv'", &layers), TENGINE_EFORMAT);
}

TEST(Topology, ALayerThatIsTooLargeForAProgram)
{
    Config config;
    ASSERT_EQ(load_config("edge", &config), TENGINE_OK);
    config.rows = config.columns = 1;
    std::vector<ValidationRow> rows;
    EXPECT_EQ(run_topology_validation(parse("fc,1,1,1,1,16777216,16777216,1,"), config, &rows),
              TENGINE_ELIMIT);
    EXPECT_THAT(tengine_error_message(),
                HasSubstr("layer 'fc' fills the array of 1x1 281474976710656 times"));
}

}  // namespace
}  // namespace tengine::tpu
