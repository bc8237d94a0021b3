// SPDX-License-Identifier: Apache-2.0
// Quantised ONNX models as tmfiles: their results and types equal those of the ONNX graph itself,
// which is not translated.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

#include "serializer/onnx_text.h"
#include "serializer/quantised_network.h"
#include "support/emulated.h"
#include "tengine/c_api.h"
#include "tengine/inspect.h"

namespace tengine::test {
namespace {

constexpr const char* kAccelerator = "TPU";

struct Output
{
    int type = 0;
    std::vector<int> shape;
    std::string bytes;
};

// Outputs by their names.
struct Outputs
{
    std::map<std::string, Output> by_name;
    std::string failure;
};

Outputs failed()
{
    return {{}, get_tengine_error()};
}

// Pseudo-random numbers from -4 to 4, the same each time.
std::vector<float> make_values(size_t number)
{
    std::vector<float> values(number);
    unsigned state = 1;
    for (float& value : values) {
        state = state * 1664525u + 1013904223u;
        value = static_cast<float>(state >> 8) / 2097152.0f - 4;
    }
    return values;
}

void fill(tensor_t input)
{
    std::string bytes(static_cast<size_t>(get_tensor_buffer_size(input)), '\1');
    const std::vector<float> values = make_values(bytes.size());
    if (get_tensor_data_type(input) == TENGINE_DT_FP32)
        std::memcpy(&bytes[0], values.data(), bytes.size());
    else if (get_tensor_data_type(input) != TENGINE_DT_BOOL)
        std::transform(values.begin(), values.end(), bytes.begin(),
                       [](float value) { return static_cast<char>(value * 31); });
    set_tensor_data(input, bytes.data(), static_cast<int>(bytes.size()));
}

Output read(tensor_t tensor)
{
    Output output;
    output.type = get_tensor_data_type(tensor);
    int dims[8];
    output.shape.assign(dims, dims + get_tensor_shape(tensor, dims, 8));
    output.bytes.assign(static_cast<const char*>(get_tensor_buffer(tensor)),
                        static_cast<size_t>(get_tensor_buffer_size(tensor)));
    return output;
}

using Feed = std::function<void(tensor_t)>;
using Take = std::function<Output(tensor_t)>;

Outputs run(graph_t graph, int precision, const Feed& feed = fill, const Take& take = read)
{
    const options_t options = {1, TENGINE_CLUSTER_ALL, precision, 0};
    for (int i = 0; i < tengine_graph_get_input_number(graph); ++i)
        feed(tengine_graph_get_input(graph, i));
    if (prerun_graph_multithread(graph, options) < 0 || run_graph(graph, 1) < 0) return failed();
    Outputs outputs;
    for (int i = 0; i < tengine_graph_get_output_number(graph); ++i) {
        tensor_t tensor = tengine_graph_get_output(graph, i);
        outputs.by_name[get_tensor_name(tensor)] = take(tensor);
    }
    return outputs;
}

// Returns the difference, in a line; "" if there is none.
std::string compare(const Outputs& expected, const Outputs& outputs)
{
    if (!expected.failure.empty()) return "the ONNX model fails: " + expected.failure;
    if (!outputs.failure.empty()) return outputs.failure;
    for (const auto& [name, output] : expected.by_name) {
        const auto found = outputs.by_name.find(name);
        if (found == outputs.by_name.end()) return "there is no output " + name;
        const Output& other = found->second;
        if (output.type != other.type) return name + " is of another type";
        if (output.shape != other.shape) return name + " is of another shape";
        int different = 0;
        for (size_t i = 0; i < output.bytes.size(); ++i)
            different += output.bytes[i] != other.bytes[i];
        if (different > 0)
            return name + ": " + std::to_string(different) + " of " +
                   std::to_string(output.bytes.size()) + " bytes differ";
    }
    return outputs.by_name.size() == expected.by_name.size() ? "" : "there are other outputs";
}

class TmfileQuantisedTest : public testing::Test
{
  protected:
    void SetUp() override { ASSERT_EQ(init_tengine(), 0); }
    void TearDown() override
    {
        std::filesystem::remove(path_);
        release_tengine();
    }

    graph_t load(const std::string& onnx, context_t context = nullptr)
    {
        return create_graph(context, "onnx:m", onnx.data(), static_cast<int>(onnx.size()));
    }

    Outputs run_onnx(const std::string& onnx, int precision)
    {
        graph_t graph = load(onnx);
        if (!graph) return failed();
        const Outputs outputs = run(graph, precision);
        destroy_graph(graph);
        return outputs;
    }

    bool convert(const std::string& onnx, context_t context = nullptr)
    {
        graph_t graph = load(onnx, context);
        const int status = graph ? save_graph(graph, "tengine", path_.c_str()) : -1;
        if (graph) destroy_graph(graph);
        return status == 0;
    }

    Outputs run_tmfile(const std::string& onnx, int precision)
    {
        if (!convert(onnx)) return failed();
        graph_t graph = create_graph(nullptr, "tengine", path_.c_str());
        if (!graph) return failed();
        const Outputs outputs = run(graph, precision);
        destroy_graph(graph);
        return outputs;
    }

    // Runs the ONNX model that a tmfile of this one becomes.
    Outputs run_back(const std::string& onnx)
    {
        const std::string back = path_ + ".onnx";
        if (!convert(onnx)) return failed();
        graph_t graph = create_graph(nullptr, "tengine", path_.c_str());
        const int status = graph ? save_graph(graph, "onnx", back.c_str()) : -1;
        if (graph) destroy_graph(graph);
        if (status < 0) return failed();
        graph = create_graph(nullptr, "onnx", back.c_str());
        const Outputs outputs = graph ? run(graph, TENGINE_MODE_INT8) : failed();
        if (graph) destroy_graph(graph);
        std::filesystem::remove(back);
        return outputs;
    }

    // Compiles, and returns the number of the device's parts in the file.
    int compile(context_t context)
    {
        graph_t graph = create_graph(context, "tengine", path_.c_str());
        const options_t options = {1, TENGINE_CLUSTER_ALL, TENGINE_MODE_INT8, 0};
        EXPECT_EQ(prerun_graph_multithread(graph, options), 0) << get_tengine_error();
        EXPECT_EQ(save_graph(graph, "tengine", path_.c_str()), 0) << get_tengine_error();
        const int parts = tengine_graph_get_compiled_part_number(graph);
        destroy_graph(graph);
        return parts;
    }

    const std::string path_ =
        testing::TempDir() + "quantised_" + std::to_string(getpid()) + ".tmfile";
};

struct Case
{
    const char* name;
    const char* text;
};

void PrintTo(const Case& each, std::ostream* stream)
{
    *stream << each.name;
}

std::string name_of(const testing::TestParamInfo<Case>& info)
{
    return info.param.name;
}

class TmfileBytesTest : public TmfileQuantisedTest, public testing::WithParamInterface<Case>
{
};

const char* const kBytes =
    "in x float 3,4\nconst s float - = 0.05\nconst z int8 - = 3\nconst r float - = 0.07\n"
    "const c int8 4 = 1 -2 3 -100\nconst i int64 2 = 2 0\nconst a int64 - = 1\n"
    "QuantizeLinear x s z -> q\n";

TEST_P(TmfileBytesTest, ComputesWhatTheOnnxModelDoes)
{
    const std::string onnx =
        parse_onnx_text(std::string(kBytes) + GetParam().text).SerializeAsString();
    for (const int precision : {TENGINE_MODE_INT8, TENGINE_MODE_FP32})
        EXPECT_EQ(compare(run_onnx(onnx, precision), run_tmfile(onnx, precision)), "");
}

#define DEQUANTISED(bytes) "DequantizeLinear " bytes " s z -> y\nout y\n"

INSTANTIATE_TEST_SUITE_P(
    Around, TmfileBytesTest,
    testing::Values(
        Case{"Neg", "Neg q -> n\n" DEQUANTISED("n")}, Case{"Abs", "Abs q -> n\n" DEQUANTISED("n")},
        Case{"Add", "Add q c -> n\n" DEQUANTISED("n")},
        Case{"Sub", "Sub c q -> n\n" DEQUANTISED("n")},
        Case{"Mul", "Mul q c -> n\n" DEQUANTISED("n")},
        Case{"Max", "Max q c -> n\n" DEQUANTISED("n")},
        Case{"Relu", "Relu q -> n\n" DEQUANTISED("n")},
        Case{"Sign", "Sign q -> n\n" DEQUANTISED("n")},
        Case{"ReduceMax", "ReduceMax q -> n : keepdims=1\n" DEQUANTISED("n")},
        Case{"ToFloat", "Cast q -> y : to=1\nout y\n"},
        Case{"ToWordsAndBack",
             "Cast q -> w : to=6\nAdd w w -> v\nCast v -> n : to=3\n" DEQUANTISED("n")},
        Case{"FromFloat", "Cast x -> n : to=3\n" DEQUANTISED("n")},
        Case{"Compared",
             "Less q c -> b\nDequantizeLinear q s z -> d\nNeg d -> e\nWhere b d e -> y\nout y\n"},
        Case{"ChosenBytes", "Less q c -> b\nWhere b q c -> n\n" DEQUANTISED("n")},
        Case{"Moved", "Transpose q -> n : perm=1,0\n" DEQUANTISED("n")},
        Case{"MovedThenSigmoid",
             "Transpose q -> n : perm=1,0\nDequantizeLinear n s z -> d\nSigmoid d -> "
             "f\nQuantizeLinear f s z -> g\nDequantizeLinear g s z -> y\nout y\n"},
        Case{"MovedBetweenScales",
             "DequantizeLinear q s z -> d\nSigmoid d -> f\nQuantizeLinear f s z -> g\nTranspose g "
             "-> n : perm=1,0\nDequantizeLinear n r z -> e\nTanh e -> h\nQuantizeLinear h s z -> "
             "k\nDequantizeLinear k s z -> y\nout y\n"},
        Case{"Gathered", "Gather q i -> n : axis=1\n" DEQUANTISED("n")},
        Case{"Split",
             "Split q -> m n : axis=1 num_outputs=2\nDequantizeLinear m s z -> e\nAbs e -> f\nAdd "
             "n n -> o\nDequantizeLinear o s z -> y\nout f y\n"},
        Case{"Joined", "Concat q q -> n : axis=0\n" DEQUANTISED("n")},
        Case{"JoinedWithConstants",
             "const k int8 2,4 = 1 2 3 4 5 6 7 8\nConcat q k -> n : axis=0\n" DEQUANTISED("n")},
        Case{"OtherScale", "DequantizeLinear q r z -> y\nout y\n"},
        Case{"TwoScales",
             "DequantizeLinear q s z -> d\nSigmoid d -> f\nQuantizeLinear f s z -> "
             "g\nDequantizeLinear g s z -> m\nDequantizeLinear g r z -> n\nAdd m n -> y\nout y\n"},
        Case{"TwoReaders",
             "QuantizeLinear x r z -> p\nDequantizeLinear p r z -> d\nDequantizeLinear q s z -> "
             "e\nAdd d e -> f\nQuantizeLinear f s z -> g\nDequantizeLinear g s z -> y\nout y\n"},
        Case{"AlsoAnOutput",
             "DequantizeLinear q s z -> d\nSigmoid d -> f\nQuantizeLinear f s z -> "
             "g\nDequantizeLinear g s z -> e\nTanh e -> h\nout h g e\n"},
        Case{"PartsGoOut",
             "DequantizeLinear q s z -> d\nSplit d -> e f : axis=1 num_outputs=2\nQuantizeLinear e "
             "s z -> m\nQuantizeLinear f s z -> n\nDequantizeLinear n s z -> y\nTanh y -> w\nout m "
             "n w\n"},
        Case{"WithoutTengine",
             "CumSum x a -> w\nQuantizeLinear w s z -> g\nDequantizeLinear g s z -> d\nSigmoid d "
             "-> y\nout y\n"},
        Case{"BeforeWithoutTengine",
             "DequantizeLinear q s z -> d\nSigmoid d -> f\nQuantizeLinear f s z -> "
             "g\nDequantizeLinear g s z -> e\nCumSum e a -> y\nout y\n"},
        Case{"ZeroScale",
             "const t float - = 0\nDequantizeLinear q t z -> d\nSigmoid d -> f\nQuantizeLinear f s "
             "z -> g\nDequantizeLinear g s z -> y\nout y\n"},
        Case{"NegativeScale",
             "const t float - = -0.05\nDequantizeLinear q t z -> d\nSigmoid d -> f\nQuantizeLinear "
             "f s z -> g\nDequantizeLinear g s z -> y\nout y\n"},
        Case{"ScalesAlongTheLastAxis",
             "const t float 4 = 0.1 0.2 0.3 0.4\nconst v int8 4 = 0 0 0 0\nDequantizeLinear q s z "
             "-> d\nSigmoid d -> f\nQuantizeLinear f t v -> g : axis=1\nDequantizeLinear g t v -> "
             "e : axis=1\nTanh e -> y\nout y\n"},
        Case{"ScalesAlongTheFirstAxis",
             "const t float 3 = 0.1 0.2 0.3\nconst v int8 3 = 0 4 0\nDequantizeLinear q s z -> "
             "d\nSigmoid d -> f\nQuantizeLinear f t v -> g : axis=0\nDequantizeLinear g t v -> e : "
             "axis=0\nTanh e -> y\nout y\n"},
        Case{"Blocks",
             "const t float 3,2 = 0.1 0.2 0.3 0.4 0.5 0.6\nconst v int8 3,2 = 0 0 0 0 0 "
             "0\nDequantizeLinear q t v -> d : axis=1 block_size=2\nSigmoid d -> y\nout y\n"},
        Case{"Dynamic",
             "DynamicQuantizeLinear x -> m n o\nDequantizeLinear m n o -> d\nSigmoid d -> "
             "f\nQuantizeLinear f s z -> g\nDequantizeLinear g s z -> y\nout y\n"},
        Case{"TwoPairsInARow",
             "DequantizeLinear q s z -> d\nQuantizeLinear d r z -> g\nDequantizeLinear g r z -> "
             "e\nSigmoid e -> y\nout y\n"},
        Case{"WithoutZeroPoints",
             "QuantizeLinear x s -> g\nDequantizeLinear g s -> d\nSigmoid d -> f\nQuantizeLinear f "
             "s -> h\nDequantizeLinear h s -> e\nTanh e -> y\nout y\n"},
        Case{"SharedWeights",
             "const w int8 4,4 = 1 2 3 4 5 6 7 8 -9 -8 -7 -6 -5 4 3 2\nDequantizeLinear q s z -> "
             "d\nDequantizeLinear w r -> u\nDequantizeLinear w s -> v\nMatMul d u -> "
             "f\nQuantizeLinear f s z -> g\nDequantizeLinear g s z -> e\nMatMul e v -> "
             "h\nQuantizeLinear h s z -> k\nDequantizeLinear k s z -> y\nout y\n"},
        Case{"WeightsThatAlsoGoOut",
             "const w int8 4,4 = 1 2 3 4 5 6 7 8 -9 -8 -7 -6 -5 4 3 2\nDequantizeLinear q s z -> "
             "d\nDequantizeLinear w r -> u\nMatMul d u -> f\nQuantizeLinear f s z -> "
             "g\nDequantizeLinear g s z -> y\nAdd w w -> v\nAbs u -> o\nout y v o\n"},
        Case{"WeightsThatAreTurned",
             "const w int8 4,4 = 1 2 3 4 5 6 7 8 -9 -8 -7 -6 -5 4 3 2\nDequantizeLinear q s z -> "
             "d\nDequantizeLinear w r -> u\nTranspose u -> v : perm=1,0\nMatMul d v -> "
             "f\nQuantizeLinear f s z -> g\nDequantizeLinear g s z -> y\nout y\n"},
        Case{"ConstantsThatAreQuantised",
             "const w float 4,4 = 1 2 3 4 5 6 7 8 -9 -8 -7 -6 -5 4 3 2\nQuantizeLinear w s z -> "
             "v\nDequantizeLinear v s z -> u\nDequantizeLinear q s z -> d\nMatMul d u -> "
             "f\nQuantizeLinear f r z -> g\nDequantizeLinear g r z -> y\nout y\n"},
        Case{"ConstantsThatAreAdded",
             "const w int8 3,4 = 1 2 3 4 5 6 7 8 -9 -8 -7 -6\nDequantizeLinear w r z -> "
             "u\nDequantizeLinear q s z -> d\nAdd d u -> f\nQuantizeLinear f r z -> "
             "g\nDequantizeLinear g r z -> y\nout y\n"},
        Case{"OtherTypesBesideEachOther",
             "const o uint8 - = 131\nQuantizeLinear x r o -> p\nDequantizeLinear p r o -> "
             "e\nDequantizeLinear q s z -> d\nMul d e -> f\nQuantizeLinear f r o -> "
             "g\nDequantizeLinear g r o -> y\nout y\n"},
        Case{"JoinedScales",
             "DequantizeLinear q s z -> d\nSigmoid d -> f\nQuantizeLinear f r z -> "
             "g\nDequantizeLinear g r z -> e\nConcat d e -> h : axis=1\nQuantizeLinear h s z -> "
             "k\nDequantizeLinear k s z -> y\nout y\n"},
        Case{
            "ClampedByTensors",
            "const l float - = -0.3\nconst u float - = 0.9\nDequantizeLinear q s z -> d\nClip d l "
            "u -> f\nQuantizeLinear f s z -> g\nDequantizeLinear g s z -> e\nTanh e -> y\nout y\n"},
        Case{"OnlyAPair", "DequantizeLinear q s z -> y\nout y\n"},
        Case{"OnlyBytes", "Transpose q -> y : perm=1,0\nout y\n"},
        Case{"BytesAndValuesGoOut", "DequantizeLinear q s z -> y\nTanh y -> h\nout q y h\n"},
        Case{"OneTwice",
             "DequantizeLinear q s z -> d\nMul d d -> f\nQuantizeLinear f s z -> "
             "g\nDequantizeLinear g s z -> y\nout y\n"},
        Case{"ReshapedByShape",
             "const k int64 2 = 4 -1\nDequantizeLinear q s z -> d\nReshape d k -> "
             "f\nQuantizeLinear f s z -> g\nReshape g k -> h\nDequantizeLinear h s z -> e\nSoftmax "
             "e -> y : axis=-1\nout y\n"},
        Case{"ShapesOfData",
             "DequantizeLinear q s z -> d\nNonZero d -> n\nSigmoid d -> f\nQuantizeLinear f s z -> "
             "g\nDequantizeLinear g s z -> e\nTranspose n -> m : perm=1,0\nGatherND e m -> y\nout "
             "y\n"},
        Case{"WordsAndScale",
             "const w int32 3,4 = 100 2 3 4 5 6 7 8 -9 -8 -7 -600\nDequantizeLinear w s -> "
             "e\nDequantizeLinear q s z -> d\nAdd d e -> f\nQuantizeLinear f r z -> "
             "g\nDequantizeLinear g r z -> y\nout y\n"},
        Case{"PowersAndRoots",
             "DequantizeLinear q s z -> d\nAbs d -> f\nSqrt f -> h\nQuantizeLinear h s z -> "
             "g\nDequantizeLinear g s z -> e\nPow e r -> y\nout y\n"},
        Case{"Largest",
             "DequantizeLinear q s z -> d\nArgMax d -> n : axis=1\nArgMax q -> m : axis=1\nAbs d "
             "-> y\nout n m y\n"},
        Case{"LargestFew",
             "const k int64 1 = 2\nDequantizeLinear q s z -> d\nTopK d k -> v n\nQuantizeLinear v "
             "s z -> g\nDequantizeLinear g s z -> y\nout y n\n"},
        Case{"TiledBytes", "const k int64 2 = 2 1\nTile q k -> n\n" DEQUANTISED("n")},
        Case{"PaddedBytes", "const k int64 4 = 1 0 0 1\nPad q k -> n\n" DEQUANTISED("n")},
        Case{"PooledBytes",
             "const k int64 4 = 1 1 3 4\nReshape q k -> n\nMaxPool n -> m : "
             "kernel_shape=2,2\n" DEQUANTISED("m")},
        Case{"ResizedBytes",
             "const k int64 4 = 1 1 3 4\nconst w float 4 = 1 1 2 2\nReshape q k -> n\nResize n _ w "
             "-> m : mode='nearest'\n" DEQUANTISED("m")},
        Case{"LoopOnBytes",
             "const k int64 - = 3\nLoop k _ q -> n\nbody body\nin j int64 -\nin on bool -\nin v "
             "int8 3,4\nAdd v c -> u\nout on u\nend\n" DEQUANTISED("n")},
        Case{"BodiesReadBoth",
             "const k bool - = 1\nin flag bool -\nDequantizeLinear q s z -> d\nSigmoid d -> "
             "f\nQuantizeLinear f s z -> g\nDequantizeLinear g s z -> e\nIf flag -> o\nbody "
             "then_branch\nDequantizeLinear g s z -> t\nout t\nend\nbody else_branch\nNeg e -> "
             "u\nout u\nend\nQuantizeLinear o s z -> p\nDequantizeLinear p s z -> v\nTanh v -> "
             "y\nout y\n"}),
    name_of);

constexpr unsigned kNetworksInAShare = 75;

class RandomTmfileTest : public TmfileQuantisedTest, public testing::WithParamInterface<unsigned>
{
};

TEST_P(RandomTmfileTest, ComputesWhatTheOnnxModelDoes)
{
    for (unsigned i = 0; i < kNetworksInAShare; ++i) {
        const unsigned seed = GetParam() * kNetworksInAShare + i;
        const QuantisedNetwork network = make_quantised_network(seed);
        const std::string onnx = network.encode();
        const Outputs expected = run_onnx(onnx, TENGINE_MODE_INT8);
        EXPECT_EQ(compare(expected, run_tmfile(onnx, TENGINE_MODE_INT8)), "")
            << "seed " << seed << ", opset " << network.opset << "\n"
            << network.text;
        // A run without a precision has that of the file, if there is one.
        const Outputs as_it_is = run_tmfile(onnx, TENGINE_MODE_FP32);
        const bool is_in_integers = compare(expected, as_it_is) == "";
        EXPECT_EQ(compare(is_in_integers ? expected : run_onnx(onnx, TENGINE_MODE_FP32), as_it_is),
                  "")
            << "seed " << seed;
    }
}

TEST_P(RandomTmfileTest, GoesBackToAnOnnxModelThatComputesTheSame)
{
    for (unsigned i = 0; i < kNetworksInAShare; i += 5) {
        const unsigned seed = GetParam() * kNetworksInAShare + i;
        const std::string onnx = make_quantised_network(seed).encode();
        EXPECT_EQ(compare(run_onnx(onnx, TENGINE_MODE_INT8), run_back(onnx)), "")
            << "seed " << seed;
    }
}

// Returns the real values of a quantised tensor.
Output values_of(tensor_t tensor)
{
    Output output = read(tensor);
    float scale = 0;
    int zero_point = 0;
    if (output.type == TENGINE_DT_FP32 ||
        get_tensor_quant_param(tensor, &scale, &zero_point, 1) != 1)
        return output;
    std::string values;
    for (const char byte : output.bytes) {
        const int whole = output.type == TENGINE_DT_INT8 ? static_cast<signed char>(byte)
                                                         : static_cast<unsigned char>(byte);
        const float value = static_cast<float>(whole - zero_point) * scale;
        values.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    return {TENGINE_DT_FP32, output.shape, values};
}

// Quantises the float input of the same name into the tensor.
void fill_bytes(tensor_t input)
{
    float scale = 0;
    int zero_point = 0;
    const int type = get_tensor_data_type(input);
    if ((type != TENGINE_DT_INT8 && type != TENGINE_DT_UINT8) ||
        get_tensor_quant_param(input, &scale, &zero_point, 1) != 1)
        return fill(input);
    const int lowest = type == TENGINE_DT_INT8 ? -128 : 0;
    std::string bytes;
    for (const float value : make_values(static_cast<size_t>(get_tensor_buffer_size(input)))) {
        const float step = std::nearbyint(value / scale) + static_cast<float>(zero_point);
        bytes += static_cast<char>(std::clamp(static_cast<int>(step), lowest, lowest + 255));
    }
    set_tensor_data(input, bytes.data(), static_cast<int>(bytes.size()));
}

// The integers of inputs and outputs represent the floats of the ONNX model.
TEST_P(RandomTmfileTest, HasIntegersAtItsBordersWhereAskedFor)
{
    const context_t context = create_context("integers", 1);
    ASSERT_EQ(tengine_context_set_option(context, "model.integer_io", "1"), 0);
    int changed = 0;
    for (unsigned i = 0; i < kNetworksInAShare; i += 5) {
        const unsigned seed = GetParam() * kNetworksInAShare + i;
        const QuantisedNetwork network = make_quantised_network(seed);
        const std::string onnx = network.encode();
        ASSERT_TRUE(convert(onnx, context)) << get_tengine_error();
        graph_t graph = create_graph(nullptr, "tengine", path_.c_str());
        ASSERT_NE(graph, nullptr) << get_tengine_error();
        const Outputs expected = run_onnx(onnx, TENGINE_MODE_INT8);
        // Some inputs were int8 or uint8 before.
        const Feed feed = [&](tensor_t input) {
            const std::string name = get_tensor_name(input);
            const bool was_float = network.text.find("in " + name + " float") != std::string::npos;
            changed += was_float && get_tensor_data_type(input) != TENGINE_DT_FP32;
            was_float ? fill_bytes(input) : fill(input);
        };
        const Take take = [&](tensor_t output) {
            const auto found = expected.by_name.find(get_tensor_name(output));
            const bool was_float =
                found != expected.by_name.end() && found->second.type == TENGINE_DT_FP32;
            return was_float ? values_of(output) : read(output);
        };
        EXPECT_EQ(compare(expected, run(graph, TENGINE_MODE_INT8, feed, take)), "")
            << "seed " << seed << "\n"
            << network.text;
        destroy_graph(graph);
    }
    destroy_context(context);
    EXPECT_GT(changed, 0);
}

// The tmfile has the parts that a device has compiled.
TEST_P(RandomTmfileTest, ComputesTheSameCompiledAheadOfTime)
{
    const context_t context = create_context("compiler", 1);
    const bool has_device = add_context_device(context, kAccelerator) == 0;
    int compiled = 0;
    tengine_context_set_option(context, "model.keep_parts", "1");
    tengine_context_set_option(context, "split.prune", "0");
    for (unsigned i = 0; has_device && i < kNetworksInAShare; i += 10) {
        const unsigned seed = GetParam() * kNetworksInAShare + i;
        const std::string onnx = make_quantised_network(seed).encode();
        ASSERT_TRUE(convert(onnx)) << get_tengine_error();
        compiled += compile(context);
        graph_t graph = create_graph(context, "tengine", path_.c_str());
        ASSERT_NE(graph, nullptr) << get_tengine_error();
        EXPECT_EQ(compare(run_onnx(onnx, TENGINE_MODE_INT8), run(graph, TENGINE_MODE_INT8)), "")
            << "seed " << seed;
        destroy_graph(graph);
    }
    destroy_context(context);
    if (!has_device) GTEST_SKIP() << "this build has no device " << kAccelerator;
    EXPECT_GT(compiled, 2);
}

// An emulator takes one share of the networks.
INSTANTIATE_TEST_SUITE_P(Networks, RandomTmfileTest, testing::Range(0u, test::kEmulated ? 1u : 8u));

}  // namespace
}  // namespace tengine::test
