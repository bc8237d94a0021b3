// SPDX-License-Identifier: Apache-2.0
// Every .tflite of the shared data, against the outputs of Google's runtimes. tflite_exceptions.txt
// lists the files that are refused, that have no usable outputs, and those that differ more than
// the others of their kind. An exception that is not needed fails.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "models/model_run.h"
#include "tengine/c_api.h"
#include "tengine/inspect.h"
#include "tengine/metadata.h"
#include "tensor_file/npy.h"
#include "tensor_file/tensor.h"

namespace tengine::models {
namespace {

using tools::Tensor;

struct Exception
{
    std::string kind;  // refused, unfilled, near
    double limit = 0;  // near: most steps, or of the largest value
    std::string text;  // refused: part of the message
};

std::map<std::string, Exception> read_exceptions()
{
    std::map<std::string, Exception> exceptions;
    std::ifstream file(TENGINE_SOURCE_DIR "/tests/models/tflite_exceptions.txt");
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#') continue;
        std::istringstream words(line);
        Exception exception;
        std::string name;
        words >> name >> exception.kind;
        if (exception.kind == "near") words >> exception.limit;
        std::getline(words >> std::ws, exception.text);
        exceptions[name] = exception;
    }
    return exceptions;
}

std::string read_text(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

// The difference of two tensors: steps of integers, or the share of the largest value of floats
// beyond an absolute error of 1e-5.
struct Difference
{
    std::string form;  // types or shapes differ
    double most = 0;
    size_t differing = 0;
    double share = 0;  // of the elements that differ
    bool is_float = false;

    bool is_within(double steps, double relative) const
    {
        return form.empty() && most <= (is_float ? relative : steps);
    }
};

Difference compare(const Tensor& actual, const Tensor& expected)
{
    Difference difference;
    if (actual.data_type != expected.data_type || actual.shape != expected.shape) {
        difference.form = "type " + std::to_string(actual.data_type) + ", shape " +
                          tools::shape_text(actual.shape) + "; expected type " +
                          std::to_string(expected.data_type) + ", shape " +
                          tools::shape_text(expected.shape);
        return difference;
    }
    difference.is_float = tools::is_floating(expected.data_type);
    double largest = 0;
    size_t& differing = difference.differing;
    const size_t number = expected.element_number();
    for (size_t i = 0; i < number; ++i) {
        const double a = tools::get_element(actual, i), e = tools::get_element(expected, i);
        if (std::isfinite(e)) largest = std::max(largest, std::abs(e));
        if (a == e || (std::isnan(a) && std::isnan(e))) continue;
        ++differing;
        const double by = std::abs(a - e);
        difference.most = std::max(difference.most, std::isnan(by) ? HUGE_VAL : by);
    }
    if (number > 0) difference.share = static_cast<double>(differing) / static_cast<double>(number);
    if (difference.is_float)
        difference.most =
            difference.most <= 1e-5 ? 0 : (difference.most - 1e-5) / std::max(largest, 1e-30);
    return difference;
}

// Tensors without a name are named by their number.
std::string name_of(const nlohmann::json& entry)
{
    const std::string name = entry.at("name");
    return name.empty() ? "tensor_" + std::to_string(entry.at("tensor").get<int>()) : name;
}

std::string written_path(const char* format)
{
    return testing::TempDir() + "/written_" + std::to_string(getpid()) + "." + format;
}

// A graph of a .tflite, run with the inputs of its folder of expected values.
class TfliteRun
{
  public:
    explicit TfliteRun(const std::string& path, context_t context = nullptr,
                       const char* format = "tflite")
        : graph_(create_graph(context, format, path.c_str()))
    {
    }
    bool save(const char* format, const std::string& path)
    {
        return graph_ && save_graph(graph_, format, path.c_str()) == 0;
    }
    ~TfliteRun()
    {
        if (graph_) destroy_graph(graph_);
    }
    TfliteRun(const TfliteRun&) = delete;
    TfliteRun& operator=(const TfliteRun&) = delete;

    const char* find_property(const char* key) { return tengine_graph_find_property(graph_, key); }

    bool is_loaded() const { return graph_ != nullptr; }
    bool prepare() { return graph_ && prerun_graph(graph_) == 0; }

    bool feed(const nlohmann::json& entry, Tensor* tensor)
    {
        const std::string name = name_of(entry);
        tensor_t fed = get_graph_tensor(graph_, name.c_str());
        return fed &&
               set_tensor_shape(fed, tensor->shape.data(),
                                static_cast<int>(tensor->shape.size())) == 0 &&
               set_tensor_buffer(fed, tensor->bytes.data(),
                                 static_cast<int>(tensor->bytes.size())) == 0;
    }

    bool run() { return run_graph(graph_, 1) == 0; }

    bool read(const nlohmann::json& entry, Tensor* out_tensor)
    {
        const std::string name = name_of(entry);
        tensor_t result = get_graph_tensor(graph_, name.c_str());
        int dims[MAX_SHAPE_DIM_NUM];
        const int rank = get_tensor_shape(result, dims, MAX_SHAPE_DIM_NUM);
        if (rank < 0) return false;
        *out_tensor = tools::make_tensor(get_tensor_data_type(result), {dims, dims + rank});
        const int size = static_cast<int>(out_tensor->bytes.size());
        return size == 0 || get_tensor_data(result, out_tensor->bytes.data(), size) == 0;
    }

  private:
    graph_t graph_;
};

class TfliteDataTest : public testing::Test
{
  protected:
    static void SetUpTestSuite() { ASSERT_EQ(init_tengine(), 0); }
    static void TearDownTestSuite() { release_tengine(); }

    void run_folder(const std::string& folder);
    void run_file(const std::string& name, const std::string& path);
    // False after a failure of the library.
    bool run_steps(TfliteRun& run, const std::string& name);
    void check_written(TfliteRun& run, const std::string& name);
    bool run_step(TfliteRun& run, const nlohmann::json& entry, const std::string& folder,
                  const std::string& suffix);

    const std::map<std::string, Exception> exceptions = read_exceptions();
    std::vector<Difference> differences;  // of the outputs of a file
    std::vector<Tensor> results;
    int equal = 0, near = 0, refused = 0, unfilled = 0, loaded = 0;
};

bool TfliteDataTest::run_step(TfliteRun& run, const nlohmann::json& entry,
                              const std::string& folder, const std::string& suffix)
{
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < entry.at("inputs").size(); ++i)
        inputs.push_back(
            tools::decode_npy(read_text(folder + "/input" + std::to_string(i) + suffix + ".npy")));
    for (size_t i = 0; i < inputs.size(); ++i)
        if (!run.feed(entry.at("inputs")[i], &inputs[i])) return false;
    if (!run.prepare() || !run.run()) return false;
    for (size_t i = 0; i < entry.at("outputs").size(); ++i) {
        Tensor actual;
        if (!run.read(entry.at("outputs")[i], &actual)) return false;
        const std::string file = folder + "/output" + std::to_string(i) + suffix + ".npy";
        differences.push_back(compare(actual, tools::decode_npy(read_text(file))));
        results.push_back(actual);
    }
    return true;
}

bool TfliteDataTest::run_steps(TfliteRun& run, const std::string& name)
{
    differences.clear();
    results.clear();
    if (!run.is_loaded()) return false;
    const std::string folder = shared_data("tflite/expected/" + name);
    if (!exists(folder)) return run.prepare();
    const auto entry = nlohmann::json::parse(read_text(folder + "/expected.json"));
    for (int step = 0; step < entry.at("steps"); ++step)
        if (!run_step(run, entry, folder, step == 0 ? "" : ".step" + std::to_string(step)))
            return false;
    return true;
}

void TfliteDataTest::run_file(const std::string& name, const std::string& path)
{
    SCOPED_TRACE(name);
    const auto found = exceptions.find(name);
    const Exception exception = found == exceptions.end() ? Exception() : found->second;
    TfliteRun run(path);
    const bool has_run = run_steps(run, name);
    const std::string message = has_run ? "" : get_tengine_error();
    if (exception.kind == "refused") {
        SCOPED_TRACE(message);
        EXPECT_FALSE(has_run) << "it is not refused";
        EXPECT_THAT(message, testing::HasSubstr(exception.text));
        ++refused;
        return;
    }
    ASSERT_TRUE(has_run) << message;
    if (exception.kind == "unfilled") {
        ++unfilled;
        return;
    }
    if (differences.empty()) ++loaded;
    // One step in a hundred elements; floats as close as two orders of the same sum.
    double steps = 1, relative = 1e-4;
    bool is_close = true, is_equal = true;
    for (const Difference& each : differences) {
        is_close =
            is_close && each.is_within(steps, relative) && (each.is_float || each.share <= 0.01);
        is_equal = is_equal && each.form.empty() && (each.is_float || each.most == 0);
    }
    if (exception.kind == "near") {
        EXPECT_FALSE(is_close) << "it needs no exception";
        steps = relative = exception.limit;
    }
    for (const Difference& each : differences)
        EXPECT_TRUE(each.is_within(steps, relative) &&
                    (each.is_float || exception.kind == "near" || each.share <= 0.01))
            << each.form << " most " << each.most << ", share " << each.share;
    if (!differences.empty() && is_close) ++(is_equal ? equal : near);
    if (is_close && !is_equal) std::printf("%s: integers within a step\n", name.c_str());
    check_written(run, name);
}

// The files that the graph is written to compute the same integers, and floats up to the order of
// sums.
void TfliteDataTest::check_written(TfliteRun& run, const std::string& name)
{
    const std::vector<Tensor> expected = std::move(results);
    for (const char* format : {"tflite", "tengine", "onnx"}) {
        SCOPED_TRACE(format);
        const std::string path = written_path(format);
        if (!run.save(format, path)) {
            ADD_FAILURE() << get_tengine_error();
            continue;
        }
        TfliteRun written(path, nullptr, format);
        EXPECT_TRUE(run_steps(written, name)) << get_tengine_error();
        ASSERT_EQ(results.size(), expected.size());
        for (size_t i = 0; i < expected.size(); ++i) {
            const Difference by = compare(results[i], expected[i]);
            EXPECT_TRUE(by.is_within(0, 1e-4)) << "output " << i << ": " << by.form << " most "
                                               << by.most << " differing " << by.differing;
        }
        std::filesystem::remove(path);
    }
}

void TfliteDataTest::run_folder(const std::string& folder)
{
    const std::string path = shared_data("tflite/" + folder);
    if (!exists(path)) GTEST_SKIP() << absent(path + "/x");
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(path))
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const auto& file : files)
        run_file(file.stem().string(), file.string());
    std::printf(
        "%zu files of %s: %d have equal integers or floats within 1e-4, %d integers within a step, "
        "%d are refused, %d have outputs that the runtime left unfilled, %d no outputs\n",
        files.size(), folder.c_str(), equal, near, refused, unfilled, loaded);
}

TEST_F(TfliteDataTest, Models)
{
    run_folder("models");
}

// Integers of a network, and of those how many differ between LiteRT and tflite-micro as built from
// source, in the README of the data.
struct MicroFile
{
    const char* name;
    size_t differing;
};

TEST_F(TfliteDataTest, RoundsAsMicro)
{
    constexpr MicroFile kFiles[] = {
        {"models/mlperf_tiny_ad01_int8", 77}, {"models/mlperf_tiny_kws_int8", 2},
        {"models/mlperf_tiny_vww_int8", 0},   {"models/person_detect", 0},
        {"operators/own_mul_int8", 17},       {"operators/own_requantize_int8", 5},
        {"operators/own_add_int8", 0},        {"operators/own_transpose_conv_int8", 2},
    };
    for (const auto& [name, differing] : kFiles) {
        SCOPED_TRACE(name);
        const std::string path = shared_data("tflite/" + std::string(name) + ".tflite");
        if (!exists(path)) GTEST_SKIP() << absent(path);
        context_t context = create_context("micro", 1);
        ASSERT_EQ(tengine_context_set_option(context, "precision.rounding", "litert-micro"), 0);
        {
            TfliteRun run(path, context);
            ASSERT_TRUE(run_steps(run, std::strchr(name, '/') + 1)) << get_tengine_error();
        }
        destroy_context(context);
        ASSERT_EQ(differences.size(), 1u);
        EXPECT_LE(differences[0].most, 1);
        EXPECT_EQ(differences[0].differing, differing);
    }
}

// Integers in files of other formats are rounded as those of the .tflite, if no option asks for
// another rounding.
TEST_F(TfliteDataTest, OtherFormatsRoundAsTheFile)
{
    const std::string name = "face_detection_front_int8";
    const std::string path = shared_data("tflite/models/" + name + ".tflite");
    if (!exists(path)) GTEST_SKIP() << absent(path);
    for (const char* format : {"onnx", "tengine"}) {
        SCOPED_TRACE(format);
        const std::string written = written_path(format);
        ASSERT_TRUE(TfliteRun(path).save(format, written)) << get_tengine_error();
        for (const char* rounding : {"model", "nearest"}) {
            SCOPED_TRACE(rounding);
            context_t context = create_context("rounded", 1);
            ASSERT_EQ(tengine_context_set_option(context, "precision.rounding", rounding), 0);
            {
                TfliteRun run(written, context, format);
                EXPECT_STREQ(run.find_property("precision.rounding"), "litert");
                ASSERT_TRUE(run_steps(run, name)) << get_tengine_error();
            }
            destroy_context(context);
            size_t differing = 0;
            for (const Difference& each : differences)
                differing += each.differing;
            EXPECT_EQ(differing > 0, std::string(rounding) == "nearest") << differing;
        }
        std::filesystem::remove(written);
    }
}

TEST_F(TfliteDataTest, Operators)
{
    run_folder("operators");
    EXPECT_LE(near, 5) << "docs/tflite.md states the reasons of these";
}

}  // namespace
}  // namespace tengine::models
