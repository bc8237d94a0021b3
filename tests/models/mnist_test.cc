// SPDX-License-Identifier: Apache-2.0
// The trained network mnist.onnx of Tengine Lite against ONNX Runtime 1.30.0, whose numbers
// mnist_expected.mjs printed.
#include <cstdint>
#include <gtest/gtest.h>

#include "conformance/compare.h"
#include "models/model_run.h"

namespace tengine::models {
namespace {

constexpr double kExpected[] = {-0.6426709890365601, -4.341864109039307, 2.002423048019409,
                                -0.2872001826763153, -4.176094055175781, 1.882355809211731,
                                3.4462695121765137,  -6.941502094268799, 4.684879302978516,
                                -4.027010440826416};

tools::Tensor make_expected()
{
    tools::Tensor expected = tools::make_tensor(TENGINE_DT_FP32, {1, 10});
    for (size_t i = 0; i < expected.element_number(); ++i)
        tools::set_element(&expected, i, kExpected[i]);
    return expected;
}

tools::Tensor make_noise()
{
    tools::Tensor noise = tools::make_tensor(TENGINE_DT_FP32, {1, 1, 28, 28});
    uint32_t state = 1;
    for (size_t i = 0; i < noise.element_number(); ++i) {
        state = state * 1664525u + 1013904223u;
        tools::set_element(&noise, i, (state >> 8) / 16777216.0);
    }
    return noise;
}

TEST(Mnist, AgreesWithOnnxRuntime)
{
    const std::string path = shared_data("tmfile/mnist.onnx");
    if (!exists(path)) GTEST_SKIP() << absent(path);
    ModelRun model(path);
    EXPECT_EQ(conformance::compare(model.run(make_noise()), make_expected()), "");
}

}  // namespace
}  // namespace tengine::models
