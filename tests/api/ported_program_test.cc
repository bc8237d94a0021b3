// SPDX-License-Identifier: Apache-2.0
// Calls the programs of ported_program.c.
#include "ported_program.h"

#include <cstdlib>
#include <cstring>
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

bool has_tmfiles()
{
    bool found = false;
    EXPECT_EQ(init_tengine(), 0);
    for (int i = 0; i < tengine_format_get_number(); ++i)
        found = found || std::strcmp(tengine_format_get_name(i), "tengine") == 0;
    release_tengine();
    return found;
}

#define EXPECT_RUNS(program)                                                                 \
    do {                                                                                     \
        const char* failed = program;                                                        \
        EXPECT_EQ(failed, nullptr) << (failed ? failed : "") << ": " << get_tengine_error(); \
    } while (false)

// The result is that of the same network's ONNX file, which models_test holds against others.
TEST(PortedProgram, FileAndMemoryModels)
{
    if (!has_tmfiles()) GTEST_SKIP() << "this build has no format 'tengine'";
    std::ifstream file(kMnist, std::ios::binary);
    if (!file) GTEST_SKIP() << "files of ../shared/data/tmfile are missing";
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    float value = 0, memory_value = 1;
    int index = -1, memory_index = -2;
    EXPECT_RUNS(run_file_program(kMnist.c_str(), &value, &index));
    // From malloc, as the original wanted it; who frees it the docs of create_graph say.
    void* block = std::malloc(bytes.size());
    std::memcpy(block, bytes.data(), bytes.size());
    EXPECT_RUNS(
        run_memory_program(block, static_cast<int>(bytes.size()), &memory_value, &memory_index));
    EXPECT_EQ(value, memory_value);
    EXPECT_EQ(index, memory_index);
    EXPECT_GE(index, 0);
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
