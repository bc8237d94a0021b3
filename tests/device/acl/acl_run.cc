// SPDX-License-Identifier: Apache-2.0
#include "device/acl/acl_run.h"

#include <cstring>
#include <gtest/gtest.h>
#include <random>

#include "base/half.h"
#include "graph/graph.h"
#include "graph/option.h"
#include "module/module.h"
#include "scheduler/scheduler.h"
#include "tengine/device.h"

namespace tengine::acl {

AclRun::AclRun(const RunSettings& settings, const Build& build)
    : settings_(settings), context_(create_ir_context("test"), destroy_ir_context)
{
    EXPECT_EQ(init_modules(), TENGINE_OK) << tengine_error_message();
    for (const std::string& name : settings.devices) {
        device* device = find_device_via_name(name.c_str());
        EXPECT_NE(device, nullptr) << name;
        const acl_option* option = name == "ACL" ? settings.option : nullptr;
        EXPECT_EQ(add_ir_context_device(context_.get(), device, option,
                                        option ? settings.option_size : 0),
                  TENGINE_OK);
    }
    // The device keeps the nodes that it takes, however small.
    EXPECT_EQ(set_ir_context_option(context_.get(), "split.prune", "0"), TENGINE_OK);
    EXPECT_EQ(set_ir_context_option(context_.get(), "split.report", "none"), TENGINE_OK);
    for (const auto& [key, value] : settings.options)
        EXPECT_EQ(set_ir_context_device_option(
                      context_.get(), find_device_via_name(settings.devices.front().c_str()),
                      key.c_str(), value.c_str()),
                  TENGINE_OK);
    builder_ = std::make_unique<test::IrBuilder>(context_.get());
    build(*builder_);
}

AclRun::~AclRun()
{
    postrun_ir_graph(source());
}

int AclRun::prerun()
{
    ir_run_options_t options = {};
    options.num_thread = settings_.threads;
    options.precision = settings_.precision;
    return prerun_ir_graph(source(), &options);
}

void AclRun::feed(const std::string& name, const void* data, size_t size)
{
    std::vector<uint8_t>& kept = fed_[name];
    kept.resize(size);
    if (size > 0) std::memcpy(kept.data(), data, size);
    tensor* target = builder_->find(name);
    ASSERT_EQ(size, get_ir_tensor_bytes(target)) << name;
    set_ir_tensor_data(target, kept.data(), false);
}

void AclRun::feed_all(unsigned seed, float low, float high)
{
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> values(low, high);
    for (int i = 0; i < source()->input_tensor_num; ++i) {
        const tensor* input = get_ir_graph_tensor(source(), source()->input_tensors[i]);
        if (fed_.count(input->name) != 0) continue;
        const auto number = static_cast<size_t>(input->elem_num);
        std::vector<float> data(number);
        for (float& value : data)
            value = values(random);
        if (input->data_type == TENGINE_DT_FP16) {
            std::vector<uint16_t> halves(number);
            for (size_t k = 0; k < number; ++k)
                halves[k] = fp32_to_fp16(data[k]);
            feed(input->name, halves.data(), number * sizeof(uint16_t));
        } else if (get_data_type_size(input->data_type) == 1) {
            std::vector<uint8_t> bytes(number);
            for (uint8_t& byte : bytes)
                byte = static_cast<uint8_t>(random());
            feed(input->name, bytes.data(), number);
        } else {
            ASSERT_EQ(input->data_type, TENGINE_DT_FP32) << input->name;
            feed(input->name, data.data(), number * sizeof(float));
        }
    }
}

int AclRun::run()
{
    return run_ir_graph(source(), 1);
}

std::vector<float> read_floats(const tensor& tensor)
{
    std::vector<float> values(static_cast<size_t>(tensor.elem_num));
    for (size_t i = 0; i < values.size(); ++i) {
        switch (tensor.data_type) {
            case TENGINE_DT_FP32:
                values[i] = tensor.f32[i];
                break;
            case TENGINE_DT_FP16:
                values[i] = fp16_to_fp32(tensor.f16[i]);
                break;
            case TENGINE_DT_INT8:
                values[i] = tensor.i8[i];
                break;
            case TENGINE_DT_UINT8:
                values[i] = tensor.u8[i];
                break;
            case TENGINE_DT_INT16:
                values[i] = static_cast<const int16_t*>(tensor.data)[i];
                break;
            default:
                ADD_FAILURE() << "type " << int{tensor.data_type};
        }
    }
    return values;
}

std::vector<float> AclRun::output(const std::string& name)
{
    const tensor* found = builder_->find(name);
    if (!found || !found->data) {
        ADD_FAILURE() << name << " has no data";
        return {};
    }
    return read_floats(*found);
}

std::vector<float> AclRun::outputs()
{
    std::vector<float> all;
    for (int i = 0; i < source()->output_tensor_num; ++i) {
        const tensor* one = get_ir_graph_tensor(source(), source()->output_tensors[i]);
        const std::vector<float> values = output(one->name);
        all.insert(all.end(), values.begin(), values.end());
    }
    return all;
}

int64_t AclRun::redone()
{
    int64_t number = 0;
    for (int i = 0; i < get_vector_num(execution()->subgraph_list); ++i)
        number += get_ir_graph_subgraph(execution(), i)->core->redo_num;
    return number;
}

}  // namespace tengine::acl
