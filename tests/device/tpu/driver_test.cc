// SPDX-License-Identifier: Apache-2.0
// The driver's work around a program: options, layouts, counters.
#include "device/tpu/driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <numeric>

namespace tengine::tpu {
namespace {

using testing::HasSubstr;

TEST(TpuOptions, FaultsAreANameAndANumber)
{
    Options options;
    ASSERT_EQ(set_option("fault", "dma@12", &options), TENGINE_OK);
    EXPECT_EQ(options.faults.dma_error_at, 12);
    EXPECT_EQ(options.faults.hang_at, -1);
    ASSERT_EQ(set_option("fault", "bit_flip@0", &options), TENGINE_OK);
    EXPECT_EQ(options.faults.bit_flip, 0);
    EXPECT_EQ(options.faults.dma_error_at, -1) << "one fault at a time";
    ASSERT_EQ(set_option("fault", "none", &options), TENGINE_OK);
    EXPECT_EQ(options.faults.bit_flip, -1);
}

TEST(TpuOptions, WhatIsWrongIsSaidWithWhatWouldBeRight)
{
    Options options;
    for (const char* value :
         {"dma", "dma@", "dma@-1", "dma@1x", "fire@1", "@3", "dma@99999999999999999999"}) {
        EXPECT_EQ(set_option("fault", value, &options), TENGINE_EINVAL) << value;
        EXPECT_THAT(tengine_error_message(), HasSubstr("bad_opcode@N, dma@N, hang@N")) << value;
        EXPECT_THAT(tengine_error_message(), HasSubstr(value));
    }
    EXPECT_EQ(set_option("speed", "9", &options), TENGINE_ENOENT);
    EXPECT_THAT(tengine_error_message(),
                HasSubstr("'speed': expected config, save_program, fault"));
    EXPECT_LT(set_option("config", "tpu-v99", &options), 0);
    EXPECT_THAT(tengine_error_message(), HasSubstr("tpu-v99"));
    EXPECT_EQ(set_option("save_program", "/nowhere/at/all", &options), TENGINE_ENOENT);
}

TEST(TpuDriver, ChannelsGoLastAndComeBack)
{
    for (const int element : {1, 2}) {
        Binding binding;
        binding.channels_last = true;
        binding.dims = {2, 3, 1, 2};
        std::vector<uint8_t> tensor(static_cast<size_t>(12 * element));
        std::iota(tensor.begin(), tensor.end(), uint8_t{0});
        std::vector<uint8_t> host(tensor.size()), back(tensor.size());
        pack_tensor(binding, element, tensor.data(), host.data());
        unpack_tensor(binding, element, host.data(), back.data());
        EXPECT_EQ(back, tensor);
        const std::vector<uint8_t> of_bytes = {0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11};
        if (element == 1) {
            EXPECT_EQ(host, of_bytes);
        }
        binding.channels_last = false;
        pack_tensor(binding, element, tensor.data(), host.data());
        EXPECT_EQ(host, tensor);
    }
}

TEST(TpuDriver, CountersHaveSharesOfAllCycles)
{
    Config config;
    ASSERT_EQ(load_config("tpu-v1", &config), TENGINE_OK);
    Counters counted;
    counted.total = 1000;
    counted.active = 120;
    counted.weight_stall = 540;
    counted.weight_shift = 160;
    counted.non_matrix = 180;
    counted.instructions[static_cast<size_t>(Opcode::kCopy)] = 3;
    std::map<std::string, double> values;
    for (const ir_counter_t& counter : list_counters(counted, config, 65536 * 60)) {
        EXPECT_EQ(values.count(counter.name), 0u) << counter.name;
        values[counter.name] = counter.value;
    }
    EXPECT_EQ(values["array active share"], 12);
    EXPECT_EQ(values["array active share"] + values["weight stall share"] +
                  values["weight shift share"] + values["non-matrix share"],
              100);
    EXPECT_DOUBLE_EQ(values["time"], 1e-3 / 0.7);
    EXPECT_DOUBLE_EQ(values["array utilisation"], 6);
    EXPECT_NEAR(values["throughput"], 91.75 * 0.06, 0.01);
    EXPECT_EQ(values["instructions copy"], 3);
}

}  // namespace
}  // namespace tengine::tpu
