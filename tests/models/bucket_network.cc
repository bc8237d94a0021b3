// SPDX-License-Identifier: Apache-2.0
// The contract is in bucket_network.h.
#include "models/bucket_network.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

#include "tengine/bucket.h"
#include "tengine/graph.h"
#include "tengine/inspect.h"
#include "tensor_file/failure.h"
#include "tensor_file/tensor.h"

namespace tengine::models {
namespace {

using tools::Tensor;

void check(bool is_good)
{
    if (!is_good) throw tools::Failure(get_tengine_error());
}

Tensor describe(tensor_t tensor)
{
    int dims[MAX_SHAPE_DIM_NUM];
    const int rank = get_tensor_shape(tensor, dims, MAX_SHAPE_DIM_NUM);
    check(rank >= 0);
    return tools::make_tensor(get_tensor_data_type(tensor), {dims, dims + rank});
}

class Network
{
  public:
    Network(const char* format, const std::string& path)
        : graph_(create_graph(nullptr, format, path.c_str()))
    {
        check(graph_ != nullptr);
    }
    ~Network() { destroy_graph(graph_); }
    Network(const Network&) = delete;
    Network& operator=(const Network&) = delete;

    void add_bucket(const BucketRow& row)
    {
        std::string text;
        for (const BucketShape& shape : row.shapes)
            text += (text.empty() ? "" : ",") + std::string(shape.input) + "=" +
                    tools::shape_text(shape.bucket);
        check(tengine_graph_add_bucket(graph_, text.c_str()) == 0);
    }

    void prepare(const BucketRow& row)
    {
        for (const BucketShape& shape : row.shapes)
            check(set_tensor_shape(get_graph_tensor(graph_, shape.input), shape.request.data(),
                                   static_cast<int>(shape.request.size())) == 0);
        check(prerun_graph(graph_) == 0);
    }

    std::string explain()
    {
        int bucket;
        const char* reason = tengine_graph_explain_bucket(graph_, &bucket);
        check(reason != nullptr);
        return reason;
    }

    std::vector<Tensor> run(unsigned seed)
    {
        std::mt19937_64 random(seed);
        for (int i = 0; i < tengine_graph_get_input_number(graph_); ++i) {
            const tensor_t input = tengine_graph_get_input(graph_, i);
            Tensor values = describe(input);
            tools::fill_random(&random, &values);
            check(tengine_tensor_set_data(input, values.bytes.data(), values.bytes.size()) == 0);
        }
        check(run_graph(graph_, 1) == 0);
        std::vector<Tensor> results;
        for (int i = 0; i < tengine_graph_get_output_number(graph_); ++i) {
            const tensor_t output = tengine_graph_get_output(graph_, i);
            results.push_back(describe(output));
            Tensor& result = results.back();
            check(result.bytes.empty() ||
                  get_tensor_data(output, result.bytes.data(),
                                  static_cast<int>(result.bytes.size())) == 0);
        }
        return results;
    }

  private:
    graph_t graph_;
};

// The share of the largest value.
double find_difference(const Tensor& given, const Tensor& expected)
{
    double most = 0, largest = 1e-30;
    for (size_t i = 0; i < expected.element_number(); ++i) {
        const double one = tools::get_element(given, i), other = tools::get_element(expected, i);
        const double difference = std::fabs(one - other);
        most = std::max(most, std::isnan(difference) ? HUGE_VAL : difference);
        largest = std::max(largest, std::fabs(other));
    }
    return most / largest;
}

void compare(const std::vector<Tensor>& given, const std::vector<Tensor>& expected)
{
    ASSERT_EQ(given.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(given[i].shape, expected[i].shape);
        if (given[i].bytes == expected[i].bytes) continue;
        ASSERT_TRUE(tools::is_floating(expected[i].data_type)) << "other integers";
        EXPECT_LE(find_difference(given[i], expected[i]), 1e-4);
    }
}

}  // namespace

void expect_bucket(const char* format, const std::string& path, const BucketRow& row)
{
    try {
        Network network(format, path), plain(format, path);
        network.add_bucket(row);
        network.prepare(row);
        plain.prepare(row);
        const std::string reason = network.explain();
        if (!*row.reason)
            EXPECT_THAT(reason, testing::HasSubstr("is padded to"));
        else
            EXPECT_THAT(reason, testing::HasSubstr("no bucket: " + std::string(row.reason)));
        for (unsigned seed = 0; seed < 3; ++seed)
            compare(network.run(seed), plain.run(seed));
    } catch (const tools::Failure& failure) {
        ADD_FAILURE() << failure.what();
    }
}

}  // namespace tengine::models
