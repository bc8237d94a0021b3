// SPDX-License-Identifier: Apache-2.0
// Trained networks with free dimensions, those of scripts/fetch_networks, in buckets.
#include "models/bucket_network.h"

#include <cstdlib>
#include <gtest/gtest.h>

#include "models/model_run.h"
#include "tengine/c_api.h"

namespace tengine::models {
namespace {

const BucketRow kRows[] = {
    {"ocr/ch_PP-OCRv4_rec_infer.onnx", {{"x", {1, 3, 48, 40}, {2, 3, 48, 40}}}, ""},
    {"ocr/ch_PP-OCRv4_rec_infer.onnx",
     {{"x", {1, 3, 48, 40}, {1, 3, 48, 64}}},
     "node 'p2o.Conv.0' (Conv) reads zeros after the end of axis 3 of 'x'"},
    {"ocr/ch_PP-OCRv4_det_infer.onnx", {{"x", {1, 3, 64, 64}, {2, 3, 64, 64}}}, ""},
    {"ocr/ch_PP-OCRv4_det_infer.onnx",
     {{"x", {1, 3, 32, 64}, {1, 3, 64, 64}}},
     "node 'p2o.Conv.0' (Conv) reads zeros after the end of axis 2 of 'x'"},
    {"ocr/ch_ppocr_mobile_v2.0_cls_infer.onnx", {{"x", {3, 3, 48, 96}, {4, 3, 48, 96}}}, ""},
    {"wake_word/embedding_model.onnx", {{"input_1", {2, 76, 32, 1}, {3, 76, 32, 1}}}, ""},
    // Decibels below the largest value of the whole input.
    {"wake_word/melspectrogram.onnx",
     {{"input", {2, 1280}, {3, 1280}}},
     "node 'ReduceMax_24' (ReduceMax) mixes positions along axis 0 of 'onnx::ReduceMax_31'"},
    {"wake_word/melspectrogram.onnx",
     {{"input", {1, 1280}, {1, 2560}}},
     "node 'ReduceMax_24' (ReduceMax) mixes positions along axis 2 of 'onnx::ReduceMax_31'"},
};

class BucketNetworkTest : public testing::TestWithParam<BucketRow>
{
  protected:
    static void SetUpTestSuite() { ASSERT_EQ(init_tengine(), 0); }
    static void TearDownTestSuite() { release_tengine(); }
};

TEST_P(BucketNetworkTest, RunsWithItsOwnResults)
{
    const char* home = std::getenv("HOME");
    const std::string folder = std::string(home ? home : "") + "/.cache/tengine/networks/";
    if (!exists(folder + GetParam().name))
        GTEST_SKIP() << "no networks in " << folder << ": scripts/fetch_networks fetches them";
    expect_bucket("onnx", folder + GetParam().name, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Fetched, BucketNetworkTest, testing::ValuesIn(kRows));

}  // namespace
}  // namespace tengine::models
