// SPDX-License-Identifier: Apache-2.0
#include "device/tpu/published/comparison.h"

#include <cmath>
#include <cstdint>
#include <cstdio>

#include "base/guard.hpp"
#include "device/tpu/machine/config.h"
#include "device/tpu/published/stand_in.h"
#include "device/tpu/simulator/array.h"
#include "device/tpu/simulator/simulator.h"
#include "tengine/error.h"

namespace tengine::tpu {
namespace {

using Rows = std::vector<ValidationRow>;

const char* const kScaleSim = "SCALE-Sim v3";
const char* const kFormula = "SCALE-Sim's formula, WS";
const char* const kPaper = "ISCA 2017";

// The limit of a layer's folds. A program has two instructions for each fold.
constexpr int64_t kMostFolds = 1 << 21;

void add_row(Rows* rows, const std::string& name, double ours, double reference, double low,
             double high, const char* unit, const std::string& source)
{
    rows->push_back({name, ours, reference, low, high, unit, source, low <= ours && ours <= high});
}

void add_exact(Rows* rows, const std::string& name, double ours, double reference, const char* unit,
               const std::string& source)
{
    add_row(rows, name, ours, reference, reference, reference, unit, source);
}

// SCALE-Sim: networks as in its topology files

const std::vector<RepeatedLayer>& alexnet()
{
    static const std::vector<RepeatedLayer> layers = {{1, {3025, 96, 363}},
                                                      {1, {529, 256, 2400}},
                                                      {1, {121, 384, 2304}},
                                                      {1, {121, 384, 3456}},
                                                      {1, {121, 256, 3456}}};
    return layers;
}

// mlperf/Resnet50.csv: without padding, so that each 3x3 convolution reduces maps by two.
const std::vector<RepeatedLayer>& resnet50()
{
    static const std::vector<RepeatedLayer> layers = {
        {1, {12100, 64, 147}}, {1, {3136, 64, 64}},   {3, {2916, 64, 576}},  {4, {3136, 256, 64}},
        {2, {3136, 64, 256}},  {1, {841, 128, 256}},  {4, {676, 128, 1152}}, {4, {784, 512, 128}},
        {1, {841, 512, 256}},  {3, {784, 128, 512}},  {1, {225, 256, 512}},  {6, {144, 256, 2304}},
        {6, {196, 1024, 256}}, {1, {225, 1024, 512}}, {5, {196, 256, 1024}}, {1, {64, 512, 1024}},
        {3, {25, 512, 4608}},  {3, {49, 2048, 512}},  {1, {64, 2048, 1024}}, {2, {49, 512, 2048}},
        {1, {1, 1000, 2048}}};
    return layers;
}

// Returns the number of a layer's last cycle, counted from 0, as SCALE-Sim prints it.
double printed_cycles(const std::vector<RepeatedLayer>& layers, Dataflow dataflow, int rows,
                      int columns)
{
    int64_t total = 0;
    for (const RepeatedLayer& each : layers)
        total +=
            each.number * (count_array_cycles(dataflow, rows, columns, each.layer).total() - 1);
    return static_cast<double>(total);
}

// Counts the same cycles with programs, on a machine whose memories never stall it and which does
// nothing else. Each program takes one more cycle, in which its first fetch is dispatched.
int simulated_cycles(const std::vector<RepeatedLayer>& layers, Config config, double* out_cycles)
{
    config.double_buffer = false;
    config.weight_gbps = config.host_gbps = 1e12;
    int64_t total = 0;
    for (const RepeatedLayer& each : layers) {
        config.accumulator_rows = static_cast<int>(each.layer.vectors);
        Counters counters;
        TENGINE_RETURN_IF_ERROR(
            count_cycles(build_product_program(each.layer, config), config, &counters));
        total += each.number * (counters.total - 1 - 1);
    }
    *out_cycles = static_cast<double>(total);
    return TENGINE_OK;
}

int add_array_rows(Rows* rows)
{
    struct Case
    {
        const char* name;
        const std::vector<RepeatedLayer>& layers;
        Dataflow dataflow;
        int size;
        double printed;
    };
    const Case cases[] = {
        {"AlexNet 256x256 OS", alexnet(), Dataflow::kOutputStationary, 256, 36727},
        {"AlexNet 256x256 WS", alexnet(), Dataflow::kWeightStationary, 256, 73747},
        {"AlexNet 256x256 IS", alexnet(), Dataflow::kInputStationary, 256, 92101},
        {"AlexNet 32x32 OS", alexnet(), Dataflow::kOutputStationary, 32, 850960},
        {"AlexNet 32x32 WS", alexnet(), Dataflow::kWeightStationary, 32, 1136239},
        {"AlexNet 32x32 IS", alexnet(), Dataflow::kInputStationary, 32, 1158205},
        {"ResNet-50 256x256 OS", resnet50(), Dataflow::kOutputStationary, 256, 328708},
        {"ResNet-50 256x256 WS", resnet50(), Dataflow::kWeightStationary, 256, 438375},
        {"ResNet-50 32x32 WS", resnet50(), Dataflow::kWeightStationary, 32, 5753486},
    };
    Config config;
    TENGINE_RETURN_IF_ERROR(load_config("scale32", &config));
    for (const Case& each : cases) {
        add_exact(rows, std::string(each.name) + ", formula",
                  printed_cycles(each.layers, each.dataflow, each.size, each.size), each.printed,
                  "cycles", kScaleSim);
        if (each.dataflow != Dataflow::kWeightStationary) continue;
        double cycles = 0;
        config.rows = config.columns = each.size;
        TENGINE_RETURN_IF_ERROR(simulated_cycles(each.layers, config, &cycles));
        add_exact(rows, std::string(each.name) + ", program", cycles, each.printed, "cycles",
                  kScaleSim);
    }
    return TENGINE_OK;
}

double microseconds(const Counters& counters, const Config& config)
{
    return static_cast<double>(counters.total) / config.clock_mhz;
}

double percent(int64_t part, const Counters& counters)
{
    return 100.0 * static_cast<double>(part) / static_cast<double>(counters.total);
}

// Returns 10^12 operations a second, two for a product.
double tops(const Counters& counters, const Config& config)
{
    return 2 * static_cast<double>(counters.macs) / microseconds(counters, config) / 1e6;
}

int count_products(int64_t vectors, int64_t size, const Config& config, Counters* out_counters)
{
    return count_cycles(build_product_program({vectors, size, size}, config), config, out_counters);
}

// Adds the cost of a tile's load: of each further tile if there is almost nothing to multiply. And
// the share of the cycles between the products of MLP0: 1349 = 893 + 256 + 200 without beginning
// and end.
int add_tile_rows(const Config& config, Rows* rows)
{
    Counters few, many, mlp;
    TENGINE_RETURN_IF_ERROR(count_products(1, config.rows, config, &few));
    TENGINE_RETURN_IF_ERROR(count_products(1, 10 * config.rows, config, &many));
    const double load = 65536 / (34e9 / 700e6);
    add_row(rows, "a weight tile's load", static_cast<double>(many.total - few.total) / 99, load,
            1349, 1350, "cycles", "64 KiB, 34 GB/s, 700 MHz");
    TENGINE_RETURN_IF_ERROR(count_products(200, 2048, config, &mlp));
    const double tiles = 64 - 1;  // the wait for the first is not a stall
    add_row(rows, "MLP0: weight stall of a tile", static_cast<double>(mlp.weight_stall) / tiles,
            load - 256 - 200, 893, 894, "cycles", "load - shift - batch");
    add_exact(rows, "MLP0: weight shift of a tile", static_cast<double>(mlp.weight_shift) / tiles,
              256, "cycles", "a row a cycle");
    return TENGINE_OK;
}

// Adds a 600 x 600 matrix of LSTM1, whose batch is 96.
int add_tiling_rows(Config config, int size, double fetch, double paper, Rows* rows)
{
    config.rows = config.columns = size;
    Counters counters;
    TENGINE_RETURN_IF_ERROR(count_products(96, 600, config, &counters));
    const std::string name = "600x600 on " + std::to_string(size) + "x" + std::to_string(size);
    add_row(rows, name + ", fetch", static_cast<double>(counters.weight_busy) / config.clock_mhz,
            fetch, fetch - 0.01, fetch + 0.01, "us", "bytes / 34 GB/s");
    add_row(rows, name + ", batch 96", microseconds(counters, config), paper, 0.9 * paper,
            1.1 * paper, "us", std::string(kPaper) + ", section 7");
    return TENGINE_OK;
}

DenseNetwork mlp0(int batch)
{
    return {{2048, 2048, 2048, 2048, 2048, 2048}, batch};
}

ConvolutionNetwork cnn0()
{
    return {16, 256, 19, 3, 8};
}

int add_mlp0_rows(const Config& config, Rows* rows)
{
    Counters counters;
    TENGINE_RETURN_IF_ERROR(
        count_cycles(build_dense_program(mlp0(200), config), config, &counters));
    const std::string table = std::string(kPaper) + ", table 3";
    add_row(rows, "MLP0 stand-in: active", percent(counters.active, counters), 12.7, 12, 14.9, "%",
            table);
    add_row(rows, "MLP0 stand-in: weight stall", percent(counters.weight_stall, counters), 53.9, 50,
            66, "%", table);
    add_row(rows, "MLP0 stand-in: weight shift", percent(counters.weight_shift, counters), 15.9, 15,
            19, "%", table);
    add_row(rows, "MLP0 stand-in: non-matrix", percent(counters.non_matrix, counters), 17.5, 2, 18,
            "%", table);
    add_row(rows, "MLP0 stand-in", tops(counters, config), 12.3, 11, 13.6, "TOPS", table);
    return TENGINE_OK;
}

int add_cnn0_rows(const Config& config, Rows* rows)
{
    Counters counters;
    TENGINE_RETURN_IF_ERROR(
        count_cycles(build_convolution_program(cnn0(), config), config, &counters));
    const std::string table = std::string(kPaper) + ", table 3";
    add_row(rows, "CNN0 stand-in: active", percent(counters.active, counters), 78.2, 78, 100, "%",
            table);
    add_row(rows, "CNN0 stand-in: weight stall", percent(counters.weight_stall, counters), 0, 0,
            0.5, "%", table);
    add_row(rows, "CNN0 stand-in", tops(counters, config), 86.0, 71.7, 91.75, "TOPS", table);
    return TENGINE_OK;
}

// Adds the smallest batch for which the array never waits for a tile, stall or shift, after the
// start.
int add_ridge_rows(const Config& config, Rows* rows)
{
    int waiting = 1, ready = 2048;
    Counters counters;
    while (ready - waiting > 1) {
        const int batch = (waiting + ready) / 2;
        TENGINE_RETURN_IF_ERROR(count_products(batch, 2048, config, &counters));
        (counters.weight_stall + counters.weight_shift > 0 ? waiting : ready) = batch;
    }
    add_row(rows, "batch from which on no tile stalls", ready, 1350, 1349, 1351, "",
            std::string(kPaper) + ", section 4");
    TENGINE_RETURN_IF_ERROR(
        count_cycles(build_dense_program(mlp0(1350), config), config, &counters));
    add_row(rows, "MLP0 stand-in, batch 1350: weight stall",
            percent(counters.weight_stall, counters), 0, 0, 0.5, "%", "the ridge");
    return TENGINE_OK;
}

int add_sweep_rows(const Config& config, Rows* rows)
{
    const Program mlp = build_dense_program(mlp0(200), config);
    const Program cnn = build_convolution_program(cnn0(), config);
    Config bandwidth = config, clock = config, single = config;
    bandwidth.weight_gbps *= 4;
    clock.clock_mhz *= 4;
    single.double_buffer = false;
    const auto ratio = [&](const Program& program, const Config& other, double* out_ratio) -> int {
        Counters before, after;
        TENGINE_RETURN_IF_ERROR(count_cycles(program, config, &before));
        TENGINE_RETURN_IF_ERROR(count_cycles(program, other, &after));
        *out_ratio = microseconds(before, config) / microseconds(after, other);
        return TENGINE_OK;
    };
    struct Case
    {
        const char* name;
        const Program& program;
        const Config& config;
        double reference, low, high;
        const char* source;
    };
    const Case cases[] = {
        {"MLP0 stand-in, bandwidth x4", mlp, bandwidth, 3, 2.5, 4, "ISCA 2017, section 7: about 3"},
        {"CNN0 stand-in, bandwidth x4", cnn, bandwidth, 1, 0.99, 1.1,
         "ISCA 2017, section 7: little"},
        {"MLP0 stand-in, clock x4", mlp, clock, 1, 0.99, 1.2, "ISCA 2017, section 7: little"},
        {"CNN0 stand-in, clock x4", cnn, clock, 2, 1.7, 2.5, "ISCA 2017, section 7: about 2"},
        {"CNN0 stand-in, no double buffer", cnn, single, 2888.0 / (2888 + 256 + 510), 0.75, 0.9,
         "M / (M + 3 x 256 - 2)"},
    };
    for (const Case& each : cases) {
        double speed = 0;
        TENGINE_RETURN_IF_ERROR(ratio(each.program, each.config, &speed));
        add_row(rows, each.name, speed, each.reference, each.low, each.high, "x", each.source);
    }
    return TENGINE_OK;
}

int add_topology_row(const TopologyLayer& layer, const Config& config, Rows* rows)
{
    const int64_t folds = count_array_cycles(Dataflow::kWeightStationary, config.rows,
                                             config.columns, layer.repeated.layer)
                              .folds;
    if (folds > kMostFolds)
        return tengine_error_set(
            TENGINE_ELIMIT,
            "layer '%.80s' fills the array of %dx%d %lld times, expected at most %lld",
            layer.name.c_str(), config.rows, config.columns, static_cast<long long>(folds),
            static_cast<long long>(kMostFolds));
    double cycles = 0;
    TENGINE_RETURN_IF_ERROR(simulated_cycles({layer.repeated}, config, &cycles));
    add_exact(
        rows, layer.name, cycles,
        printed_cycles({layer.repeated}, Dataflow::kWeightStationary, config.rows, config.columns),
        "cycles", kFormula);
    return TENGINE_OK;
}

int run_all(Rows* rows)
{
    TENGINE_RETURN_IF_ERROR(add_array_rows(rows));
    Config config;
    TENGINE_RETURN_IF_ERROR(load_config("tpu-v1", &config));
    TENGINE_RETURN_IF_ERROR(add_tile_rows(config, rows));
    TENGINE_RETURN_IF_ERROR(add_tiling_rows(config, 256, 17.35, 18, rows));
    TENGINE_RETURN_IF_ERROR(add_tiling_rows(config, 512, 30.84, 32, rows));
    TENGINE_RETURN_IF_ERROR(add_mlp0_rows(config, rows));
    TENGINE_RETURN_IF_ERROR(add_cnn0_rows(config, rows));
    TENGINE_RETURN_IF_ERROR(add_ridge_rows(config, rows));
    return add_sweep_rows(config, rows);
}

}  // namespace

int run_validation(std::vector<ValidationRow>* out_rows)
{
    return guarded(
        [&]() -> int {
            out_rows->clear();
            return run_all(out_rows);
        },
        "out of memory for the programs of the validation");
}

int run_topology_validation(const std::vector<TopologyLayer>& layers, const Config& config,
                            std::vector<ValidationRow>* out_rows)
{
    return guarded(
        [&]() -> int {
            out_rows->clear();
            double ours = 0, reference = 0;
            for (const TopologyLayer& layer : layers) {
                TENGINE_RETURN_IF_ERROR(add_topology_row(layer, config, out_rows));
                ours += out_rows->back().ours;
                reference += out_rows->back().reference;
            }
            add_exact(
                out_rows,
                "all on " + std::to_string(config.rows) + "x" + std::to_string(config.columns),
                ours, reference, "cycles", kFormula);
            return TENGINE_OK;
        },
        "out of memory for the programs of the topology");
}

std::string print_validation(const std::vector<ValidationRow>& rows)
{
    // Cycles are printed to the last digit, other figures to their precision.
    const auto number = [](double value) {
        char text[64];
        snprintf(text, sizeof text, value == std::floor(value) ? "%.0f" : "%.7g", value);
        return std::string(text);
    };
    char line[256];
    snprintf(line, sizeof line, "%-40s %11s %11s %6s  %-26s %-3s %s\n", "", "ours", "reference",
             "ratio", "accepted", "ok", "source");
    std::string text = line;
    for (const ValidationRow& row : rows) {
        char ratio[32] = "-";
        if (row.reference != 0) snprintf(ratio, sizeof ratio, "%.3f", row.ours / row.reference);
        const std::string accepted = number(row.low) + " to " + number(row.high) + " " + row.unit;
        snprintf(line, sizeof line, "%-40.80s %11s %11s %6s  %-26s %-3s %s\n", row.name.c_str(),
                 number(row.ours).c_str(), number(row.reference).c_str(), ratio, accepted.c_str(),
                 row.ok ? "yes" : "NO", row.source.c_str());
        text += line;
    }
    return text;
}

}  // namespace tengine::tpu
