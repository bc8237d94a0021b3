// SPDX-License-Identifier: Apache-2.0
// Cases of padding_test.cc and padding_edge_test.cc: models whose larger and smaller graphs are
// compared, and run. The oracle is a run of the larger graph whose padding is NaN, and one whose
// padding is large: the first elements of their results have the bits of the request's own run.
#pragma once

#include <cctype>
#include <cmath>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "graph/core.h"
#include "operator/param.h"
#include "optimizer/optimizer.h"
#include "scheduler/scheduler.h"
#include "support/corner.h"
#include "support/ir_builder.h"

namespace tengine::test::padding {

using Dims = std::vector<int>;
using Values = std::vector<float>;

constexpr ir_run_options_t kOneThread = {1, 0, 0, 0, 0, 0, 0};

struct Input
{
    std::string name;
    Dims bucket, request;
};

// Nodes from the inputs to "y". `reason`: a part of it, "" where padding is exact.
struct Case
{
    std::string name;
    std::vector<Input> inputs;
    std::function<void(IrBuilder&)> add;
    std::string reason;
    // Where padding is not exact: the results differ, so that a rule that said yes would be found.
    bool is_seen = true;
    // Where sums are those of other kernels for other shapes, on some processors.
    float tolerance = 0;
};

inline Dims dims_of(const tensor& value)
{
    return {value.dims, value.dims + value.dim_num};
}

class Graphs
{
  public:
    explicit Graphs(const Case& model) : model_(model)
    {
        build(bucket_, true);
        build(request_, false);
    }
    ~Graphs()
    {
        postrun_ir_graph(bucket_.get());
        postrun_ir_graph(request_.get());
    }

    std::string judge()
    {
        char reason[512];
        EXPECT_EQ(judge_ir_padding(bucket_.get()->core->execution, request_.get()->core->execution,
                                   reason, sizeof reason),
                  TENGINE_OK);
        return reason;
    }

    // Whether the results of both agree, with padding that is NaN, and with large numbers.
    bool agree() { return agree_with(std::numeric_limits<float>::quiet_NaN()) && agree_with(1000); }

  private:
    bool agree_with(float padding)
    {
        feed(padding);
        EXPECT_EQ(run_ir_graph(request_.get(), 1), TENGINE_OK) << tengine_error_message();
        if (run_ir_graph(bucket_.get(), 1) != TENGINE_OK) return false;
        bool is_same = true;
        for (int i = 0; i < request_.get()->output_tensor_num; ++i)
            is_same = is_same && is_corner(*output(bucket_, i), *output(request_, i));
        return is_same;
    }

    void build(IrBuilder& builder, bool is_bucket)
    {
        for (const Input& input : model_.inputs)
            builder.input(input.name, is_bucket ? input.bucket : input.request);
        model_.add(builder);
        if (!builder.find("z"))
            builder.outputs({"y"});
        else
            builder.outputs({"y", "z"});
        ASSERT_EQ(prerun_ir_graph(builder.get(), &kOneThread), TENGINE_OK)
            << tengine_error_message();
    }

    void feed(float padding)
    {
        std::mt19937 random(5);
        std::uniform_real_distribution<float> any(-2, 2);
        for (const Input& input : model_.inputs) {
            Values values(count_elements(input.request));
            Values padded(count_elements(input.bucket), padding);
            for (float& value : values)
                value = any(random);
            for_corner(input.bucket, input.request,
                       [&](size_t to, size_t from) { padded[to] = values[from]; });
            set(bucket_, input.name, padded);
            set(request_, input.name, values);
        }
    }

    static void set(IrBuilder& builder, const std::string& name, const Values& values)
    {
        tensor* input = builder.find(name);
        ASSERT_EQ(allocate_ir_tensor(input), TENGINE_OK);
        std::memcpy(input->data, values.data(), values.size() * sizeof(float));
    }

    static const tensor* output(IrBuilder& builder, int index)
    {
        return builder.get()->tensor_list[builder.get()->output_tensors[index]];
    }

    bool is_corner(const tensor& whole, const tensor& part) const
    {
        bool is_same = true;
        const size_t size = whole.elem_size;
        for_corner(dims_of(whole), dims_of(part), [&](size_t one, size_t other) {
            const bool has_same_bits =
                std::memcmp(whole.i8 + one * size, part.i8 + other * size, size) == 0;
            const bool is_near = model_.tolerance > 0 &&
                                 std::fabs(whole.f32[one] - part.f32[other]) <= model_.tolerance;
            is_same = is_same && (has_same_bits || is_near);
        });
        return is_same;
    }

    const Case& model_;
    IrBuilder bucket_, request_;
};

inline void set_ints(node* node, const char* name, const std::vector<int64_t>& values)
{
    ASSERT_EQ(set_node_ints(node, name, values.data(), static_cast<int>(values.size())), 0);
}

inline void set_int(node* node, const char* name, int64_t value)
{
    ASSERT_EQ(set_node_int(node, name, value), 0);
}

inline void add_weights(IrBuilder& s, const std::string& name, Dims dims)
{
    std::mt19937 random(static_cast<unsigned>(count_elements(dims)));
    std::uniform_real_distribution<float> any(-1, 1);
    Values values(count_elements(dims));
    for (float& value : values)
        value = any(random);
    s.floats(name, std::move(dims), values);
}

// The rule is right if the runs show what it says.
inline void expect_rule(const Case& model)
{
    Graphs graphs(model);
    const std::string reason = graphs.judge();
    EXPECT_EQ(reason.empty(), model.reason.empty()) << reason;
    EXPECT_NE(reason.find(model.reason), std::string::npos) << reason;
    const bool agrees = graphs.agree();
    if (!reason.empty() && !model.is_seen) return;
    EXPECT_EQ(agrees, reason.empty()) << "by the results of a run, the other is true";
}

inline std::string name_case(const testing::TestParamInfo<Case>& parameter)
{
    std::string name;
    for (const char c : parameter.param.name)
        name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    return name;
}

}  // namespace tengine::test::padding
