// SPDX-License-Identifier: Apache-2.0
// Cycles of the array: rows computed by hand, and every row of the SCALE-Sim tables, by formula
// and, for weight-stationary, through programs.
#include "device/tpu/simulator/array.h"

#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "device/tpu/published/stand_in.h"
#include "device/tpu/reference_random.h"
#include "device/tpu/simulator/simulator.h"
#include "tengine/error.h"

namespace tengine::tpu {
namespace {

using Fields = std::vector<std::string>;

const std::string kFolder = std::string(TENGINE_SOURCE_DIR) + "/tests/data/scalesim/";

// Returns the lines after the heading.
std::vector<Fields> read_table(const std::string& name)
{
    std::ifstream file(kFolder + name);
    EXPECT_TRUE(file) << name;
    std::vector<Fields> rows;
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
        std::stringstream cells(line);
        Fields fields;
        for (std::string cell; std::getline(cells, cell, ',');)
            fields.push_back(cell);
        if (!fields.empty()) rows.push_back(fields);
    }
    return rows;
}

Dataflow dataflow_of(const std::string& name)
{
    if (name == "os") return Dataflow::kOutputStationary;
    return name == "ws" ? Dataflow::kWeightStationary : Dataflow::kInputStationary;
}

// Returns a machine in which only the array takes time, one operation after the other.
Config array_only(int size, int64_t vectors)
{
    Config config = small_config(size, size);
    config.accumulator_rows = static_cast<int>(vectors);
    config.double_buffer = false;
    config.weight_gbps = config.host_gbps = 1e12;
    return config;
}

int64_t count_program(int size, const ArrayLayer& layer)
{
    const Config config = array_only(size, layer.vectors);
    Counters counters;
    EXPECT_EQ(count_cycles(build_product_program(layer, config), config, &counters), TENGINE_OK)
        << tengine_error_message();
    return counters.total;
}

TEST(Array, RowsByHand)
{
    // 10 vectors, 6 filters, a window of 9 on 4 x 4.
    const ArrayLayer layer = {10, 6, 9};
    const ArrayCycles os = count_array_cycles(Dataflow::kOutputStationary, 4, 4, layer);
    EXPECT_EQ(os.folds, 3 * 2);
    EXPECT_EQ(os.cycles_per_fold, 9 + 6);
    const ArrayCycles ws = count_array_cycles(Dataflow::kWeightStationary, 4, 4, layer);
    EXPECT_EQ(ws.folds, 3 * 2);
    EXPECT_EQ(ws.cycles_per_fold, 4 + 10 + 6);
    EXPECT_EQ(ws.total(), 120);
    const ArrayCycles is = count_array_cycles(Dataflow::kInputStationary, 4, 4, layer);
    EXPECT_EQ(is.folds, 3 * 3);
    EXPECT_EQ(is.cycles_per_fold, 4 + 6 + 6);
    // Neither square nor filled: 3 rows, 5 columns.
    const ArrayCycles narrow = count_array_cycles(Dataflow::kWeightStationary, 3, 5, {1, 6, 9});
    EXPECT_EQ(narrow.folds, 3 * 2);
    EXPECT_EQ(narrow.cycles_per_fold, 3 + 1 + 6);
    // The program's first fetch takes a cycle to dispatch.
    EXPECT_EQ(count_program(4, layer), 1 + 120);
}

TEST(Array, AllRowsOfTheAnalyticTable)
{
    const std::vector<Fields> rows = read_table("analytic_layers_resnet50_alexnet_mobilenet.csv");
    int programs = 0;
    for (const Fields& row : rows) {
        ASSERT_EQ(row.size(), 10u);
        const ArrayLayer layer = {std::stoll(row[2]), std::stoll(row[3]), std::stoll(row[4])};
        const int size = std::stoi(row[5]);
        const Dataflow dataflow = dataflow_of(row[6]);
        const ArrayCycles cycles = count_array_cycles(dataflow, size, size, layer);
        EXPECT_EQ(cycles.folds, std::stoll(row[7])) << row[0] << " " << row[1];
        EXPECT_EQ(cycles.cycles_per_fold, std::stoll(row[8])) << row[0] << " " << row[1];
        EXPECT_EQ(cycles.total() - 1, std::stoll(row[9])) << row[0] << " " << row[1];
        if (dataflow != Dataflow::kWeightStationary) continue;
        ASSERT_LE(layer.vectors, 65535);
        EXPECT_EQ(count_program(size, layer), cycles.total() + 1) << row[0] << " " << row[1];
        ++programs;
    }
    EXPECT_EQ(rows.size(), 774u);
    EXPECT_EQ(programs, 258);
}

// Returns the layers of a network in order, from the analytic table.
std::vector<ArrayLayer> layers_of(const std::string& network)
{
    std::vector<ArrayLayer> layers;
    for (const Fields& row : read_table("analytic_layers_resnet50_alexnet_mobilenet.csv"))
        if (row[0] == network && row[5] == "256x256" && row[6] == "os")
            layers.push_back({std::stoll(row[2]), std::stoll(row[3]), std::stoll(row[4])});
    return layers;
}

class ArrayReport : public ::testing::TestWithParam<const char*>
{
};

// <google|scale32>_<dataflow>_<user|calc>_<network>: the output of SCALE-Sim itself.
TEST_P(ArrayReport, EachLayerAsPrinted)
{
    std::stringstream name(GetParam());
    std::string machine, dataflow, mode, network;
    std::getline(name, machine, '_');
    std::getline(name, dataflow, '_');
    std::getline(name, mode, '_');
    std::getline(name, network, '_');
    const int size = machine == "google" ? 256 : 32;
    const std::vector<Fields> rows = read_table(std::string(GetParam()) + "__COMPUTE_REPORT.csv");
    const std::vector<ArrayLayer> layers = layers_of(network);
    ASSERT_EQ(rows.size(), layers.size());
    ASSERT_FALSE(rows.empty());
    for (size_t i = 0; i < rows.size(); ++i) {
        const ArrayCycles cycles = count_array_cycles(dataflow_of(dataflow), size, size, layers[i]);
        EXPECT_EQ(cycles.total() - 1, std::stoll(rows[i][2]) - std::stoll(rows[i][3]))
            << "layer " << i;
        if (dataflow != "ws") continue;
        EXPECT_EQ(count_program(size, layers[i]), cycles.total() + 1) << "layer " << i;
    }
}

INSTANTIATE_TEST_SUITE_P(All, ArrayReport,
                         ::testing::Values("google_os_user_alexnet", "google_os_user_resnet50",
                                           "google_ws_user_alexnet", "google_ws_user_resnet50",
                                           "scale32_os_calc_alexnet", "scale32_ws_calc_alexnet",
                                           "scale32_ws_calc_resnet50"),
                         [](const auto& parameter) { return std::string(parameter.param); });

}  // namespace
}  // namespace tengine::tpu
