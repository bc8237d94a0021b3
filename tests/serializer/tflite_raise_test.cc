// SPDX-License-Identifier: Apache-2.0
// ONNX's operators in a .tflite: the file computes what the model does, with the operators that are
// expected and as few Transposes as possible.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serializer/onnx_text.h"
#include "tengine/c_api.h"
#include "tengine/graph.h"
#include "tengine/ir.h"

namespace tengine::test {
namespace {

struct Raised
{
    const char* name;
    std::string model;      // see onnx_text.h; its input is x
    std::string operators;  // of the file, without "tflite.", in its order
    float tolerance = 1e-6f;
};

// Repeats a pattern of small numbers.
std::string numbers(int count, const char* pattern = "1 -2 3 0.5 -1 2 ")
{
    std::string text;
    std::string values = pattern;
    std::vector<std::string> list;
    for (size_t at = 0; at < values.size();) {
        const size_t end = values.find(' ', at);
        list.push_back(values.substr(at, end - at));
        at = end + 1;
    }
    for (int i = 0; i < count; ++i)
        text += list[static_cast<size_t>(i) % list.size()] + " ";
    return text;
}

std::string line(const std::string& text)
{
    return text + "\n";
}

const std::string kPicture = line("in x float 1,2,6,6") + line("out y");
const std::string kList = line("in x float 2,3,4") + line("out y");

std::string conv(const char* attributes, const char* filter, int values)
{
    return kPicture + line(std::string("const w float ") + filter + " = " + numbers(values)) +
           line(std::string("Conv x w -> y : ") + attributes);
}

const Raised kRaised[] = {
    {"Same", conv("pads=1,1,1,1", "3,2,3,3", 54), "TRANSPOSE CONV_2D TRANSPOSE"},
    {"Valid", conv("strides=2,1", "3,2,3,3", 54), "TRANSPOSE CONV_2D TRANSPOSE"},
    {"Padded", conv("pads=2,0,1,1", "3,2,3,3", 54), "TRANSPOSE PAD CONV_2D TRANSPOSE"},
    {"StridesInAPadding", conv("pads=1,1,1,1 strides=2,2", "3,2,3,3", 54),
     "TRANSPOSE PAD CONV_2D TRANSPOSE"},
    {"Dilated", conv("dilations=2,2", "3,2,3,3", 54), "TRANSPOSE CONV_2D TRANSPOSE"},
    {"Depthwise", conv("group=2 pads=1,1,1,1", "4,1,3,3", 36),
     "TRANSPOSE DEPTHWISE_CONV_2D TRANSPOSE"},
    {"OneAxis",
     line("in x float 1,2,9") + line("out y") + line("const w float 3,2,3 = " + numbers(18)) +
         line("Conv x w -> y : pads=1,1"),
     "RESHAPE TRANSPOSE CONV_2D TRANSPOSE RESHAPE"},
    {"TwoInARow",
     kPicture + line("const w float 2,2,3,3 = " + numbers(36)) + line("const b float 2 = 0.5 -1") +
         line("Conv x w b -> c : pads=1,1,1,1") + line("Relu c -> r") +
         line("Conv r w b -> d : pads=1,1,1,1") + line("Add d c -> s") +
         line("Clip s zero six -> y") + line("const zero float - = 0") +
         line("const six float - = 6"),
     "TRANSPOSE CONV_2D RELU CONV_2D ADD TRANSPOSE"},
    {"Transposed",
     kPicture + line("const w float 2,3,3,3 = " + numbers(54)) +
         line("ConvTranspose x w -> y : strides=2,2 pads=1,1,1,1 output_padding=1,1"),
     "TRANSPOSE TRANSPOSE_CONV SLICE TRANSPOSE"},
    {"MaxPool", kPicture + line("MaxPool x -> y : kernel_shape=3,3 strides=2,2 pads=1,1,1,1"),
     "TRANSPOSE PADV2 MAX_POOL_2D TRANSPOSE"},
    {"MeanOfWhatIsThere", kPicture + line("AveragePool x -> y : kernel_shape=2,2 pads=1,1,0,0"),
     "TRANSPOSE PAD AVERAGE_POOL_2D MUL TRANSPOSE"},
    {"MeanWithPadding",
     kPicture + line("AveragePool x -> y : kernel_shape=2,2 pads=1,1,0,0 count_include_pad=1"),
     "TRANSPOSE PAD AVERAGE_POOL_2D TRANSPOSE"},
    {"MeanOfAll", kPicture + line("GlobalAveragePool x -> y"), "TRANSPOSE MEAN TRANSPOSE"},
    {"Bilinear",
     kPicture + line("const s float 4 = 1 1 2 2") + line("Resize x _ s -> y : mode='linear'"),
     "TRANSPOSE RESIZE_BILINEAR TRANSPOSE", 1e-5f},
    {"Nearest",
     kPicture + line("const s float 4 = 1 1 2 2") +
         line("Resize x _ s -> y : coordinate_transformation_mode='asymmetric' "
              "nearest_mode='floor'"),
     "TRANSPOSE RESIZE_NEAREST_NEIGHBOR TRANSPOSE"},
    {"Pixels",
     line("in x float 1,8,2,3") + line("out y") + line("DepthToSpace x -> y : blocksize=2"),
     "TRANSPOSE DEPTH_TO_SPACE TRANSPOSE"},
    {"Product", kList + line("const w float 4,5 = " + numbers(20)) + line("MatMul x w -> y"),
     "FULLY_CONNECTED", 1e-5f},
    {"ProductOfTwo", kList + line("Transpose x -> t : perm=0,2,1") + line("MatMul x t -> y"),
     "TRANSPOSE BATCH_MATMUL", 1e-5f},
    {"Gemm",
     line("in x float 2,3") + line("out y") + line("const w float 4,3 = " + numbers(12)) +
         line("const b float 4 = 1 2 3 4") + line("Gemm x w b -> y : transB=1"),
     "FULLY_CONNECTED", 1e-5f},
    {"Softmax", kList + line("Softmax x -> y : axis=1"), "TRANSPOSE SOFTMAX TRANSPOSE"},
    {"Elu", kList + line("Elu x -> y : alpha=2.5"), "RELU MINIMUM EXP SUB MUL ADD"},
    {"Angle", kList + line("Tanh x -> t") + line("Asin t -> y"), "TANH SUB ADD MUL SQRT ATAN2"},
    {"Half", kList + line("Trilu x -> y"), "SELECT_V2"},
    {"Places",
     kList + line("const i int64 2,3,2 = 0 1 -1 2 3 0 1 1 2 -4 0 3") +
         line("GatherElements x i -> y : axis=2"),
     "GATHER_ND"},
    {"Updates",
     kList + line("const i int64 2,1 = 1 -2") + line("const u float 2,3,4 = " + numbers(24)) +
         line("ScatterND x i u -> y"),
     "SCATTER_ND SCATTER_ND GREATER SELECT_V2"},
    {"LayerNorm",
     kList + line("const s float 4 = 1 2 3 4") + line("const b float 4 = 0 1 0 -1") +
         line("LayerNormalization x s b -> y"),
     "MEAN SUB MUL MEAN ADD SQRT DIV MUL ADD", 1e-5f},
    {"Gelu",
     kList + line("const r float - = 1.4142135") + line("const one float - = 1") +
         line("const h float - = 0.5") + line("Div x r -> a") + line("Erf a -> e") +
         line("Add e one -> s") + line("Mul x s -> m") + line("Mul m h -> y"),
     "GELU", 1e-5f},
    {"Functions",
     kList + line("Sigmoid x -> a") + line("Tanh a -> b") + line("HardSwish b -> c") +
         line("LeakyRelu c -> d : alpha=0.2") + line("Abs d -> e") + line("Sqrt e -> y"),
     "LOGISTIC TANH HARD_SWISH LEAKY_RELU ABS SQRT", 1e-5f},
    {"Softplus", kList + line("Softplus x -> y"), "ABS NEG EXP RELU ADD LOG ADD", 1e-5f},
    {"Moves",
     kList + line("const p int64 6 = 0 1 0 0 0 2") + line("const r int64 2 = 4 -1") +
         line("const g int64 2 = 2 -1") + line("Pad x p -> a") +
         line("Transpose a -> b : "
              "perm=2,0,1") +
         line("Reshape b r -> c") + line("Gather c g -> d : axis=1") +
         line("Concat d d -> y : axis=0"),
     "PAD TRANSPOSE RESHAPE GATHER CONCATENATION"},
    {"Parts",
     kList + line("const b int64 1 = -1") + line("const e int64 1 = -100") +
         line("const a int64 1 = 2") + line("const s int64 1 = -2") + line("Slice x b e a s -> c") +
         line("Split c -> d f : axis=2 num_outputs=2") + line("Sub d f -> y"),
     "STRIDED_SLICE SPLIT SUB"},
    {"Sums",
     kList + line("const a int64 2 = 0 -1") + line("ReduceSum x a -> s : keepdims=0") +
         line("ReduceL2 s -> y"),
     "SUM MUL SUM SQRT", 1e-5f},
};

class TfliteRaise : public testing::Test
{
  protected:
    static void SetUpTestSuite() { ASSERT_EQ(init_tengine(), 0); }
    static void TearDownTestSuite() { release_tengine(); }
    void TearDown() override
    {
        unload();
        std::filesystem::remove(path_);
    }

    void unload()
    {
        if (graph_) destroy_graph(graph_);
        graph_ = nullptr;
    }

    void load_text(const std::string& text)
    {
        const std::string bytes = parse_onnx_text(text).SerializeAsString();
        graph_ = tengine_graph_load(nullptr, "onnx", bytes.data(), bytes.size());
        ASSERT_TRUE(graph_) << get_tengine_error();
    }

    std::vector<float> run()
    {
        tensor_t input = tengine_graph_get_input(graph_, 0);
        int dims[MAX_SHAPE_DIM_NUM];
        const int rank = get_tensor_shape(input, dims, MAX_SHAPE_DIM_NUM);
        size_t number = 1;
        for (int i = 0; i < rank; ++i)
            number *= static_cast<size_t>(dims[i]);
        std::vector<float> values(number);
        for (size_t i = 0; i < number; ++i)
            values[i] = static_cast<float>(i * 7 % 13) / 4 - 1.25f;
        EXPECT_EQ(set_tensor_buffer(input, values.data(), static_cast<int>(number * 4)), 0);
        EXPECT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
        EXPECT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
        tensor_t output = tengine_graph_get_output(graph_, 0);
        std::vector<float> result(static_cast<size_t>(get_tensor_buffer_size(output)) / 4);
        EXPECT_EQ(get_tensor_data(output, result.data(), get_tensor_buffer_size(output)), 0);
        EXPECT_EQ(postrun_graph(graph_), 0);
        return result;
    }

    // The operators of the loaded file, in its order.
    std::string list_operators() const
    {
        const auto* source = static_cast<const struct graph*>(graph_);
        std::string list;
        for (int i = 0; i < source->node_num; ++i) {
            const std::string op = get_ir_node_op(source->node_list[i]);
            if (op != "InputOp" && op != "Const") list += (list.empty() ? "" : " ") + op;
        }
        return list;
    }

    // Saves the graph and loads the file in its place; false: there is no such format.
    bool reload()
    {
        if (save_graph(graph_, "tflite", path_.c_str()) < 0) return false;
        unload();
        graph_ = create_graph(nullptr, "tflite", path_.c_str());
        return graph_ != nullptr;
    }

    graph_t graph_ = nullptr;
    const std::string path_ = testing::TempDir() + "raised_" + std::to_string(getpid()) + ".tflite";
};

TEST_F(TfliteRaise, TheFileComputesTheSame)
{
    for (const Raised& raised : kRaised) {
        SCOPED_TRACE(raised.name);
        unload();
        load_text(raised.model);
        const std::vector<float> expected = run();
        if (!reload() && get_tengine_errno() == TENGINE_ENOENT)
            GTEST_SKIP() << "this build has no .tflite";
        ASSERT_TRUE(graph_) << get_tengine_error();
        EXPECT_EQ(list_operators(), raised.operators) << get_tengine_error();
        const std::vector<float> result = run();
        ASSERT_EQ(result.size(), expected.size());
        for (size_t i = 0; i < result.size(); ++i)
            EXPECT_NEAR(result[i], expected[i], raised.tolerance * (1 + std::abs(expected[i])))
                << i;
    }
}

// The metadata of TensorFlow Lite's converter: 16 bytes.
TEST_F(TfliteRaise, TheFileStatesTheReleaseThatItNeeds)
{
    const auto find_release = [&](const std::string& model, const char* release) {
        unload();
        load_text(model);
        if (!reload()) return false;
        std::ifstream file(path_, std::ios::binary);
        const std::string bytes(std::istreambuf_iterator<char>(file), {});
        std::string text = release;
        text.resize(16, '\0');
        return bytes.find("min_runtime_version") != std::string::npos &&
               bytes.find(text) != std::string::npos;
    };
    const bool is_found = find_release(kList + line("Relu x -> a") + line("Tanh a -> y"), "1.14.0");
    if (!is_found && get_tengine_errno() == TENGINE_ENOENT)
        GTEST_SKIP() << "this build has no .tflite";
    EXPECT_TRUE(is_found) << get_tengine_error();
    EXPECT_TRUE(find_release(kList + line("Relu x -> y"), "1.5.0"));
    EXPECT_TRUE(find_release(kList + line("HardSwish x -> a") + line("Softmax a -> y"), "1.15.0"));
}

// ---- recurrent layers ----

// [3 steps, 2 sequences, 4 values]; weights are of one or two directions with 3 units.
std::string make_layer(const char* op, int gates, int directions, const std::string& more,
                       const std::string& attributes, const char* lengths = "3 3")
{
    const std::string number = std::to_string(directions), rows = std::to_string(3 * gates);
    const std::string all = number + "," + rows;
    return line("in x float 3,2,4") + line("out y") +
           line("const w float " + all + ",4 = " + numbers(12 * gates * directions, "0.3 -0.2 ")) +
           line("const r float " + all +
                ",3 = " + numbers(9 * gates * directions, "0.1 -0.4 0.25 0.6 -0.15 ")) +
           line("const b float " + number + "," + std::to_string(6 * gates) + " = " +
                numbers(6 * gates * directions, "0.05 -0.3 0.2 0.7 ")) +
           line("const h float " + number + ",2,3 = " + numbers(6 * directions, "0.2 -0.6 0.9 ")) +
           line("const c float " + number + ",2,3 = " + numbers(6 * directions, "-0.4 0.8 ")) +
           line("const p float " + number + ",9 = " + numbers(9 * directions, "0.3 -0.1 0.5 ")) +
           line(std::string("const l int32 2 = ") + lengths) +
           line(std::string(op) + " x w r " + more + " : hidden_size=3" + attributes);
}

TEST_F(TfliteRaise, RecurrentLayersAreTheirSteps)
{
    const std::string models[] = {
        make_layer("LSTM", 4, 1, "-> y", ""),
        make_layer("LSTM", 4, 1, "b l h c p -> y", " clip=0.4"),
        make_layer("LSTM", 4, 1, "b _ h c -> u y", " direction='reverse' input_forget=1"),
        make_layer("LSTM", 4, 2, "b _ h c p -> y", " direction='bidirectional'"),
        make_layer("LSTM", 4, 2, "b -> u v y", " direction='bidirectional'"),
        make_layer("GRU", 3, 1, "-> y", ""),
        make_layer("GRU", 3, 1, "b l h -> y", " linear_before_reset=1"),
        make_layer("GRU", 3, 2, "b _ h -> y", " direction='bidirectional'"),
        make_layer("RNN", 1, 2, "b -> y", " direction='bidirectional' activations='Relu','Tanh'"),
        make_layer("RNN", 1, 2, "b _ h -> u y", " direction='bidirectional'"),
    };
    for (const std::string& model : models) {
        SCOPED_TRACE(model);
        unload();
        load_text(model);
        const std::vector<float> expected = run();
        if (!reload() && get_tengine_errno() == TENGINE_ENOENT)
            GTEST_SKIP() << "this build has no .tflite";
        ASSERT_TRUE(graph_) << get_tengine_error();
        const std::string operators = list_operators();
        EXPECT_THAT(operators, testing::HasSubstr("FULLY_CONNECTED"));
        EXPECT_THAT(operators, testing::Not(testing::HasSubstr("LSTM")));
        const std::vector<float> result = run();
        ASSERT_EQ(result.size(), expected.size());
        for (size_t i = 0; i < result.size(); ++i)
            EXPECT_NEAR(result[i], expected[i], 2e-6f) << i;
    }
}

// ---- control flow ----

TEST_F(TfliteRaise, BranchesAreSubgraphs)
{
    const std::string branches =
        line("If c -> y") + line("body then_branch") + line("const w float 4,3 = " + numbers(12)) +
        line("MatMul x w -> a") + line("Relu a -> r") + line("out r") + line("end") +
        line("body else_branch") + line("const v float 4,3 = " + numbers(12, "0.5 -1 ")) +
        line("const f float - = 2") + line("Mul v f -> u") + line("MatMul x u -> b") +
        line("Add b k -> s") + line("out s") + line("end");
    for (const char* limit : {"-100", "100"}) {
        SCOPED_TRACE(limit);
        unload();
        load_text(kList + line("const k float 3 = 1 2 3") +
                  line(std::string("const l float - = ") + limit) +
                  line("ReduceSum x -> t : keepdims=0") + line("Greater t l -> c") + branches);
        const std::vector<float> expected = run();
        if (!reload() && get_tengine_errno() == TENGINE_ENOENT)
            GTEST_SKIP() << "this build has no .tflite";
        ASSERT_TRUE(graph_) << get_tengine_error();
        EXPECT_EQ(list_operators(), "SUM GREATER If");
        const std::vector<float> result = run();
        ASSERT_EQ(result.size(), expected.size());
        for (size_t i = 0; i < result.size(); ++i)
            EXPECT_NEAR(result[i], expected[i], 1e-5f) << i;
    }
}

// The condition is a value of the body.
TEST_F(TfliteRaise, LoopsWithAConditionAreSubgraphs)
{
    load_text(kList + line("const l float - = 100") + line("const two float - = 2") +
              line("const yes bool - = 1") + line("Loop _ yes x -> y") + line("body body") +
              line("in i int64 -") + line("in d bool -") + line("in v float 2,3,4") +
              line("Mul v two -> w") + line("Abs w -> a") + line("ReduceSum a -> t : keepdims=0") +
              line("Less t l -> c") + line("out c w") + line("end"));
    const std::vector<float> expected = run();
    const bool is_written = reload();
    if (!is_written && get_tengine_errno() == TENGINE_ENOENT)
        GTEST_SKIP() << "this build has no .tflite";
    ASSERT_TRUE(is_written) << get_tengine_error();
    EXPECT_THAT(list_operators(), testing::HasSubstr("Loop"));
    const std::vector<float> result = run();
    EXPECT_EQ(result, expected);
}

// From 2 to 5 iterations: the body reads their number, and the condition may end them before.
TEST_F(TfliteRaise, IterationsAreCounted)
{
    const std::string limits[] = {
        line("const m int64 - = 3") + line("Loop m _ x -> y"),
        line("const m int64 1 = 5") + line("const on bool - = 1") + line("Loop m on x -> y"),
        line("const m int64 - = 3") + line("const on bool - = 0") + line("Loop m on x -> y"),
        line("const m int64 - = 0") + line("Loop m _ x -> y"),
        line("ReduceMax x -> t : keepdims=0") + line("const f float - = 2") + line("Mul t f -> u") +
            line("Cast u -> m : to=7") + line("Loop m _ x -> y")};
    const std::string bodies[] = {
        line("Identity d -> c"), line("const l float - = 20") + line("Abs w -> a") +
                                     line("ReduceMax a -> t : keepdims=0") + line("Less t l -> c")};
    for (const std::string& limit : limits)
        for (const std::string& condition : bodies) {
            SCOPED_TRACE(limit + condition);
            unload();
            load_text(kList + limit + line("body body") + line("in i int64 -") +
                      line("in d bool -") + line("in v float 2,3,4") + line("Cast i -> j : to=1") +
                      line("Add v v -> s") + line("Add s j -> w") + condition + line("out c w") +
                      line("end"));
            const std::vector<float> expected = run();
            const bool is_written = reload();
            if (!is_written && get_tengine_errno() == TENGINE_ENOENT)
                GTEST_SKIP() << "this build has no .tflite";
            ASSERT_TRUE(is_written) << get_tengine_error();
            EXPECT_EQ(run(), expected);
            EXPECT_TRUE(reload()) << get_tengine_error();
            EXPECT_EQ(run(), expected);
        }
}

// The rows that iterations give, and the last value, which another node reads.
TEST_F(TfliteRaise, ResultsOfIterationsAreCollected)
{
    for (const char* number : {"0", "1", "4"}) {
        SCOPED_TRACE(number);
        unload();
        load_text(kList + line(std::string("const m int64 - = ") + number) +
                  line("Loop m _ x -> z unread rows ints") + line("body body") +
                  line("in i int64 -") + line("in d bool -") + line("in v float 2,3,4") +
                  line("Cast i -> j : to=1") + line("Add v j -> w") + line("Neg w -> n") +
                  line("Abs w -> s") + line("out d w s n i") + line("end") +
                  line("const a int64 1 = 0") + line("const sum float 2,3,4 = " + numbers(24)) +
                  line("ReduceSum rows a -> total : keepdims=0") + line("Add z total -> y0") +
                  line("ReduceSum ints -> k : keepdims=0") + line("Cast k -> kf : to=1") +
                  line("Mul sum kf -> scaled") + line("Add y0 scaled -> y"));
        const std::vector<float> expected = run();
        const bool is_written = reload();
        if (!is_written && get_tengine_errno() == TENGINE_ENOENT)
            GTEST_SKIP() << "this build has no .tflite";
        ASSERT_TRUE(is_written) << get_tengine_error();
        const std::vector<float> result = run();
        ASSERT_EQ(result.size(), expected.size());
        for (size_t i = 0; i < result.size(); ++i)
            EXPECT_NEAR(result[i], expected[i], 1e-5f) << i;
    }
}

// ---- quantised models ----

// x → QuantizeLinear → DequantizeLinear → Conv, Relu → QuantizeLinear → … → y
std::string make_quantised(const char* type, const char* point)
{
    return kPicture + line("const s float - = 0.02") +
           line(std::string("const z ") + type + " - = " + point) +
           line("const w int8 2,2,3,3 = " + numbers(36, "100 -20 7 127 -90 55 ")) +
           line("const ws float 2 = 0.01 0.02") + line("const wz int8 2 = 0 0") +
           line("const t float - = 0.05") + line("const b int32 2 = 100 -70") +
           line("const bs float 2 = 0.0002 0.0004") + line("QuantizeLinear x s z -> q") +
           line("DequantizeLinear q s z -> f") + line("DequantizeLinear w ws wz -> g : axis=0") +
           line("DequantizeLinear b bs -> h : axis=0") + line("Conv f g h -> c : pads=1,1,1,1") +
           line("Relu c -> r") + line("QuantizeLinear r t z -> p") +
           line("DequantizeLinear p t z -> k") +
           line("MaxPool k -> m : kernel_shape=2,2 strides=2,2 pads=1,1,1,1") +
           line("QuantizeLinear m t z -> n") + line("DequantizeLinear n t z -> y");
}

TEST_F(TfliteRaise, QuantisedOperatorsComputeWithIntegers)
{
    const std::pair<const char*, const char*> types[] = {{"int8", "-11"}, {"uint8", "117"}};
    for (const auto& [type, point] : types) {
        SCOPED_TRACE(type);
        unload();
        load_text(make_quantised(type, point));
        const std::vector<float> expected = run();
        const bool is_written = reload();
        if (!is_written && get_tengine_errno() == TENGINE_ENOENT)
            GTEST_SKIP() << "this build has no .tflite";
        ASSERT_TRUE(is_written) << get_tengine_error();
        EXPECT_EQ(list_operators(),
                  "QUANTIZE TRANSPOSE CONV_2D PADV2 MAX_POOL_2D TRANSPOSE DEQUANTIZE");
        const auto* source = static_cast<const struct graph*>(graph_);
        for (int i = 0; i < source->node_num; ++i) {
            const struct node* node = source->node_list[i];
            if (std::string(get_ir_node_op(node)) != "CONV_2D") continue;
            EXPECT_EQ(get_ir_node_input(node, 0)->data_type, TENGINE_DT_INT8);
            EXPECT_EQ(get_ir_node_input(node, 0)->zero_point, -11);
            EXPECT_EQ(get_ir_node_input(node, 1)->quant_param_num, 2);
            EXPECT_EQ(get_ir_node_input(node, 2)->data_type, TENGINE_DT_INT32);
            EXPECT_EQ(get_ir_node_output(node, 0)->data_type, TENGINE_DT_INT8);
        }
        const std::vector<float> result = run();
        ASSERT_EQ(result.size(), expected.size());
        for (size_t i = 0; i < result.size(); ++i)
            EXPECT_FLOAT_EQ(result[i], expected[i]) << i;
    }
}

TEST_F(TfliteRaise, KernelsOfFloatsComputeWhatThoseOfIntegersDoNot)
{
    load_text(kList + line("const s float - = 0.02") + line("const z int8 - = 3") +
              line("QuantizeLinear x s z -> q") + line("DequantizeLinear q s z -> f") +
              line("Sigmoid f -> g") + line("QuantizeLinear g s z -> p") +
              line("DequantizeLinear p s z -> y"));
    const std::vector<float> expected = run();
    const bool is_written = reload();
    if (!is_written && get_tengine_errno() == TENGINE_ENOENT)
        GTEST_SKIP() << "this build has no .tflite";
    ASSERT_TRUE(is_written) << get_tengine_error();
    EXPECT_EQ(list_operators(), "QUANTIZE DEQUANTIZE LOGISTIC QUANTIZE DEQUANTIZE");
    EXPECT_EQ(run(), expected);
}

// ---- refusals ----

TEST_F(TfliteRaise, AnErrorNamesNodeAndOperator)
{
    const std::pair<std::string, const char*> refused[] = {
        {kList + line("Erf x -> y"), "Erf"},
        {kList + line("const r float - = 0.5") + line("const t bool - = 1") +
             line("Dropout x r t -> y"),
         "it trains: it has no form in TensorFlow Lite"},
        {line("in x float 2,3,4") + line("out y m") + line("Dropout x -> y m"),
         "its result 1 is read"},
        {kList + line("Mod x x -> y : fmod=1"), "its result has the sign of the dividend"},
        {kPicture + line("const w float 2,2,3,3 = " + numbers(36)) +
             line("ConvTranspose x w -> y : dilations=2,2"),
         "TRANSPOSE_CONV has neither groups nor dilations"},
        {line("in x float 2,2") + line("out y") + line("Det x -> y"),
         "TensorFlow Lite has no such operator"},
        {kList + line("ReduceMax x -> t : keepdims=0") + line("Cast t -> m : to=7") +
             line("const on bool - = 1") + line("Loop m on x -> z w") + line("body body") +
             line("in i int64 -") + line("in d bool -") + line("in v float 2,3,4") +
             line("Add v v -> s") + line("out d s s") + line("end") + line("Abs z -> y"),
         "known only at run time"},
        {make_layer("RNN", 1, 2, "b -> y", " direction='bidirectional' activations='Tanh','Elu'"),
         "its activations are not all"},
        {make_layer("RNN", 1, 1, "b l -> y", "", "3 2"), "sequence_lens is not the constant 3"},
    };
    for (const auto& [text, message] : refused) {
        unload();
        load_text(text);
        EXPECT_LT(save_graph(graph_, "tflite", path_.c_str()), 0) << message;
        if (get_tengine_errno() == TENGINE_ENOENT) GTEST_SKIP() << get_tengine_error();
        EXPECT_EQ(get_tengine_errno(), TENGINE_EOPERATOR) << get_tengine_error();
        EXPECT_THAT(get_tengine_error(), testing::HasSubstr(message));
        EXPECT_FALSE(std::filesystem::exists(path_));
    }
}

}  // namespace
}  // namespace tengine::test
