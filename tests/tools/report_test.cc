// SPDX-License-Identifier: Apache-2.0
// `tengine bench`, `inspect` and `devices`: their output and their JSON reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tensor_file/tensor_file.h"
#include "tools/program.h"

namespace tengine::program {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

TEST(BenchCommand, PrintsALineForEachNumberOfThreads)
{
    const std::string model = data_file("digits.onnx");
    const Finished finished =
        run({"bench", "--threads", "1,2", model, "--runs", "3", "--shape", "1x1x8x8"});
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_EQ(finished.errors, "");
    EXPECT_THAT(finished.output, StartsWith("model "));
    EXPECT_EQ(std::count(finished.output.begin(), finished.output.end(), '\n'), 3);
}

TEST(BenchCommand, WritesConsistentNumbers)
{
    const std::string file = scratch_folder() + "/bench.json";
    const Finished finished = run({"bench", data_file("digits.onnx"), data_file("digits.onnx"),
                                   "--runs", "11", "--warmup", "0", "--json", file});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    const json report = json::parse(tools::read_file(file));
    EXPECT_EQ(report["version"], 1);
    ASSERT_EQ(report["results"].size(), 2u);
    for (const json& result : report["results"]) {
        EXPECT_EQ(result["runs"], 11);
        EXPECT_EQ(result["threads"], 1);
        EXPECT_GT(result["load_ms"], 0.0);
        EXPECT_GT(result["prepare_ms"], 0.0);
        EXPECT_GT(result["first_run_ms"], 0.0);
        EXPECT_GT(result["min_ms"], 0.0);
        EXPECT_LE(result["min_ms"], result["median_ms"]);
        EXPECT_LE(result["median_ms"], result["p90_ms"]);
        EXPECT_LE(result["p90_ms"], result["p99_ms"]);
        const double gflops =
            2 * result["macs"].get<double>() / (result["median_ms"].get<double>() * 1e6);
        EXPECT_NEAR(result["gflops"].get<double>(), gflops, gflops * 1e-9);
        EXPECT_GT(result["peak_memory"], 1 << 20);
    }
}

// Checks the form of `value`: a word for its type, or for an object a word for each key.
void expect_shape(const json& value, const json& shape, const std::string& where)
{
    if (shape.is_object()) {
        std::set<std::string> keys, wanted;
        for (const auto& [key, entry] : value.items())
            keys.insert(key);
        for (const auto& [key, entry] : shape.items())
            wanted.insert(key);
        ASSERT_EQ(keys, wanted) << where;
        for (const std::string& key : wanted)
            expect_shape(value[key], shape[key], where + "." + key);
    } else if (shape.is_array()) {
        ASSERT_TRUE(value.is_array()) << where;
        for (const json& entry : value)
            expect_shape(entry, shape[0], where + "[]");
    } else if (shape == "any") {
        return;
    } else if (shape == "count") {
        ASSERT_TRUE(value.is_number_integer()) << where << ": " << value;
        EXPECT_GE(value, 0) << where;
    } else if (shape == "time") {
        ASSERT_TRUE(value.is_number_float()) << where << ": " << value;
        EXPECT_GE(value, 0.0) << where;
    } else {
        EXPECT_EQ(value.type_name(), shape) << where;
    }
}

// The tensors and the memory plan of the report.
void add_tensor_shapes(json* report)
{
    const json edge = {{"name", "string"}, {"type", "string"},     {"shape", {"number"}},
                       {"bytes", "count"}, {"producer", "number"}, {"constant", "boolean"},
                       {"part", "number"}, {"arena", "any"},       {"offset", "any"}};
    const json arena = {
        {"device", "string"},      {"part", "count"},        {"bytes", "count"},
        {"copies", "count"},       {"memory", "count"},      {"name", "string"},
        {"memory_bytes", "count"}, {"ns_per_kib", "number"}, {"moved_bytes", "count"},
        {"saved_ns", "number"},    {"kept", "boolean"},      {"steps", {"count"}}};
    const json block = {{"tensor", "number"},    {"arena", "count"},   {"block", "count"},
                        {"offset", "count"},     {"bytes", "count"},   {"first", "count"},
                        {"last", "count"},       {"reason", "string"}, {"reason_bytes", "count"},
                        {"moved_bytes", "count"}};
    const json use = {{"name", "string"}, {"memory_bytes", "count"}, {"ns_per_kib", "number"},
                      {"used", "count"},  {"moved_bytes", "count"},  {"saved_ns", "number"}};
    (*report)["trace"] = "null";
    (*report)["tensors"] = json::array({edge});
    (*report)["plan"] = {{"memories", json::array({use})},
                         {"arenas", json::array({arena})},
                         {"blocks", json::array({block})}};
}

// The fields of a node that say what it computes.
json node_shape(const std::string& measured, const json& counter, const json& refusal)
{
    return {{"name", "string"},
            {"op", "string"},
            {"doc_string", "string"},
            {"device", "string"},
            {"part", "count"},
            {"macs", "count"},
            {"predicted_ms", "time"},
            {"kernel", "string"},
            {"kernel_reason", "string"},
            {"measured_ms", measured},
            {"inputs", {"number"}},
            {"outputs", {"number"}},
            {"scope", "string"},
            {"precision", "string"},
            {"attributes", "object"},
            {"counters", {counter}},
            {"refused", json::array({refusal})}};
}

json metadata_shape()
{
    return {{"graph_name", "string"},
            {"producer_name", "string"},
            {"producer_version", "string"},
            {"domain", "string"},
            {"doc_string", "string"},
            {"graph_doc_string", "string"},
            {"model_version", "number"},
            {"ir_version", "number"},
            {"opsets", json::array({{{"domain", "string"}, {"version", "number"}}})},
            {"properties", json::array({{{"key", "string"}, {"value", "string"}}})}};
}

json memory_shape()
{
    const json device_memory = {{"name", "string"},         {"parts", "count"},
                                {"unknown_parts", "count"}, {"compiled", "count"},
                                {"arena", "count"},         {"tensors", "count"}};
    return {
        {"constants", "count"}, {"arena", "count"},    {"mapped", "count"},
        {"owned", "count"},     {"borrowed", "count"}, {"values", "count"},
        {"derived", "count"},   {"borders", "count"},  {"devices", json::array({device_memory})},
        {"total", "count"}};
}

// A model's own say in its placement.
json hint_shape()
{
    return {{"nodes", "string"},      {"option", "string"}, {"value", "string"},
            {"node_number", "count"}, {"used", "boolean"},  {"reason", "string"}};
}

json variant_shape()
{
    return {{"name", "string"},   {"devices", "string"}, {"chip", "string"},
            {"driver", "string"}, {"options", "string"}, {"precision", "string"},
            {"parts", "count"},   {"bytes", "count"},    {"usable", "boolean"},
            {"taken", "boolean"}, {"reason", "string"}};
}

// Version 1 of the report, as documented in docs/report.md; `measured` is "time" or "null".
json report_shape(const std::string& part_measured, const std::string& node_measured)
{
    const json tensor = {{"name", "string"}, {"type", "string"}, {"shape", {"number"}}};
    json input = tensor, output = tensor;
    input["names"] = json::array({"string"});
    input["tensor"] = output["tensor"] = "count";
    output["names"] = json::array({"string"});
    output["declared"] = json::array({"number"});
    output["depends_on_data"] = "boolean";
    const json refusal = {{"device", "string"},
                          {"code", "string"},
                          {"attribute", "string"},
                          {"value", "string"},
                          {"message", "string"}};
    const json counter = {{"name", "string"}, {"unit", "string"}, {"value", "number"}};
    const json part = {{"id", "count"},          {"device", "string"},
                       {"nodes", "count"},       {"inputs", "count"},
                       {"outputs", "count"},     {"macs", "count"},
                       {"bytes_in", "count"},    {"bytes_out", "count"},
                       {"predicted_ms", "time"}, {"measured_ms", part_measured},
                       {"redone", "count"},      {"group", "count"},
                       {"origin", "string"},     {"counters", {counter}}};
    const json compiled = {{"device", "string"},
                           {"target", "string"},
                           {"bytes", "count"},
                           {"fingerprint", "string"},
                           {"hash", "string"}};
    const json preparation = {{"terms", "string"},
                              {"bytes", "count"},
                              {"parts", "count"},
                              {"arena_bytes", "count"},
                              {"between_bytes", "count"}};
    const json buckets = {
        {"shapes", json::array({"string"})}, {"used", "null"}, {"reason", "string"}};
    json report = {{"version", "count"},
                   {"model", "string"},
                   {"entry", "string"},
                   {"entries", json::array({"string"})},
                   {"metadata", metadata_shape()},
                   {"placed", "boolean"},
                   {"inputs", json::array({input})},
                   {"outputs", json::array({output})},
                   {"operators", "object"},
                   {"compiled_parts", json::array({compiled})},
                   {"preparations", json::array({preparation})},
                   {"hints", json::array({hint_shape()})},
                   {"buckets", buckets},
                   {"variants", json::array({variant_shape()})},
                   {"macs", "count"},
                   {"parameters", "count"},
                   {"memory", memory_shape()},
                   {"threads", "count"},
                   {"times", part_measured == "null" ? "null" : "string"},
                   {"scheduler", "string"},
                   {"devices", json::array({"string"})},
                   {"parts", json::array({part})},
                   {"nodes", json::array({node_shape(node_measured, counter, refusal)})}};
    add_tensor_shapes(&report);
    return report;
}

TEST(InspectCommand, ReportIsAsDocumented)
{
    const Finished finished = run({"inspect", data_file("digits.onnx"), "--json", "-"});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    const json report = json::parse(finished.output);
    expect_shape(report, report_shape("null", "null"), "report");
    EXPECT_EQ(report["version"], 1);
    EXPECT_EQ(report["model"], data_file("digits.onnx"));
    EXPECT_EQ(report["scheduler"], "sync");
}

TEST(InspectCommand, PartsAddUp)
{
    const json report =
        json::parse(run({"inspect", data_file("digits.onnx"), "--json", "-"}).output);
    ASSERT_EQ(report["parts"].size(), 1u);
    const json& part = report["parts"][0];
    EXPECT_EQ(part["id"], 0);
    EXPECT_EQ(part["bytes_in"], 4 * 8 * 8);
    EXPECT_EQ(part["bytes_out"], 4 * 10);
    EXPECT_EQ(part["redone"], 0);
    EXPECT_EQ(part["macs"], report["macs"]);
    double predicted = 0;
    for (const json& node : report["nodes"])
        predicted += node["predicted_ms"].get<double>();
    EXPECT_GT(predicted, 0);
    EXPECT_NEAR(part["predicted_ms"].get<double>(), predicted, 1e-6);
}

// Every tensor that a node reads is an input, a constant, or what an earlier node writes.
TEST(InspectCommand, EdgesLeadFromNodeToNode)
{
    const json report =
        json::parse(run({"inspect", data_file("digits.onnx"), "--json", "-"}).output);
    const json& tensors = report["tensors"];
    std::set<int> known = {report["inputs"][0]["tensor"].get<int>()};
    for (size_t i = 0; i < tensors.size(); ++i)
        if (tensors[i]["constant"].get<bool>()) known.insert(static_cast<int>(i));
    int convolutions = 0;
    for (size_t i = 0; i < report["nodes"].size(); ++i) {
        const json& node = report["nodes"][i];
        for (const json& input : node["inputs"])
            EXPECT_TRUE(input == -1 || known.count(input.get<int>()) == 1) << node;
        for (const json& output : node["outputs"]) {
            known.insert(output.get<int>());
            const json& tensor = tensors[output.get<size_t>()];
            EXPECT_EQ(tensor["producer"], i);
            EXPECT_EQ(tensor["part"], node["part"]);
        }
        EXPECT_EQ(node["precision"], "fp32");
        if (node["op"] != "Conv") continue;
        ++convolutions;
        EXPECT_EQ(node["inputs"].size(), 3u) << "with its bias";
        EXPECT_EQ(tensors[node["inputs"][1].get<size_t>()]["shape"].size(), 4u);
        EXPECT_EQ(node["attributes"]["kernel_shape"].get<std::string>().front(), '[');
    }
    EXPECT_EQ(convolutions, 5);
    EXPECT_EQ(known.count(report["outputs"][0]["tensor"].get<int>()), 1u);
    EXPECT_EQ(known.size(), tensors.size());
}

TEST(RunCommand, TraceIsInTheReportOnRequest)
{
    const json trace = json::parse(
        run({"run", data_file("digits.onnx"), "--option", "run.trace=1000", "--json", "-"})
            .output)["trace"];
    ASSERT_TRUE(trace.is_object());
    EXPECT_EQ(trace["clock"], "monotonic");
    EXPECT_EQ(trace["lanes"][0], "program");
    EXPECT_EQ(trace["clocks"].size(), trace["lanes"].size());
    std::map<std::string, int> kinds;
    for (const json& event : trace["events"]) {
        ASSERT_EQ(event.size(), 10u);
        EXPECT_LT(event[0], trace["lanes"].size());
        EXPECT_GE(event[1], 0.0);
        EXPECT_GE(event[2], 0.0);
        ++kinds[event[3].get<std::string>()];
    }
    EXPECT_EQ(kinds["run"], 1);
    EXPECT_EQ(kinds["part"], 1);
    EXPECT_GE(kinds["step"], 7) << "convolutions, and others";
    EXPECT_GE(kinds["prepare"], 10);
}

TEST(BenchCommand, HasTheReportOfEachModel)
{
    const json results = json::parse(
        run({"bench", data_file("digits.onnx"), "--runs", "2", "--json", "-"}).output)["results"];
    ASSERT_EQ(results.size(), 1u);
    EXPECT_EQ(results[0]["report"]["times"], "warm");
    EXPECT_EQ(results[0]["report"]["macs"], results[0]["macs"]);
    EXPECT_FALSE(results[0]["report"]["tensors"].empty());
}

TEST(RunCommand, ReportHasTheTimesOfTheRun)
{
    const Finished finished = run({"run", data_file("digits.onnx"), "--json", "-"});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.output, StartsWith("{"));
    const json report = json::parse(finished.output);
    expect_shape(report, report_shape("time", "time"), "report");
    EXPECT_EQ(report["version"], 1);
    double measured = 0;
    for (const json& node : report["nodes"])
        measured += node["measured_ms"].get<double>();
    EXPECT_GT(measured, 0);
    EXPECT_LE(measured, report["parts"][0]["measured_ms"].get<double>());
}

TEST(RunCommand, WithoutProfileNodesHaveNoTimes)
{
    const Finished finished =
        run({"run", data_file("digits.onnx"), "--option", "run.profile=0", "--json", "-"});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    expect_shape(json::parse(finished.output), report_shape("time", "null"), "report");
}

TEST(RunCommand, WritesTheReportBesideTheText)
{
    const std::string folder = scratch_folder();
    const Finished finished =
        run({"run", data_file("digits.onnx"), "--json", folder + "/run.json", "--output", folder});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.output, HasSubstr("output  probabilities  1x10  fp32\n"));
    EXPECT_THAT(finished.output, HasSubstr("wrote   "));
    const json report = json::parse(tools::read_file(folder + "/run.json"));
    expect_shape(report, report_shape("time", "time"), "report");
    EXPECT_FALSE(tools::read_file(folder + "/probabilities.npy").empty());
}

TEST(InspectCommand, CountsWhatTheModelHas)
{
    const Finished finished = run({"inspect", data_file("digits.onnx"), "--json", "-"});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    const json report = json::parse(finished.output);
    EXPECT_EQ(report["version"], 1);
    json inputs = report["inputs"];
    EXPECT_EQ(report["tensors"][inputs[0]["tensor"].get<size_t>()]["name"], "image");
    inputs[0].erase("tensor");
    EXPECT_EQ(inputs, json::parse(R"([{"name": "image", "type": "fp32", "shape": [1, 1, 8, 8],
                                        "names": ["N", "", "", ""]}])"));
    json outputs = report["outputs"];
    EXPECT_EQ(report["tensors"][outputs[0]["tensor"].get<size_t>()]["name"], "probabilities");
    outputs[0].erase("tensor");
    EXPECT_EQ(outputs, json::parse(R"([{"name": "probabilities", "type": "fp32", "shape": [1, 10],
                                "declared": [-1, 10], "names": ["N", ""],
                                "depends_on_data": false}])"));
    EXPECT_EQ(report["operators"]["Conv"], 5);
    EXPECT_EQ(report["operators"]["Gemm"], 1);
    EXPECT_EQ(report["operators"].count("InputOp"), 0u);
    EXPECT_GT(report["parameters"], 30000);
    EXPECT_GT(report["memory"]["constants"], 4 * 30000);
    EXPECT_GT(report["memory"]["arena"], 0);
}

TEST(InspectCommand, MemoryAddsUp)
{
    const json memory =
        json::parse(run({"inspect", data_file("digits.onnx"), "--json", "-"}).output)["memory"];
    int64_t sum = 0;
    for (const char* kind : {"owned", "values", "derived", "borders"})
        sum += memory[kind].get<int64_t>();
    for (const json& device : memory["devices"])
        for (const char* kind : {"compiled", "arena", "tensors"})
            sum += device[kind].get<int64_t>();
    EXPECT_EQ(memory["total"], sum);
    EXPECT_EQ(memory["mapped"].get<int64_t>() + memory["owned"].get<int64_t>(),
              memory["constants"].get<int64_t>());
    EXPECT_EQ(memory["borrowed"], 0);
    EXPECT_GT(memory["devices"][0]["arena"], 0);
}

TEST(RunCommand, MemoryIsPrintedOnRequest)
{
    const std::string model = data_file("digits.onnx");
    EXPECT_EQ(run({"run", model}).output.find("memory"), std::string::npos);
    const Finished finished = run({"run", model, "--memory"});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    for (const char* part : {"memory", "CPU, arena", "total"})
        EXPECT_NE(finished.output.find(part), std::string::npos) << part << finished.output;
    const std::string inspected = run({"inspect", model}).output;
    EXPECT_NE(inspected.find("CPU, arena"), std::string::npos) << inspected;
    EXPECT_EQ(inspected.find("SRAM"), std::string::npos) << inspected;
}

TEST(RunCommand, MemoriesOfTheBoardArePrintedWithReasons)
{
    const std::string model = data_file("digits.onnx");
    const std::string memories = "CPU.memories=SRAM:8192:1,DRAM:0:8";
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"run", model, "--memory", "--option", memories},
          std::vector<std::string>{"inspect", model, "--option", memories}}) {
        const Finished finished = run(command);
        ASSERT_EQ(finished.status, 0) << finished.errors;
        for (const char* part : {"of 8.19 kB", "of any size", "too large for SRAM: it has 8.19 kB",
                                 "no room in SRAM: "})
            EXPECT_NE(finished.output.find(part), std::string::npos) << part << finished.output;
    }
    EXPECT_NE(run({"run", model, "--option", "CPU.memories=SRAM"}).status, 0);
}

TEST(InspectCommand, SaysWhereEveryNodeIs)
{
    const Finished finished = run({"inspect", data_file("digits.onnx"), "--json", "-"});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    const json report = json::parse(finished.output);
    ASSERT_EQ(report["devices"].size(), 1u);
    int64_t macs = 0;
    for (const json& node : report["nodes"]) {
        EXPECT_EQ(node["device"], report["devices"][0]) << node;
        EXPECT_EQ(node["part"], 0) << node;
        EXPECT_TRUE(node["refused"].empty()) << node;
        macs += node["macs"].get<int64_t>();
    }
    EXPECT_EQ(report["macs"], macs);
    EXPECT_EQ(report["parts"][0]["nodes"], report["nodes"].size());
}

TEST(InspectCommand, MacsGrowWithTheBatch)
{
    const std::string model = data_file("digits.onnx");
    const json one = json::parse(run({"inspect", model, "--json", "-"}).output);
    const json three =
        json::parse(run({"inspect", model, "--shape", "image=3x1x8x8", "--json", "-"}).output);
    EXPECT_EQ(three["macs"], one["macs"].get<int64_t>() * 3);
    EXPECT_EQ(three["parameters"], one["parameters"]);
}

TEST(InspectCommand, PrintsThePlacement)
{
    const Finished finished = run({"inspect", data_file("digits.onnx")});
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.output, StartsWith("input       image  1x1x8x8  fp32  (N x 1 x 8 x 8)\n"));
    EXPECT_THAT(finished.output, HasSubstr("\n21 nodes by operator\n"));
    EXPECT_THAT(finished.output, HasSubstr("predicted ms\n"));
    EXPECT_THAT(finished.output, HasSubstr("reason"));
    EXPECT_EQ(finished.errors, "") << "only the default device: nothing to report";
}

// The test uses every device of this build that takes no operator, such as the skeleton.
TEST(InspectCommand, TellsWhyADeviceRefused)
{
    const json devices = json::parse(run({"devices", "--json", "-"}).output)["devices"];
    bool is_there = false;
    for (const json& device : devices) {
        if (!device["operators"].empty()) continue;
        is_there = true;
        const std::string name = device["name"];
        const Finished finished =
            run({"inspect", "--device", name, data_file("digits.onnx"), "--json", "-"});
        ASSERT_EQ(finished.status, 0) << finished.errors;
        EXPECT_THAT(finished.errors, HasSubstr(name + ": no nodes; CPU: "));
        const json report = json::parse(finished.output);
        expect_shape(report, report_shape("null", "null"), "report");
        EXPECT_EQ(report["devices"][0], name);
        for (const json& node : report["nodes"]) {
            ASSERT_EQ(node["refused"].size(), 1u) << node;
            EXPECT_EQ(node["refused"][0]["device"], name);
            EXPECT_EQ(node["refused"][0]["code"], "operator");
            EXPECT_NE(node["refused"][0]["message"], "");
        }
    }
    if (!is_there) GTEST_SKIP() << "this build has no device that takes nothing";
}

TEST(DevicesCommand, ListsWhatIsCompiledIn)
{
    const Finished finished = run({"devices"});
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.output, StartsWith("CPU features  "));
    EXPECT_THAT(finished.output, HasSubstr("\ndevice CPU\n  runs on "));

    const json report = json::parse(run({"devices", "--json", "-"}).output);
    ASSERT_FALSE(report["devices"].empty());
    const json& last = report["devices"].back();
    EXPECT_THAT(finished.output, HasSubstr("\ndevice " + last["name"].get<std::string>() + "\n"));
    EXPECT_THAT(last["operators"], testing::Contains("Conv"));
    EXPECT_THAT(last["types"], testing::Contains("fp32"));
}

}  // namespace
}  // namespace tengine::program
