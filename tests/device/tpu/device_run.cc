// SPDX-License-Identifier: Apache-2.0
#include "device/tpu/device_run.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "graph/graph.h"
#include "graph/option.h"
#include "scheduler/scheduler.h"
#include "tengine/device.h"

namespace tengine::tpu {
namespace {

// The simulated time is unrelated to the host's: parts stay on the device.
const OptionValues kContextOptions = {{"split.prune", "0"}, {"split.report", "none"}};

void set_context_option(ir_context_t* context, const std::string& key, const std::string& value)
{
    EXPECT_EQ(set_ir_context_option(context, key.c_str(), value.c_str()), TENGINE_OK)
        << tengine_error_message();
}

}  // namespace

DeviceRun::DeviceRun(const std::string& device, const OptionValues& options, const Build& build,
                     int precision)
    : context_(create_ir_context("test"), destroy_ir_context), precision_(precision)
{
    builder_ = std::make_unique<test::IrBuilder>(context_.get());
    struct device* tpu = find_device_via_name("TPU");
    const bool has_tpu = device == "TPU";
    EXPECT_NE(tpu, nullptr);
    if (has_tpu) {
        EXPECT_EQ(add_ir_context_device(context_.get(), tpu, nullptr, 0), TENGINE_OK);
    }
    for (const auto& [key, value] : kContextOptions)
        set_context_option(context_.get(), key, value);
    for (const auto& [key, value] : options) {
        if (find_ir_option(key.c_str())) {
            set_context_option(context_.get(), key, value);
        } else if (has_tpu) {
            EXPECT_EQ(set_ir_context_device_option(context_.get(), tpu, key.c_str(), value.c_str()),
                      TENGINE_OK);
        }
    }
    build(*builder_);
}

DeviceRun::~DeviceRun()
{
    postrun_ir_graph(source());
}

int DeviceRun::prerun()
{
    ir_run_options_t options = {};
    options.num_thread = 1;
    options.precision = precision_;
    return prerun_ir_graph(source(), &options);
}

void DeviceRun::feed(const std::string& name, Bytes data)
{
    Bytes& kept = fed_[name];
    kept = std::move(data);
    tensor* target = builder_->find(name);
    ASSERT_EQ(kept.size(), get_ir_tensor_bytes(target)) << name;
    set_ir_tensor_data(target, kept.data(), false);
}

void DeviceRun::feed_all(unsigned seed)
{
    std::mt19937 random(seed);
    for (int i = 0; i < source()->input_tensor_num; ++i) {
        const tensor* input = get_ir_graph_tensor(source(), source()->input_tensors[i]);
        Bytes data(get_ir_tensor_bytes(input));
        if (input->data_type == TENGINE_DT_FP32) {
            std::uniform_real_distribution<float> values(-1, 1);
            for (size_t k = 0; k < data.size(); k += sizeof(float)) {
                const float value = values(random);
                std::memcpy(&data[k], &value, sizeof value);
            }
        } else {
            for (uint8_t& byte : data)
                byte = static_cast<uint8_t>(random());
        }
        feed(input->name, std::move(data));
    }
}

int DeviceRun::run()
{
    return run_ir_graph(source(), 1);
}

Bytes DeviceRun::outputs()
{
    Bytes bytes;
    for (int i = 0; i < source()->output_tensor_num; ++i) {
        const tensor* output = get_ir_graph_tensor(source(), source()->output_tensors[i]);
        if (!output->data) {
            ADD_FAILURE() << output->name << " has no data";
            continue;
        }
        bytes.insert(bytes.end(), output->u8, output->u8 + get_ir_tensor_bytes(output));
    }
    return bytes;
}

void expect_same_bits(const Build& build, const OptionValues& options, unsigned seed, int precision)
{
    DeviceRun on_tpu("TPU", options, build, precision);
    DeviceRun on_cpu("CPU", options, build, precision);
    for (DeviceRun* run : {&on_tpu, &on_cpu}) {
        ASSERT_EQ(run->prerun(), TENGINE_OK) << tengine_error_message();
        run->feed_all(seed);
        ASSERT_EQ(run->run(), TENGINE_OK) << tengine_error_message();
    }
    EXPECT_EQ(on_tpu.nodes_on("CPU"), 0) << on_tpu.refusals();
    EXPECT_EQ(get_ir_graph_subgraph(on_tpu.execution(), 0)->core->redo_num, 0);
    const Bytes ours = on_tpu.outputs(), wanted = on_cpu.outputs();
    ASSERT_EQ(ours.size(), wanted.size());
    const auto first = std::mismatch(ours.begin(), ours.end(), wanted.begin()).first;
    EXPECT_EQ(first, ours.end()) << "they differ from byte " << first - ours.begin() << " on";
}

}  // namespace tengine::tpu
