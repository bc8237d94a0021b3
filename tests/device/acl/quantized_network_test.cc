// SPDX-License-Identifier: Apache-2.0
// The shipped network in integers, with the shipped calibration table: on ACL and on the CPU, image
// by image.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tengine/c_api.h"
#include "tengine/inspect.h"

namespace tengine::acl {
namespace {

constexpr int kImageSize = 8, kImages = 382, kClasses = 10;
constexpr size_t kHeader = 128;  // of the .npy file, whose images are fp32

std::string data_file(const char* name)
{
    return std::string(TENGINE_EXAMPLES_DATA_DIR) + "/" + name;
}

std::vector<float> read_images()
{
    std::ifstream file(data_file("heldout_images.npy"), std::ios::binary);
    file.seekg(kHeader);
    std::vector<float> images(size_t{kImages} * kImageSize * kImageSize);
    file.read(reinterpret_cast<char*>(images.data()),
              static_cast<std::streamsize>(images.size() * sizeof(float)));
    EXPECT_TRUE(file.good());
    return images;
}

// The logits have a scale of 0.0371 (digits.table). One of them a step up and the others a step
// down are 0.0743 apart, and no probability of a softmax moves by more than a quarter of that.
constexpr double kProbabilityStep = 0.0743 / 4;

// The network, prepared on a list of devices in front of the CPU.
class Network
{
  public:
    Network(const char* device, int precision)
    {
        expect_done(init_tengine());
        context_ = create_context("test", 1);
        if (device) {
            expect_done(add_context_device(context_, device));
            expect_done(tengine_context_set_option(context_, "split.prune", "0"));
        }
        expect_done(tengine_context_set_option(context_, "precision.table",
                                               data_file("digits.table").c_str()));
        graph_ = create_graph(context_, "onnx", data_file("digits.onnx").c_str());
        if (!graph_) {
            ADD_FAILURE() << get_tengine_error();
            return;
        }
        const int dims[] = {kImages, 1, kImageSize, kImageSize};
        images_ = read_images();
        const tensor_t input = get_graph_input_tensor(graph_, 0, 0);
        expect_done(set_tensor_shape(input, dims, 4));
        expect_done(set_tensor_buffer(input, images_.data(),
                                      static_cast<int>(images_.size() * sizeof(float))));
        options options = {};
        options.num_thread = 1;
        options.precision = precision;
        expect_done(prerun_graph_multithread(graph_, options));
        expect_done(run_graph(graph_, 1));
    }
    ~Network()
    {
        postrun_graph(graph_);
        destroy_graph(graph_);
        destroy_context(context_);
        release_tengine();
    }
    Network(const Network&) = delete;
    Network& operator=(const Network&) = delete;

    // The first output of all images.
    std::vector<float> result() const
    {
        const tensor_t output = get_graph_output_tensor(graph_, 0, 0);
        const auto* values = static_cast<const float*>(get_tensor_buffer(output));
        return {values, values + get_tensor_buffer_size(output) / static_cast<int>(sizeof(float))};
    }

    std::vector<struct tengine_execution_node> nodes() const
    {
        std::vector<struct tengine_execution_node> nodes;
        for (int i = 0; i < tengine_graph_get_execution_node_number(graph_); ++i) {
            nodes.emplace_back();
            expect_done(tengine_graph_get_execution_node(graph_, i, &nodes.back()));
        }
        return nodes;
    }

  private:
    static void expect_done(int status) { EXPECT_EQ(status, 0) << get_tengine_error(); }

    context_t context_ = nullptr;
    graph_t graph_ = nullptr;
    std::vector<float> images_;
};

int find_best(const std::vector<float>& values, int image)
{
    const auto first = values.begin() + image * kClasses;
    return static_cast<int>(std::max_element(first, first + kClasses) - first);
}

class AclQuantizedNetwork : public testing::TestWithParam<int>
{
};

TEST_P(AclQuantizedNetwork, ReadsTheImagesAsTheCpuDoes)
{
    Network ours("ACL", GetParam()), reference(nullptr, GetParam());
    int integer_nodes = 0;
    for (const auto& node : ours.nodes()) {
        const std::string op = node.op;
        if (op.compare(0, 7, "QLinear") != 0 && op != "QGemm") continue;
        // ACL for 32 bits does not round sums of elements.
        const bool is_refused = sizeof(void*) == 4 && op == "QLinearAdd";
        EXPECT_STREQ(node.device, is_refused ? "CPU" : "ACL") << node.name;
        ++integer_nodes;
    }
    EXPECT_GE(integer_nodes, 6);
    const std::vector<float> got = ours.result(), wanted = reference.result();
    ASSERT_EQ(got.size(), size_t{kImages} * kClasses);
    ASSERT_EQ(wanted.size(), got.size());
    double largest = 0;
    for (size_t i = 0; i < got.size(); ++i)
        largest = std::max(largest, std::fabs(double{got[i]} - wanted[i]));
    EXPECT_LE(largest, kProbabilityStep);
    for (int i = 0; i < kImages; ++i)
        EXPECT_EQ(find_best(got, i), find_best(wanted, i)) << "image " << i;
}

INSTANTIATE_TEST_SUITE_P(Types, AclQuantizedNetwork,
                         testing::Values(TENGINE_MODE_INT8, TENGINE_MODE_UINT8));

}  // namespace
}  // namespace tengine::acl
