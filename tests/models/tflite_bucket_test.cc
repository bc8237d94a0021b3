// SPDX-License-Identifier: Apache-2.0
// Buckets of .tflite files: each axis of each input of each operator's file becomes shorter, and
// the shapes of the file are the bucket (conformance/padding.h); and whole networks, whose batches
// are padded or refused. The oracle is the same file without buckets.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

#include "conformance/padding.h"
#include "models/bucket_network.h"
#include "models/model_run.h"
#include "tengine/graph.h"
#include "tengine/inspect.h"
#include "tensor_file/failure.h"
#include "tensor_file/npy.h"
#include "tensor_file/tensor.h"

namespace tengine::models {
namespace {

using tools::Tensor;

std::string read_file(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

// Gives the inputs the values of the file's folder of expected values. False without that folder,
// and for a file or values that the library refuses.
bool feed(graph_t graph, const std::string& name)
{
    const std::string folder = shared_data("tflite/expected/" + name);
    if (!graph || !exists(folder)) return false;
    const auto entry = nlohmann::json::parse(read_file(folder + "/expected.json"));
    for (size_t i = 0; i < entry.at("inputs").size(); ++i) {
        const Tensor given =
            tools::decode_npy(read_file(folder + "/input" + std::to_string(i) + ".npy"));
        const tensor_t input = tengine_graph_get_input(graph, static_cast<int>(i));
        if (!input ||
            set_tensor_shape(input, given.shape.data(), static_cast<int>(given.shape.size())) < 0 ||
            tengine_tensor_set_data(input, given.bytes.data(), given.bytes.size()) < 0)
            return false;
    }
    return prerun_graph(graph) == 0 && run_graph(graph, 1) == 0;
}

// The files have a batch of 1.
const BucketRow kRows[] = {
    {"dilated_conv",
     {{"input_1", {1, 1, 1, 3}, {2, 1, 1, 3}}},
     "node 'model/conv2d/Conv2D/SpaceToBatchND' (Reshape) puts padding between"},
    // A step of a recurrent layer, whose state is kept between runs.
    {"dtln_noise_suppression",
     {{"input_7", {1, 1, 257}, {1, 3, 257}}},
     "node 'tfl.unidirectional_sequence_lstm.ClippedLSTM_11' (ClippedLSTM) returns the state after "
     "the last position along axis 1 of 'input_7_float'"},
    {"face_detection_front_int8",
     {{"input", {1, 128, 128, 3}, {2, 128, 128, 3}}},
     "node 'classificators_int8' (Concat) appends elements after the end of axis 1"},
    {"face_detection_full_range_sparse", {{"input_1", {1, 192, 192, 3}, {2, 192, 192, 3}}}, ""},
    {"face_landmark_int8", {{"input_1", {1, 192, 192, 3}, {2, 192, 192, 3}}}, ""},
    {"hello_world_float", {{"dense_input", {3, 1}, {8, 1}}}, ""},
    {"hello_world_int8", {{"dense_input", {3, 1}, {8, 1}}}, ""},
    {"micro_speech", {{"Reshape_1", {3, 1960}, {4, 1960}}}, ""},
    {"mlperf_tiny_ad01_int8", {{"input_1", {3, 640}, {4, 640}}}, ""},
    {"mlperf_tiny_kws_dynamic", {{"input_1", {2, 49, 10, 1}, {3, 49, 10, 1}}}, ""},
    {"mlperf_tiny_kws_int8", {{"input_1", {2, 49, 10, 1}, {3, 49, 10, 1}}}, ""},
    {"mlperf_tiny_resnet_float", {{"input_1", {1, 32, 32, 3}, {2, 32, 32, 3}}}, ""},
    {"mlperf_tiny_resnet_int8", {{"input_1_int8", {1, 32, 32, 3}, {2, 32, 32, 3}}}, ""},
    {"mlperf_tiny_streaming_wakeword", {{"input_1", {1, 30, 1, 40}, {4, 30, 1, 40}}}, ""},
    {"mlperf_tiny_vww_int8", {{"input_1_int8", {1, 96, 96, 3}, {2, 96, 96, 3}}}, ""},
    {"mnist_srq_int8", {{"conv2d_input", {2, 28, 28, 1}, {5, 28, 28, 1}}}, ""},
    {"mobilenet_v1_025_128_uint8",
     {{"input", {1, 128, 128, 3}, {2, 128, 128, 3}}},
     "Reshape 'MobilenetV1/Logits/SpatialSqueeze1': 2002 elements do not fit"},
    {"mobilenet_v1_025_96_int8", {{"input_2", {2, 96, 96, 3}, {3, 96, 96, 3}}}, ""},
    {"mobilenet_v2_035_dynamic", {{"keras_layer_input", {1, 96, 96, 3}, {2, 96, 96, 3}}}, ""},
    {"movie_review", {{"input_3", {1, 256}, {3, 256}}}, ""},
    {"movie_review",
     {{"input_3", {1, 200}, {1, 256}}},
     "node 'sequential_2/global_average_pooling1d_2/Mean' (ReduceMean) mixes positions along axis "
     "1"},
    {"selfie_segmenter_fp16", {{"input_1", {1, 256, 256, 3}, {2, 256, 256, 3}}}, ""},
};

class TfliteBucketTest : public testing::TestWithParam<BucketRow>
{
  protected:
    static void SetUpTestSuite() { ASSERT_EQ(init_tengine(), 0); }
    static void TearDownTestSuite() { release_tengine(); }
};

TEST_F(TfliteBucketTest, Operators)
{
    const std::string path = shared_data("tflite/operators");
    if (!exists(path)) GTEST_SKIP() << absent(path + "/x");
    conformance::PaddingCounts counts;
    int number = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
        SCOPED_TRACE(entry.path().stem());
        const graph_t graph = create_graph(nullptr, "tflite", entry.path().c_str());
        if (feed(graph, entry.path().stem())) {
            ++number;
            try {
                conformance::check_padding(
                    graph, [] {}, &counts);
            } catch (const tools::Failure& failure) {
                ADD_FAILURE() << failure.what();
            }
        }
        EXPECT_TRUE(!graph || destroy_graph(graph) == 0);
    }
    std::printf(
        "%d files: %d smaller requests ran in the file's shapes, %d with other last bits; "
        "%d were prepared for their own\n",
        number, counts.exact, counts.other_bits, counts.not_exact);
    EXPECT_GT(counts.exact, 100);
}

TEST_P(TfliteBucketTest, ABatch)
{
    const std::string path = shared_data("tflite/models/") + GetParam().name + ".tflite";
    if (!exists(path)) GTEST_SKIP() << absent(path);
    expect_bucket("tflite", path, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Networks, TfliteBucketTest, testing::ValuesIn(kRows));

}  // namespace
}  // namespace tengine::models
