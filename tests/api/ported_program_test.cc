// SPDX-License-Identifier: Apache-2.0
// Calls the programs of ported_program.c.
#include "ported_program.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <vector>

#include "tengine/VULKAN_device.h"
#include "tengine/acl_device.h"
#include "tengine/inspect.h"
#include "tengine/ocl_device.h"
#include "tengine/trt_device.h"

namespace tengine {
namespace {

const std::string kMnist = std::string(TENGINE_SHARED_DATA_DIR) + "/tmfile/mnist.tmfile";

bool has_format(const char* name)
{
    bool found = false;
    EXPECT_EQ(init_tengine(), 0);
    for (int i = 0; i < tengine_format_get_number(); ++i)
        found = found || std::strcmp(tengine_format_get_name(i), name) == 0;
    release_tengine();
    return found;
}

#define EXPECT_RUNS(program)                                                                 \
    do {                                                                                     \
        const char* failed = program;                                                        \
        EXPECT_EQ(failed, nullptr) << (failed ? failed : "") << ": " << get_tengine_error(); \
    } while (false)

// Saves the shipped network as a tmfile for images of the programs' size.
std::string save_digits()
{
    const std::string path =
        testing::TempDir() + "ported_program_" + std::to_string(getpid()) + ".tmfile";
    const int dims[] = {1, 1, 28, 28};
    EXPECT_EQ(init_tengine(), 0);
    const graph_t graph = create_graph(nullptr, "onnx", TENGINE_EXAMPLES_DATA_DIR "/digits.onnx");
    EXPECT_EQ(set_tensor_shape(get_graph_input_tensor(graph, 0, 0), dims, 4), 0);
    EXPECT_EQ(save_graph(graph, "tengine", path.c_str()), 0) << get_tengine_error();
    EXPECT_EQ(destroy_graph(graph), 0);
    release_tengine();
    return path;
}

void expect_same_from_file_and_memory(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    float value = 0, memory_value = 1;
    int index = -1, memory_index = -2;
    EXPECT_RUNS(run_file_program(path.c_str(), &value, &index));
    // From malloc, as the original required; the docs of create_graph say who frees it.
    void* block = std::malloc(bytes.size());
    std::memcpy(block, bytes.data(), bytes.size());
    EXPECT_RUNS(
        run_memory_program(block, static_cast<int>(bytes.size()), &memory_value, &memory_index));
    EXPECT_EQ(value, memory_value);
    EXPECT_EQ(index, memory_index);
    EXPECT_GE(index, 0);
}

TEST(PortedProgram, FileAndMemoryModels)
{
    if (!has_format("tengine") || !has_format("onnx"))
        GTEST_SKIP() << "a serializer is not compiled in";
    const std::string path = save_digits();
    expect_same_from_file_and_memory(path);
    std::filesystem::remove(path);
}

// The result equals that of the same network's ONNX file, which models_test compares with others.
TEST(PortedProgram, FileAndMemoryModelsOfTengineLite)
{
    if (!has_format("tengine")) GTEST_SKIP() << "a serializer is not compiled in";
    if (!std::filesystem::exists(kMnist))
        GTEST_SKIP() << "files of ../shared/data/tmfile are missing";
    expect_same_from_file_and_memory(kMnist);
}

TEST(PortedProgram, HandBuiltNetwork)
{
    EXPECT_RUNS(run_hand_built_program());
    EXPECT_RUNS(run_hand_built_program());
}

TEST(PortedProgram, QuantisedNetwork)
{
    EXPECT_RUNS(run_quantised_program());
}

TEST(PortedProgram, AbsentAccelerators)
{
    EXPECT_RUNS(run_accelerator_program());
}

TEST(PortedProgram, DumpThroughALogHook)
{
    int lines = 0, length = 0;
    EXPECT_RUNS(run_dump_program(&lines, &length));
    EXPECT_GT(lines, 8);  // one for each node and one for the graph
    EXPECT_GT(length, 20);
    EXPECT_LE(length, 256);
}

TEST(PortedProgram, GraphsCutShort)
{
    EXPECT_RUNS(run_cut_program());
}

// In C++ the options of OCL have defaults.
TEST(PortedProgram, OptionStructs)
{
    const ocl_option ocl;
    EXPECT_EQ(ocl.dev_name, nullptr);
    EXPECT_EQ(ocl.cache_path, nullptr);
    EXPECT_FALSE(ocl.load_cache || ocl.store_cache);
    EXPECT_EQ(sizeof(trt_option), sizeof(trt_opt_t));
    EXPECT_EQ(sizeof(acl_option), sizeof(vulkan_option));
}

}  // namespace
}  // namespace tengine
