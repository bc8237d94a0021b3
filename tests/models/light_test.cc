// SPDX-License-Identifier: Apache-2.0
// Six classic networks of the ONNX project whose weights are constants made by nodes, with the
// output for the input 0/n, 1/n, 2/n ...
#include <algorithm>
#include <gtest/gtest.h>

#include "conformance/compare.h"
#include "models/model_run.h"
#include "tensor_file/tensor_file.h"

namespace tengine::models {
namespace {

class LightModel : public testing::TestWithParam<const char*>
{
};

tools::Tensor make_ramp(const std::vector<int>& shape)
{
    std::vector<int64_t> known(shape.begin(), shape.end());
    std::replace(known.begin(), known.end(), int64_t{-1}, int64_t{1});
    tools::Tensor ramp = tools::make_tensor(TENGINE_DT_FP32, known);
    const size_t number = ramp.element_number();
    for (size_t i = 0; i < number; ++i)
        tools::set_element(&ramp, i, static_cast<float>(i) / static_cast<float>(number));
    return ramp;
}

TEST_P(LightModel, GivesTheExpectedOutput)
{
    const std::string stem = shared_data("onnx_light/light_") + GetParam();
    if (!exists(stem + ".onnx")) GTEST_SKIP() << absent(stem + ".onnx");
    if (takes_too_long(GetParam())) GTEST_SKIP() << "takes too long on an emulated processor";
    ModelRun model(stem + ".onnx");
    const tools::Tensor output = model.run(make_ramp(model.input_shape()));
    EXPECT_EQ(conformance::compare(output, tools::read_tensor(stem + "_output_0.pb")), "");
}

INSTANTIATE_TEST_SUITE_P(Onnx, LightModel,
                         testing::Values("bvlc_alexnet", "inception_v1", "resnet50", "squeezenet",
                                         "vgg19", "zfnet512"),
                         [](const auto& model) { return std::string(model.param); });

}  // namespace
}  // namespace tengine::models
