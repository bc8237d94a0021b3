// SPDX-License-Identifier: Apache-2.0
// `tengine bench`: times, counts, cores, and the profile.
#include <sched.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>

#include "tensor_file/tensor_file.h"
#include "tools/accelerated_run.h"
#include "tools/program.h"
#include "tools/quantize_model.h"

namespace tengine::program {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// Returns the first result of a measurement that must succeed.
json bench(std::vector<std::string> more)
{
    more.insert(more.begin(), {"bench", data_file("digits.onnx"), "--json", "-"});
    const Finished finished = run(more);
    EXPECT_EQ(finished.status, 0) << finished.errors;
    return finished.status == 0 ? json::parse(finished.output)["results"][0] : json();
}

int first_core()
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    EXPECT_EQ(sched_getaffinity(0, sizeof cores, &cores), 0);
    int core = 0;
    while (!CPU_ISSET(core, &cores))
        ++core;
    return core;
}

TEST(BenchOption, SecondsCountInsteadOfRuns)
{
    const json result = bench({"--seconds", "0.3"});
    EXPECT_GE(result["runs"], 1);
    EXPECT_LE(result["min_ms"], result["mean_ms"]);
    EXPECT_GE(result["deviation_ms"], 0.0);
    EXPECT_NEAR(result["runs_per_second"].get<double>() * result["mean_ms"].get<double>(), 1000,
                1e-6);
    const std::string model = data_file("digits.onnx");
    const Finished both = run({"bench", model, "--seconds", "1", "--runs", "3"});
    EXPECT_EQ(both.status, 2);
    EXPECT_THAT(both.errors, HasSubstr("--runs excludes --seconds"));
    EXPECT_THAT(run({"bench", model, "--seconds", "0"}).errors, HasSubstr("not in range"));
}

TEST(BenchOption, InstancesShareTheModel)
{
    const json result = bench({"--instances", "3", "--runs", "4", "--warmup", "1"});
    EXPECT_EQ(result["instances"], 3);
    EXPECT_EQ(result["threads"], 1);
    EXPECT_LT(result["prepare_other_ms"].get<double>(), result["prepare_ms"].get<double>());
    EXPECT_LT(result["other_memory"].get<int64_t>(), result["peak_memory"].get<int64_t>());
    EXPECT_NEAR(result["scaling"].get<double>(),
                3 * result["alone_ms"].get<double>() / result["together_ms"].get<double>(), 1e-9);
    const std::string model = data_file("digits.onnx");
    for (const std::vector<std::string>& other : {std::vector<std::string>{"--profile"},
                                                  {"--frames", "2"},
                                                  {"--seconds", "1"},
                                                  {"--shapes", "1x1x8x8"},
                                                  {"--tokens", "2"}}) {
        std::vector<std::string> arguments = {"bench", model, "--instances", "2"};
        arguments.insert(arguments.end(), other.begin(), other.end());
        const Finished both = run(arguments);
        EXPECT_EQ(both.status, 2) << other[0];
        EXPECT_THAT(both.errors, HasSubstr("--instances cannot be combined")) << other[0];
    }
}

TEST(BenchOption, FramesOverlap)
{
    const json result = bench({"--frames", "3", "--runs", "7", "--warmup", "1"});
    EXPECT_EQ(result["frames"], 3);
    EXPECT_EQ(result["runs"], 7);
    EXPECT_GT(result["runs_per_second"], 0.0);
    const double gflops =
        2 * result["macs"].get<double>() * result["runs_per_second"].get<double>() / 1e9;
    EXPECT_NEAR(result["gflops"].get<double>(), gflops, gflops * 1e-9);
    const Finished finished =
        run({"bench", data_file("digits.onnx"), "--frames", "2", "--profile"});
    EXPECT_EQ(finished.status, 2);
    EXPECT_THAT(finished.errors, HasSubstr("cannot be combined with --frames"));
}

TEST(BenchOption, ShapesTakeTurns)
{
    const json result = bench({"--shapes", "1x1x8x8,3x1x8x8,2x1x8x8", "--runs", "4"});
    EXPECT_EQ(result["rounds"], 4);
    EXPECT_EQ(result["threads"], 1);
    ASSERT_EQ(result["shapes"].size(), 3u);
    EXPECT_EQ(result["shapes"][1]["shape"], "3x1x8x8");
    for (const json& shape : result["shapes"]) {
        EXPECT_GT(shape["prepare_ms"], 0.0);
        EXPECT_GT(shape["known_ms"], 0.0);
        EXPECT_GT(shape["min_ms"], 0.0);
        EXPECT_LE(shape["min_ms"], shape["median_ms"]);
    }
    const std::string model = data_file("digits.onnx");
    EXPECT_THAT(run({"bench", model, "--shapes", "1x1x8x8", "--runs", "1"}).output,
                HasSubstr("known ms"));
}

TEST(BenchOption, ShapesThatCannotBe)
{
    const std::string model = data_file("digits.onnx");
    EXPECT_THAT(run({"bench", model, "--shapes", "1x1x8x8,8y8"}).errors,
                HasSubstr("invalid shape '8y8'"));
    for (const char* other : {"--profile", "--frames=2", "--seconds=1", "--shape=1x1x8x8"}) {
        const Finished finished = run({"bench", model, "--shapes", "1x1x8x8", other});
        EXPECT_EQ(finished.status, 2) << other;
        EXPECT_THAT(finished.errors, HasSubstr("--shapes cannot be combined with"));
    }
    EXPECT_EQ(run({"bench", model, "--shapes", "1x1x7x9x2"}).status, 1);
}

TEST(BenchOption, CoresAreChosen)
{
    const std::string model = data_file("digits.onnx");
    const std::string core = std::to_string(first_core());
    EXPECT_EQ(bench({"--threads", "0", "--cores", core, "--runs", "1"})["threads"], 1);
    EXPECT_EQ(bench({"--cluster", "big", "--runs", "1"})["threads"], 1);
    const auto message = [&](const char* option, const std::string& value) {
        const Finished finished = run({"bench", model, "--runs", "1", option, value});
        EXPECT_EQ(finished.status, 2) << value;
        return finished.errors;
    };
    EXPECT_THAT(message("--cores", "a"),
                HasSubstr("invalid --cores 'a': expected a core or a range of cores"));
    EXPECT_THAT(message("--cores", "3-1"), HasSubstr("'3-1'"));
    EXPECT_THAT(message("--cores", "0-99"), HasSubstr("'0-99'"));
    EXPECT_THAT(message("--cluster", "tiny"), HasSubstr("tiny"));
    cpu_set_t cores;
    ASSERT_EQ(sched_getaffinity(0, sizeof cores, &cores), 0);
    if (CPU_ISSET(63, &cores)) return;
    EXPECT_THAT(message("--cores", core + ",63"), HasSubstr("may not use"));
}

TEST(BenchOption, NoThreadsAreAsManyAsThereAreCores)
{
    cpu_set_t cores;
    ASSERT_EQ(sched_getaffinity(0, sizeof cores, &cores), 0);
    const int number = CPU_COUNT(&cores);
    EXPECT_EQ(bench({"--threads", "0", "--runs", "1"})["threads"], number);
    const std::string model = data_file("digits.onnx");
    EXPECT_THAT(run({"inspect", model, "--threads", "0"}).output,
                HasSubstr("\nthreads     " + std::to_string(number) + "\n"));
    EXPECT_THAT(run({"run", model, "--threads", "0"}).output,
                HasSubstr("\nthreads " + std::to_string(number) + "\n"));
    EXPECT_EQ(json::parse(run({"run", model, "--threads", "0", "--json", "-"}).output)["threads"],
              number);
    EXPECT_THAT(run({"quantize", model, "--random", "1", "--table",
                     scratch_folder() + "/digits.scale", "--threads", "0"})
                    .output,
                HasSubstr("\nthreads     " + std::to_string(number) + "\n"));
}

TEST(BenchOption, AFileThatCannotBeWrittenIsToldBeforeTheRuns)
{
    const std::string model = data_file("digits.onnx");
    const Finished finished =
        run({"bench", model, "--runs", "1000000", "--json", "/nowhere/bench.json"});
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.errors, HasSubstr("folder '/nowhere' does not exist"));
}

// ---- --profile ----

double sum(const json& rows, const char* key)
{
    double total = 0;
    for (const json& row : rows)
        total += row[key].get<double>();
    return total;
}

TEST(BenchProfile, RowsAddUpAndAreSorted)
{
    const json result = bench({"--profile", "--runs", "9"});
    const json& profile = result["profile"];
    EXPECT_EQ(profile["runs"], 9);
    EXPECT_EQ(profile["nodes"].size(), 16u);
    EXPECT_TRUE(profile["untimed"].empty());
    EXPECT_TRUE(profile["parts"].empty());
    const double run = profile["run_ms"], total = profile["total_ms"];
    EXPECT_NEAR(run, std::max(result["median_ms"].get<double>(), total), 1e-9);
    for (const char* rows : {"nodes", "operators"}) {
        EXPECT_NEAR(sum(profile[rows], "share"), total / run, 1e-9) << rows;
        EXPECT_NEAR(sum(profile[rows], "median_ms"), profile["total_ms"].get<double>(), 1e-9);
        EXPECT_EQ(sum(profile[rows], "macs"), result["macs"]) << rows;
        for (size_t i = 1; i < profile[rows].size(); ++i)
            EXPECT_GE(profile[rows][i - 1]["median_ms"], profile[rows][i]["median_ms"]) << i;
    }
    for (const json& row : profile["nodes"]) {
        EXPECT_EQ(row["simulated"], false) << row;
        const double ms = row["median_ms"];
        if (ms == 0) continue;
        EXPECT_NEAR(row["gflops"].get<double>(), 2 * row["macs"].get<double>() / (ms * 1e6), 1e-6);
        EXPECT_NEAR(row["gbps"].get<double>(), row["bytes"].get<double>() / (ms * 1e6), 1e-6);
    }
    EXPECT_EQ(bench({"--runs", "1"})["profile"], nullptr);
}

// The classifier reads 40 values and 10 x 40 weights with 10 biases, and writes 10 values.
TEST(BenchProfile, BytesAreThoseReadAndWritten)
{
    const json profile = bench({"--profile", "--runs", "1"})["profile"];
    int64_t bytes = 0;
    for (const json& row : profile["nodes"])
        if (row["op"] == "Gemm") bytes += row["bytes"].get<int64_t>();
    EXPECT_EQ(bytes, 4 * (40 + 400 + 10 + 10));
}

// Writes y = x * x if the largest number is not 0, or else the sum; or another operator, on x
// alone.
std::string write_choice(const std::string& unary = "")
{
    ModelMaker maker({256, 256});
    maker.node("ReduceMax", {"x"}, "largest");
    set_int(maker.node("Cast", {"largest"}, "positive"), "to", 9);
    ::onnx::NodeProto* choice = maker.node("If", {"positive"}, "y");
    for (const char* branch : {"then_branch", "else_branch"}) {
        ::onnx::AttributeProto* attribute = choice->add_attribute();
        attribute->set_name(branch);
        attribute->set_type(::onnx::AttributeProto::GRAPH);
        ::onnx::GraphProto* body = attribute->mutable_g();
        body->set_name(branch);
        ::onnx::NodeProto* node = body->add_node();
        const char* binary = branch == std::string("then_branch") ? "MatMul" : "Add";
        node->set_op_type(unary.empty() ? binary : unary);
        node->set_name("inner");
        node->add_input("x");
        if (unary.empty()) node->add_input("x");
        node->add_output(branch);
        body->add_output()->set_name(branch);
    }
    return maker.write(scratch_folder());
}

// The If itself only copies, which takes less time than 256 products for each number.
TEST(BenchProfile, TheTimeOfABodyIsThatOfItsNodes)
{
    const Finished finished =
        run({"bench", write_choice(), "--profile", "--runs", "5", "--json", "-"});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    const json profile = json::parse(finished.output)["results"][0]["profile"];
    std::map<std::string, double> times;
    for (const json& row : profile["nodes"])
        times[row["name"]] = row["median_ms"];
    ASSERT_EQ(times.count("y/then_branch/inner"), 1u) << profile;
    EXPECT_LT(times["y"], times["y/then_branch/inner"]) << profile;
    EXPECT_NEAR(sum(profile["nodes"], "median_ms"), profile["total_ms"].get<double>(), 1e-9);
}

// ---- a device that does not measure its nodes ----

Finished bench_slow(const std::string& model, const std::vector<std::string>& more)
{
    std::vector<std::string> words = {"bench",    model,      "--plugin",     SLOW_DEVICE,
                                      "--device", "SLOW,CPU", "--profile",    "--runs",
                                      "5",        "--option", "split.prune=0"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
}

std::string write_roots()
{
    ModelMaker maker({4, 4});
    maker.node("Abs", {"x"}, "a");
    maker.node("Sqrt", {"a"}, "b");
    maker.node("Sqrt", {"b"}, "c");
    maker.node("Neg", {"c"}, "y");
    return maker.write(scratch_folder());
}

// The two roots take 20 ms, the two nodes on the CPU almost no time.
TEST(BenchProfile, ThePartOfADeviceThatDoesNotMeasureHasARow)
{
    const Finished finished = bench_slow(write_roots(), {"--json", "-"});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    const json result = json::parse(finished.output)["results"][0];
    const json& profile = result["profile"];
    ASSERT_EQ(profile["parts"].size(), 1u) << profile;
    const json& part = profile["parts"][0];
    EXPECT_EQ(part["name"], "part 1");
    EXPECT_EQ(part["device"], "SLOW");
    EXPECT_EQ(part["nodes"], 2);
    EXPECT_GE(part["median_ms"].get<double>(), 20);
    EXPECT_GT(part["share"].get<double>(), 0.9);
    EXPECT_EQ(profile["untimed"].size(), 2u);
    EXPECT_EQ(profile["nodes"].size(), 2u);
    EXPECT_LT(sum(profile["nodes"], "share"), 0.1);
    EXPECT_GE(profile["run_ms"].get<double>(), 20);
    EXPECT_NEAR(sum(profile["nodes"], "median_ms") + part["median_ms"].get<double>(),
                profile["total_ms"].get<double>(), 1e-9);
}

TEST(BenchProfile, WhatIsUnknownStandsFirst)
{
    const Finished finished = bench_slow(write_roots(), {"--top", "1"});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    const size_t said = finished.output.find("SLOW does not report the times of its nodes: ");
    const size_t operators = finished.output.find("operator ");
    const size_t part = finished.output.find("(part 1)");
    const size_t first = finished.output.find("Abs ");
    ASSERT_NE(said, std::string::npos) << finished.output;
    EXPECT_LT(said, operators);
    EXPECT_LT(operators, part);
    EXPECT_LT(part, first);
    EXPECT_THAT(finished.output, testing::ContainsRegex(": (9[0-9]\\.[0-9]|100\\.0) % of the run "
                                                        "are those of part 1, 2 nodes\n"));
    EXPECT_THAT(finished.output, testing::ContainsRegex("all +4 .* 100\\.0"));
    const std::string nodes = finished.output.substr(finished.output.rfind("operator "));
    EXPECT_LT(nodes.find("part 1, 2 nodes"), nodes.find("1 others")) << nodes;
}

// The If itself only copies.
TEST(BenchProfile, ThePartOfABodyIsNotTheNodesOwn)
{
    const Finished finished = bench_slow(write_choice("Sqrt"), {"--json", "-"});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    const json profile = json::parse(finished.output)["results"][0]["profile"];
    ASSERT_EQ(profile["parts"].size(), 1u) << profile;
    EXPECT_GE(profile["parts"][0]["median_ms"].get<double>(), 20);
    for (const json& row : profile["nodes"])
        EXPECT_LT(row["median_ms"].get<double>(), 20) << row;
}

TEST(BenchProfile, PrintsTheSlowestNodesAndTheRest)
{
    const Finished finished = run({"bench", data_file("digits.onnx"), "--profile", "--top", "3"});
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.output, HasSubstr("median of 20 warm runs"));
    EXPECT_THAT(finished.output, HasSubstr("13 others\n"));
    EXPECT_THAT(finished.output, testing::ContainsRegex("\\(between\\) .*\nall +16 .* 100\\.0"));
    const size_t nodes = finished.output.rfind("operator  device  kernel");
    ASSERT_NE(nodes, std::string::npos) << finished.output;
    const std::string table = finished.output.substr(nodes);
    EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 1 + 3 + 1) << table;
}

TEST(BenchProfile, NamesTheKernelsThatInspectNames)
{
    const std::string model = data_file("digits.onnx");
    std::map<std::string, std::string> expected, found;
    const json report = json::parse(run({"inspect", model, "--json", "-"}).output);
    for (const json& node : report["nodes"])
        expected[node["name"]] = node["kernel"];
    const json result = bench({"--profile", "--runs", "1"});
    for (const json& row : result["profile"]["nodes"])
        found[row["name"]] = row.value("kernel", "");
    EXPECT_EQ(found, expected);
    EXPECT_THAT(run({"bench", model, "--profile", "--runs", "1"}).output,
                testing::ContainsRegex("Gemm +CPU +" + found.at("/classifier/Gemm") +
                                       " +/classifier/Gemm\n"));
}

// The report has the time of the first run only.
TEST(RunCommand, ReportSaysThatItsTimesAreCold)
{
    const std::string model = data_file("digits.onnx");
    EXPECT_EQ(json::parse(run({"run", model, "--json", "-"}).output)["times"], "cold");
    EXPECT_EQ(json::parse(run({"inspect", model, "--json", "-"}).output)["times"], nullptr);
}

// ---- a simulated device ----

class BenchSimulated : public testing::Test
{
  protected:
    void SetUp() override
    {
        if (!has_accelerator()) GTEST_SKIP() << "this build has no " << kAccelerator;
        const Finished made =
            run({"quantize", data_file("digits.onnx"), "--random", "4", "-o", model_});
        ASSERT_EQ(made.status, 0) << made.errors;
    }
    Finished measure(const std::vector<std::string>& more)
    {
        std::vector<std::string> words = {"bench",    model_,      "--precision", "int8",
                                          "--runs",   "3",         "--option",    "split.prune=0",
                                          "--device", kAccelerator};
        words.insert(words.end(), more.begin(), more.end());
        return run(words);
    }
    std::string model_ = scratch_folder() + "/digits_int8.onnx";
};

TEST_F(BenchSimulated, ItsOwnTimeComesFirstAndThereIsNoRateOfTheSimulator)
{
    const Finished finished = measure({});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.output, testing::MatchesRegex("model +simulated +its own ms .*\n.*"));
    EXPECT_THAT(finished.output, HasSubstr("simulator's median ms"));
    EXPECT_THAT(finished.output, Not(HasSubstr("GFLOP/s")));
}

TEST_F(BenchSimulated, TheProfileIsByItsOwnClock)
{
    const Finished finished = measure({"--profile", "--json", "-"});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    const json result = json::parse(finished.output)["results"][0];
    EXPECT_EQ(result["gflops"], nullptr);
    ASSERT_EQ(result["simulated"].size(), 1u);
    EXPECT_EQ(result["simulated"][0]["device"], kAccelerator);
    double counted = 0;
    for (const json& part : result["counted"])
        for (const json& counter : part["counters"])
            if (counter["name"] == "time") counted += counter["value"].get<double>();
    EXPECT_NEAR(result["simulated"][0]["ms"].get<double>(), counted, 1e-12);
    double nodes = 0;
    for (const json& row : result["profile"]["nodes"]) {
        EXPECT_EQ(row["simulated"], row["device"] == kAccelerator) << row;
        if (row["simulated"]) nodes += row["median_ms"].get<double>();
    }
    // Each node's time is in whole nanoseconds.
    EXPECT_NEAR(nodes, counted, 1e-6 * result["profile"]["nodes"].size());
}

}  // namespace
}  // namespace tengine::program
