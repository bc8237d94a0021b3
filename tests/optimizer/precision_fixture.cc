// SPDX-License-Identifier: Apache-2.0
#include "optimizer/precision_fixture.h"

#include <cmath>

#include "graph/graph.h"
#include "graph/option.h"
#include "module/module.h"

namespace tengine::test {
namespace {

float read_element(const tensor& tensor, int64_t i)
{
    switch (tensor.data_type) {
        case TENGINE_DT_INT8:
            return tensor.i8[i];
        case TENGINE_DT_UINT8:
            return tensor.u8[i];
        case TENGINE_DT_INT64:
            return static_cast<float>(tensor.i64[i]);
        default:
            EXPECT_EQ(tensor.data_type, TENGINE_DT_FP32);
            return tensor.f32[i];
    }
}

}  // namespace

PrecisionGraph::PrecisionGraph(std::initializer_list<device*> devices)
    : context_(create_ir_context("test"), destroy_ir_context)
{
    builder_ = std::make_unique<IrBuilder>(context_.get());
    for (device* device : devices)
        EXPECT_EQ(add_ir_context_device(context_.get(), device, nullptr, 0), TENGINE_OK);
    option("split.report", "none");
    option("split.prune", "0");
}

void PrecisionGraph::option(const char* key, const std::string& value)
{
    EXPECT_EQ(set_ir_context_option(context_.get(), key, value.c_str()), TENGINE_OK)
        << tengine_error_message();
}

std::string PrecisionGraph::input(const std::string& name, std::vector<int> dims, Floats values)
{
    tensor* made = builder_->input(name, std::move(dims));
    EXPECT_EQ(made->elem_num, static_cast<int64_t>(values.size())) << name;
    fed_[name] = std::move(values);
    set_ir_tensor_data(made, fed_[name].data(), false);
    return name;
}

std::string PrecisionGraph::add_zero_point(const std::string& name, int zero_point, int data_type)
{
    const std::vector<uint8_t> byte = {static_cast<uint8_t>(zero_point)};
    builder_->constant(name, {}, byte, data_type);
    return name;
}

std::string PrecisionGraph::dequantize(const std::string& value, const std::string& scale,
                                       const std::string& zero_point, int axis)
{
    node* made = builder_->add("DequantizeLinear", {value, scale, zero_point}, {value + "_dq"});
    EXPECT_EQ(set_node_int(made, "axis", axis), TENGINE_OK);
    return value + "_dq";
}

std::string PrecisionGraph::quantize(const std::string& value, const std::string& result,
                                     float scale, int zero_point, int data_type)
{
    builder_->floats(result + "_scale", {}, {scale});
    add_zero_point(result + "_zero", zero_point, data_type);
    builder_->add("QuantizeLinear", {value, result + "_scale", result + "_zero"}, {result});
    return result;
}

std::string PrecisionGraph::pair(const std::string& value, float scale, int zero_point,
                                 int data_type)
{
    const std::string result = quantize(value, value + "_q", scale, zero_point, data_type);
    builder_->add("DequantizeLinear", {result, result + "_scale", result + "_zero"},
                  {value + "_dq"});
    return value + "_dq";
}

std::string PrecisionGraph::bytes(const std::string& name, std::vector<int> dims,
                                  const std::vector<int>& values, const Floats& scales, int axis,
                                  int data_type)
{
    const std::vector<uint8_t> data(values.begin(), values.end());
    builder_->constant(name, std::move(dims), data, data_type);
    const int number = static_cast<int>(scales.size());
    builder_->floats(name + "_scale", number > 1 ? std::vector<int>{number} : std::vector<int>{},
                     scales);
    return dequantize(name, name + "_scale", "", axis);
}

std::string PrecisionGraph::words(const std::string& name, const std::vector<int32_t>& values,
                                  const Floats& scales)
{
    builder_->constant(name, {static_cast<int>(values.size())}, values, TENGINE_DT_INT32);
    const int number = static_cast<int>(scales.size());
    builder_->floats(name + "_scale", number > 1 ? std::vector<int>{number} : std::vector<int>{},
                     scales);
    return dequantize(name, name + "_scale", "", 0);
}

void PrecisionGraph::calibrate(const std::string& value, float scale, int zero_point)
{
    EXPECT_EQ(set_ir_tensor_quantization_parameter(builder_->find(value), &scale, &zero_point, 1),
              TENGINE_OK);
}

int PrecisionGraph::prepare(int precision)
{
    ir_run_options_t options = {};
    options.num_thread = 1;
    options.precision = precision;
    return prerun_ir_graph(builder_->get(), &options);
}

Floats PrecisionGraph::run(int precision, const std::string& output)
{
    EXPECT_EQ(prepare(precision), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(run_ir_graph(builder_->get(), 1), TENGINE_OK) << tengine_error_message();
    const tensor* result = builder_->find(output);
    Floats values;
    for (int64_t i = 0; result->data && i < result->elem_num; ++i)
        values.push_back(read_element(*result, i));
    EXPECT_FALSE(values.empty()) << output;
    return values;
}

std::string PrecisionGraph::operators()
{
    std::string names;
    for (int i = 0; i < execution()->node_num; ++i)
        names += std::string(i > 0 ? " " : "") + get_ir_node_op(execution()->node_list[i]);
    return names;
}

Floats ramp(int number, float first, float step)
{
    Floats values;
    for (int i = 0; i < number; ++i)
        values.push_back(first + step * static_cast<float>(i));
    return values;
}

std::string add_all_bytes(PrecisionGraph& graph, const std::string& name, float scale, int zero)
{
    graph.input(name, {1, 1, 16, 16}, ramp(256, static_cast<float>(-128 - zero) * scale, scale));
    return graph.pair(name, scale, zero);
}

testing::AssertionResult says(const std::string& part)
{
    const std::string sentence = tengine_error_message();
    if (sentence.find(part) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "'" << part << "' is not in '" << sentence << "'";
}

double steps_between(const Floats& a, const Floats& b, double scale)
{
    EXPECT_EQ(a.size(), b.size());
    double most = 0;
    for (size_t i = 0; i < a.size() && i < b.size(); ++i)
        most = std::max(most, std::fabs(double{a[i]} - b[i]) / scale);
    return most;
}

}  // namespace tengine::test
