// SPDX-License-Identifier: Apache-2.0
// The shipped network as a tmfile that the library wrote, against its ONNX file and against itself.
#include <filesystem>
#include <gtest/gtest.h>

#include "models/sample_graph.h"

namespace tengine::models {
namespace {

using tools::Tensor;

const Shape kInput = {1, 1, 8, 8};

class DigitsTmfile : public testing::TestWithParam<Source>
{
  protected:
    const DigitsFile file_;
};

// Saving merges batch normalisation into the convolutions as the preparation does: the same
// arithmetic gives identical bits.
TEST_P(DigitsTmfile, EqualsItsOnnxFile)
{
    const SampleGraph tmfile(file_.path, GetParam());
    const SampleGraph onnx(TENGINE_EXAMPLES_DATA_DIR "/digits.onnx");
    onnx.set_input_shape(kInput);
    for (uint32_t seed = 1; seed <= 3; ++seed) {
        const Tensor noise = make_noise(kInput, seed);
        const Tensor result = tmfile.prepare_and_run(noise).at(0);
        ASSERT_EQ(result.element_number(), 10u);
        EXPECT_TRUE(result.bytes == onnx.prepare_and_run(noise).at(0).bytes) << "seed " << seed;
    }
}

// A tmfile and an ONNX file that are written from it give identical results.
TEST_P(DigitsTmfile, EqualsItselfInBothFormats)
{
    const SampleGraph tmfile(file_.path, GetParam());
    const Tensor noise = make_noise(kInput, 4);
    const Tensor expected = tmfile.prepare_and_run(noise).at(0);
    for (const char* ending : {".again.tmfile", ".onnx"}) {
        const std::string path = file_.path + ending;
        tmfile.save(path);
        const Tensor again = SampleGraph(path).prepare_and_run(noise).at(0);
        std::filesystem::remove(path);
        EXPECT_EQ(again.shape, expected.shape) << ending;
        EXPECT_TRUE(again.bytes == expected.bytes) << ending << ": other bytes";
    }
}

INSTANTIATE_TEST_SUITE_P(From, DigitsTmfile,
                         testing::Values(Source::kFile, Source::kMemory, Source::kView),
                         [](const auto& source) { return source_name(source.param); });

}  // namespace
}  // namespace tengine::models
