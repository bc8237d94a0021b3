// SPDX-License-Identifier: Apache-2.0
#include "device/acl/quantized_case.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace tengine::acl {

using Kind = QuantizedInput::Kind;

QuantizedInput none()
{
    return {};
}
QuantizedInput fed_bytes(std::vector<int> dims, int data_type)
{
    return {Kind::kFed, std::move(dims), {}, {}, data_type};
}
QuantizedInput fed_floats(std::vector<int> dims)
{
    return {Kind::kFedFloats, std::move(dims)};
}
QuantizedInput constant_bytes(std::vector<int> dims, int data_type, int range)
{
    return {Kind::kBytes, std::move(dims), {}, {}, data_type, range};
}
QuantizedInput scales(std::vector<float> values)
{
    return {Kind::kScales, {}, std::move(values)};
}
QuantizedInput zero_points(std::vector<int> steps, int data_type)
{
    return {Kind::kZeroPoints, {}, {}, std::move(steps), data_type};
}
QuantizedInput sums(std::vector<int> dims)
{
    return {Kind::kSums, std::move(dims)};
}

namespace {

std::vector<int> list_dims(size_t number)
{
    return number == 1 ? std::vector<int>{} : std::vector<int>{static_cast<int>(number)};
}

// int8 bytes have the same bits as those of uint8 plus 128.
uint8_t to_byte(int steps, int data_type)
{
    return static_cast<uint8_t>(steps + (data_type == TENGINE_DT_INT8 ? -128 : 0));
}

std::vector<uint8_t> random_bytes(size_t number, unsigned seed, int data_type, int range)
{
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> values(128 - range / 2, 127 + range / 2);
    std::vector<uint8_t> bytes(number);
    for (uint8_t& byte : bytes)
        byte = to_byte(values(random), data_type);
    return bytes;
}

std::vector<int32_t> random_sums(size_t number, unsigned seed)
{
    std::mt19937 random(seed);
    std::uniform_int_distribution<int32_t> values(-5000, 5000);
    std::vector<int32_t> made(number);
    for (int32_t& value : made)
        value = values(random);
    return made;
}

void add_input(test::IrBuilder& builder, const std::string& name, const QuantizedInput& input,
               int case_type, unsigned seed)
{
    const int data_type = input.data_type < 0 ? case_type : input.data_type;
    std::vector<uint8_t> bytes;
    switch (input.kind) {
        case Kind::kAbsent:
            break;
        case Kind::kFed:
            builder.input(name, input.dims, data_type);
            break;
        case Kind::kFedFloats:
            builder.input(name, input.dims, TENGINE_DT_FP32);
            break;
        case Kind::kBytes:
            builder.constant(name, input.dims,
                             random_bytes(count(input.dims), seed, data_type, input.range),
                             data_type);
            break;
        case Kind::kScales:
            builder.floats(name, list_dims(input.scales.size()), input.scales);
            break;
        case Kind::kZeroPoints:
            for (const int steps : input.zero_points)
                bytes.push_back(to_byte(steps, data_type));
            builder.constant(name, list_dims(bytes.size()), bytes, data_type);
            break;
        case Kind::kSums:
            builder.constant(name, input.dims, random_sums(count(input.dims), seed),
                             TENGINE_DT_INT32);
            break;
    }
}

void build_node(test::IrBuilder& builder, const QuantizedCase& of, int data_type)
{
    std::vector<std::string> inputs;
    for (size_t i = 0; i < of.inputs.size(); ++i) {
        const bool is_absent = of.inputs[i].kind == Kind::kAbsent;
        inputs.push_back(is_absent ? "" : "i" + std::to_string(i));
        add_input(builder, inputs.back(), of.inputs[i], data_type, static_cast<unsigned>(i));
    }
    node* made = builder.add(of.op, inputs, {"y"});
    set_attributes(made, of.lists, of.integers, of.floats);
    builder.outputs({"y"});
}

void feed(AclRun& run, const QuantizedCase& of, int data_type)
{
    for (size_t i = 0; i < of.inputs.size(); ++i) {
        const QuantizedInput& input = of.inputs[i];
        if (input.kind != Kind::kFed) continue;
        const int type = input.data_type < 0 ? data_type : input.data_type;
        const std::vector<uint8_t> bytes =
            random_bytes(count(input.dims), 100 + static_cast<unsigned>(i), type, 256);
        run.feed("i" + std::to_string(i), bytes.data(), bytes.size());
    }
    run.feed_all(77, -3, 3);
}

}  // namespace

std::string QuantizedCase::name() const
{
    std::string text = op;
    for (const QuantizedInput& input : inputs) {
        switch (input.kind) {
            case Kind::kAbsent:
                text += " -";
                break;
            case Kind::kScales:
                text += " *" + join(input.scales, ',');
                break;
            case Kind::kZeroPoints:
                text += " +" + join(input.zero_points, ',');
                break;
            case Kind::kFed:
            case Kind::kFedFloats:
                text += " " + join(input.dims, 'x');
                break;
            case Kind::kBytes:
            case Kind::kSums:
                text += " #" + join(input.dims, 'x');
                break;
        }
    }
    return text + describe_attributes(lists, integers, floats);
}

Steps compare(const QuantizedCase& quantized_case, int data_type, int threads)
{
    const Build build = [&](test::IrBuilder& builder) {
        build_node(builder, quantized_case, data_type);
    };
    RunSettings on_acl;
    on_acl.threads = threads;
    AclRun ours(on_acl, build), reference({{}}, build);
    for (AclRun* run : {&ours, &reference}) {
        if (run->prerun() != TENGINE_OK) {
            ADD_FAILURE() << tengine_error_message();
            return {};
        }
        feed(*run, quantized_case, data_type);
        EXPECT_EQ(run->run(), TENGINE_OK) << tengine_error_message();
    }
    Steps steps;
    steps.on_acl = ours.nodes_on("CPU") == 0;
    steps.refusals = ours.refusals();
    EXPECT_EQ(ours.redone(), 0);
    const std::vector<float> got = ours.outputs(), wanted = reference.outputs();
    EXPECT_EQ(got.size(), wanted.size());
    steps.number = std::min(got.size(), wanted.size());
    for (size_t i = 0; i < steps.number; ++i) {
        const double difference = std::fabs(double{got[i]} - wanted[i]);
        steps.differing += difference != 0;
        steps.largest = std::max(steps.largest, difference);
    }
    return steps;
}

std::vector<QuantizedCase> list_quantized_cases()
{
    std::vector<QuantizedCase> cases;
    add_quantized_conv_cases(cases);
    add_quantized_gemm_cases(cases);
    add_quantized_elementwise_cases(cases);
    add_quantized_pool_cases(cases);
    return cases;
}

}  // namespace tengine::acl
