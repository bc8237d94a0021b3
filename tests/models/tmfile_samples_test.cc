// SPDX-License-Identifier: Apache-2.0
// The sample tmfiles of Tengine Lite: mnist against ONNX Runtime 1.30.0 and against its own ONNX
// file; and networks without weights, filled with random ones, against themselves as ONNX files.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>
#include <set>

#include "models/model_run.h"
#include "models/naive_shape.h"
#include "models/sample_graph.h"
#include "tengine/inspect.h"
#include "tensor_file/tensor_file.h"

namespace tengine::models {
namespace {

using tools::Tensor;

const Shape kMnistInput = {1, 1, 28, 28};

// The output of mnist_expected.mjs for seeds 1, 2 and 3.
constexpr double kMnistExpected[3][10] = {
    {-0.6426709890365601, -4.341864109039307, 2.002423048019409, -0.2872001826763153,
     -4.176094055175781, 1.882355809211731, 3.4462695121765137, -6.941502094268799,
     4.684879302978516, -4.027010440826416},
    {-2.1650314331054688, -4.434106349945068, 1.2490930557250977, 1.76698637008667,
     -4.257017135620117, 2.2193551063537598, 2.5780065059661865, -6.3982133865356445,
     4.923467636108398, -2.130535840988159},
    {-0.18724790215492249, -6.585318088531494, 2.6211578845977783, 2.141869306564331,
     -5.156092166900635, 0.5131987929344177, 2.4852254390716553, -6.685593605041504,
     5.3618693351745605, -2.4828855991363525}};

// The longest sum of the network has 1568 products; in fp32 the error of any order of it is within
// this bound, relative to the magnitudes of its terms (Higham, Accuracy and Stability, 3.1).
constexpr double kMnistTolerance = 1568 * 0x1p-24 * 7;

class MnistTmfile : public testing::TestWithParam<Source>
{
  protected:
    void SetUp() override
    {
        if (!exists(path_)) GTEST_SKIP() << absent(path_);
    }

    std::string path_ = shared_data("tmfile/mnist.tmfile");
};

TEST_P(MnistTmfile, AgreesWithOnnxRuntime)
{
    const SampleGraph sample(path_, GetParam());
    sample.prepare();
    for (uint32_t seed = 1; seed <= 3; ++seed) {
        const std::vector<Tensor> outputs = sample.run(make_noise(kMnistInput, seed));
        ASSERT_EQ(outputs.size(), 1u);
        ASSERT_EQ(outputs[0].element_number(), 10u);
        for (size_t i = 0; i < 10; ++i)
            EXPECT_NEAR(tools::get_element(outputs[0], i), kMnistExpected[seed - 1][i],
                        kMnistTolerance)
                << "seed " << seed << ", class " << i;
    }
}

// The same arithmetic in the same order gives identical bits.
TEST_P(MnistTmfile, EqualsItsOnnxFile)
{
    const SampleGraph sample(path_, GetParam());
    const SampleGraph onnx(shared_data("tmfile/mnist.onnx"));
    for (uint32_t seed = 1; seed <= 3; ++seed) {
        const Tensor noise = make_noise(kMnistInput, seed);
        EXPECT_EQ(sample.prepare_and_run(noise)[0].bytes, onnx.prepare_and_run(noise)[0].bytes);
    }
}

INSTANTIATE_TEST_SUITE_P(From, MnistTmfile,
                         testing::Values(Source::kFile, Source::kMemory, Source::kView),
                         [](const auto& source) { return source_name(source.param); });

// ---- networks without weights ----

struct Sample
{
    const char* name;
    Shape input;
    Shape other_input;
    Shape output;
    float gain;    // of random weights: residual networks add the results of their layers
    int computed;  // tensors that are neither inputs nor constants: tensors less buffers less 1
};

void PrintTo(const Sample& sample, std::ostream* stream)
{
    *stream << sample.name;
}

class WeightlessTmfile : public testing::TestWithParam<Sample>
{
  protected:
    void SetUp() override
    {
        if (!exists(path_)) GTEST_SKIP() << absent(path_);
    }

    static constexpr uint32_t kSeed = 5;

    std::string path_ = shared_data(std::string("tmfile/") + GetParam().name + "_benchmark.tmfile");
};

// Compares the shape of every computed tensor with naive_shape(); returns their number.
int compare_shapes(const SampleGraph& sample)
{
    int compared = 0;
    for (node_t node : sample.nodes()) {
        const std::string op = get_node_op(node);
        if (op == "InputOp" || op == "Const" || op == "DetectionOutput") continue;
        EXPECT_EQ(get_node_output_number(node), 1) << get_node_name(node);
        EXPECT_EQ(shape_of(get_node_output_tensor(node, 0)), naive_shape(node))
            << op << " '" << get_node_name(node) << "'";
        ++compared;
    }
    return compared;
}

TEST_P(WeightlessTmfile, EveryTensorHasTheShapeThatFollowsFromTheFile)
{
    const SampleGraph sample(path_);
    EXPECT_EQ(shape_of(sample.input()), GetParam().input);
    std::vector<Shape> constants;
    for (tensor_t tensor : sample.tensors())
        if (tengine_tensor_get_type(tensor) == TENSOR_TYPE_CONST)
            constants.push_back(shape_of(tensor));
    sample.prepare();
    EXPECT_EQ(compare_shapes(sample), GetParam().computed);
    // The constants of the file are unchanged.
    size_t place = 0;
    for (tensor_t tensor : sample.tensors()) {
        if (tengine_tensor_get_type(tensor) != TENSOR_TYPE_CONST) continue;
        EXPECT_EQ(shape_of(tensor), constants.at(place++)) << get_tensor_name(tensor);
    }
    EXPECT_EQ(place, constants.size());
}

TEST_P(WeightlessTmfile, EveryTensorFollowsAnotherInput)
{
    const SampleGraph sample(path_);
    sample.set_input_shape(GetParam().other_input);
    sample.prepare();
    EXPECT_EQ(compare_shapes(sample), GetParam().computed);
}

std::string scratch(const std::string& name)
{
    return testing::TempDir() + "tmfile_samples_" + std::to_string(getpid()) + name;
}

bool is_finite(const Tensor& tensor)
{
    for (size_t i = 0; i < tensor.element_number(); ++i)
        if (!std::isfinite(tools::get_element(tensor, i))) return false;
    return true;
}

size_t count_values(const Tensor& tensor)
{
    std::set<double> values;
    for (size_t i = 0; i < tensor.element_number(); ++i)
        values.insert(tools::get_element(tensor, i));
    return values.size();
}

// The tmfile, a tmfile written from it and an ONNX file written from it give identical results.
TEST_P(WeightlessTmfile, WithRandomWeightsEqualsItselfInBothFormats)
{
    if (takes_too_long(GetParam().name)) GTEST_SKIP() << "takes too long on an emulated processor";
    const Tensor noise = make_noise(GetParam().input, kSeed);
    const SampleGraph sample(path_);
    EXPECT_GT(sample.fill_weights(kSeed, GetParam().gain), 0);
    const std::vector<Tensor> outputs = sample.prepare_and_run(noise);
    ASSERT_EQ(outputs.size(), 1u);
    EXPECT_TRUE(is_finite(outputs[0]));
    EXPECT_GT(count_values(outputs[0]), 20u);
    if (!GetParam().output.empty()) {
        EXPECT_EQ(outputs[0].shape, GetParam().output);
    }
    for (const std::string& name : {scratch(".tmfile"), scratch(".onnx")}) {
        sample.save(name);
        const Tensor again = SampleGraph(name).prepare_and_run(noise).at(0);
        std::filesystem::remove(name);
        EXPECT_EQ(again.shape, outputs[0].shape) << name;
        EXPECT_TRUE(again.bytes == outputs[0].bytes) << name << ": other bytes";
    }
}

// The number of detections of mssd depends on its data; it takes one image. Fully connected layers
// fix the image size of the others, except two.
const Sample kSamples[] = {
    {"googlenet", {1, 3, 224, 224}, {2, 3, 224, 224}, {1, 1000, 1, 1}, 1, 85},
    {"inception_v3", {1, 3, 229, 229}, {2, 3, 229, 229}, {1, 1000, 1, 1}, 1, 122},
    {"mobilenet", {1, 3, 224, 224}, {2, 3, 256, 192}, {1, 1000, 1, 1}, 1, 29},
    {"mssd", {1, 3, 300, 300}, {1, 3, 332, 268}, {}, 1, 83},
    {"resnet50", {1, 3, 224, 224}, {2, 3, 224, 224}, {1, 1000, 1, 1}, 0.7f, 89},
    {"squeezenet_v1.1", {1, 3, 227, 227}, {2, 3, 256, 192}, {1, 1000, 1, 1}, 1, 40},
    {"vgg16", {1, 3, 224, 224}, {2, 3, 224, 224}, {1, 1000, 1, 1}, 1, 26},
};

std::string sample_name(const testing::TestParamInfo<Sample>& info)
{
    std::string name = info.param.name;
    std::replace(name.begin(), name.end(), '.', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Of, WeightlessTmfile, testing::ValuesIn(kSamples), sample_name);

TEST(MssdTmfile, WithoutWeightsItDetectsNothingButRuns)
{
    const std::string path = shared_data("tmfile/mssd_benchmark.tmfile");
    if (!exists(path)) GTEST_SKIP() << absent(path);
    const SampleGraph sample(path);
    const Tensor found = sample.prepare_and_run(make_noise({1, 3, 300, 300}, 1)).at(0);
    EXPECT_EQ(found.shape, (Shape{1, 0, 6, 1}));
    EXPECT_TRUE(found.bytes.empty());
}

}  // namespace
}  // namespace tengine::models
