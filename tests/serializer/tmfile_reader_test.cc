// SPDX-License-Identifier: Apache-2.0
// Loading of tmfiles: the annotated example of the format's description, old records, names,
// quantisation, values, several subgraphs, and the sample files.
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/log.h"
#include "operator/affinity.h"
#include "operator/operator.h"
#include "serializer/own_tmfile.h"
#include "serializer/tmfile_model.h"

namespace tengine::test {
namespace {

using TmfileReaderTest = TmfileTest;

// x[1,2,2,2] → 1×1 convolution, weights 2 and -1, bias 0.5 → leaky ReLU 0.5 → y; 904 bytes. "*n" is
// n zero bytes.
constexpr const char* kExample =
    "02 *7 78 03 *2 77 *3 02 *3 0c *3 01 *7 01 *3 04 *15 18 *3 20 *3 10 *11 62 *3 02 *3 48 *3 "
    "01 *3 01 *3 01 *3 04 *7 01 *7 54 *3 5c *3 4c *11 78 *3 02 *3 84 *3 01 *3 02 *3 01 *3 0c "
    "*7 02 *7 90 *3 98 *3 88 *11 63 6f 6e 76 *4 05 *3 c0 *3 03 *3 02 *7 01 *3 01 *3 03 *3 01 "
    "*3 01 *3 01 *3 01 *3 01 *3 01 *3 02 *3 01 *3 01 *3 ff ff ff ff *16 01 *3 05 *3 e8 *3 03 "
    "*3 d0 *3 e0 *3 20 01 *2 c8 *11 72 65 6c 75 *4 05 *3 48 01 *2 01 *3 03 *3 01 *3 04 *6 3f "
    "01 *3 14 *3 68 01 *2 04 *3 58 01 *2 60 01 *2 6c 01 *2 50 01 *10 05 *3 2c *3 68 *3 a4 *3 "
    "2c 01 *2 78 01 *2 77 *3 02 *3 ac 01 *2 04 *3 01 *3 02 *3 01 *3 01 *11 b8 01 *2 b0 01 *10 "
    "02 *7 62 *3 02 *3 ec 01 *2 01 *3 01 *3 01 *3 01 *3 f8 01 *2 f0 01 *10 02 *7 78 *3 02 *3 "
    "20 02 *2 04 *3 01 *3 02 *3 02 *3 02 *3 03 *5 80 3e *4 01 *3 40 02 *2 02 *7 2c 02 *2 24 02 "
    "*2 4c 02 *6 03 *7 63 6f 6e 76 *4 05 *3 74 02 *2 04 *3 01 *3 01 *3 02 *3 02 *3 03 *7 84 02 "
    "*2 7c 02 *10 01 *7 79 *3 02 *3 b8 02 *2 04 *3 01 *3 01 *3 02 *3 02 *3 04 *7 c4 02 *2 bc "
    "02 *10 01 *7 05 *3 cc 01 *3 02 *2 54 02 *2 98 02 *2 d8 02 *5 40 *2 80 bf 08 *3 10 03 *5 "
    "3f 04 *3 20 03 *2 02 *3 18 03 *2 24 03 *2 01 *3 02 *3 01 *3 04 *15 38 03 *2 40 03 *2 94 "
    "01 *2 f8 02 *2 2c 03 *10 01 *3 48 03 *2 03 *7 70 03 *6";

std::string decode(const char* text)
{
    std::istringstream stream(text);
    std::string bytes;
    for (std::string token; stream >> token;) {
        if (token[0] == '*')
            bytes.append(std::stoul(token.substr(1)), '\0');
        else
            bytes += static_cast<char>(std::stoul(token, nullptr, 16));
    }
    return bytes;
}

std::vector<float> values_of(const struct tensor* tensor)
{
    return {tensor->f32, tensor->f32 + tensor->elem_num};
}

std::vector<int> dims_of(const struct tensor* tensor)
{
    return {tensor->dims, tensor->dims + tensor->dim_num};
}

TEST_F(TmfileReaderTest, ExampleOfTheSpecification)
{
    const std::string bytes = decode(kExample);
    ASSERT_EQ(bytes.size(), 904u);
    const LoadedTmfile loaded(bytes);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    const struct graph* graph = loaded.graph;
    ASSERT_EQ(graph->node_num, 5);
    ASSERT_EQ(graph->tensor_num, 5);
    EXPECT_EQ(graph->model_format, 3);
    const struct node* conv = loaded.node("conv");
    ASSERT_NE(conv, nullptr);
    EXPECT_EQ(conv->op.method->tengine->id, 5);
    EXPECT_EQ(get_ir_node_int(conv, "input_channel", 0), 2);
    EXPECT_EQ(get_ir_node_int(conv, "output_channel", 0), 1);
    EXPECT_EQ(get_ir_node_int(conv, "activation", 0), -1);
    EXPECT_EQ(get_ir_node_int(conv, "pad_w1", 7), 0);
    EXPECT_EQ(std::vector<int32_t>(conv->input_tensors, conv->input_tensors + conv->input_num),
              (std::vector<int32_t>{2, 0, 1}));
    const struct node* relu = loaded.node("relu");
    EXPECT_EQ(get_ir_node_float(relu, "negative_slope", 0), 0.5f);
    EXPECT_EQ(relu->node_type, TE_NODE_TYPE_OUTPUT);
    EXPECT_EQ(values_of(loaded.tensor("w")), (std::vector<float>{2, -1}));
    EXPECT_EQ(values_of(loaded.tensor("b")), (std::vector<float>{0.5f}));
    EXPECT_EQ(dims_of(loaded.tensor("w")), (std::vector<int>{1, 2, 1, 1}));
    const struct tensor* x = loaded.tensor("x");
    EXPECT_EQ(x->tensor_type, TENSOR_TYPE_INPUT);
    EXPECT_EQ(x->quant_param_num, 1);
    EXPECT_EQ(x->scale, 0.25f);
    EXPECT_EQ(x->zero_point, 3);
    ASSERT_EQ(graph->input_tensor_num, 1);
    EXPECT_EQ(graph->input_tensors[0], x->index);
    ASSERT_EQ(graph->output_tensor_num, 1);
    EXPECT_EQ(graph->output_tensors[0], loaded.tensor("y")->index);
}

// ---- records as they were ----

TEST_F(TmfileReaderTest, ShortRecordsKeepDefaults)
{
    const LoadedTmfile eltwise(single_model(9, {2, 1}));
    ASSERT_EQ(eltwise.status, 0) << eltwise.message;
    EXPECT_EQ(get_ir_node_int(eltwise.node("y"), "type", 0), 2);
    EXPECT_EQ(get_ir_node_int(eltwise.node("y"), "caffe_flavor", 0), 1);
    EXPECT_EQ(get_ir_node_float(eltwise.node("y"), "power", 7), 1);
    EXPECT_EQ(get_ir_node_float(eltwise.node("y"), "scale", 7), 1);

    RawModel model = single_model(23, {0, 0, 0});
    model.nodes[1].vectors[2] = {1, 0xffffffff};
    model.nodes[1].version = 2;  // the original wrote the operator's version into is_onnx
    const LoadedTmfile reshape(model);
    ASSERT_EQ(reshape.status, 0) << reshape.message;
    EXPECT_EQ(get_ir_node_int(reshape.node("y"), "is_onnx", 7), 0);
    int number;
    const int64_t* shape = get_ir_node_ints(reshape.node("y"), "re_shape", &number);
    ASSERT_EQ(number, 2);
    EXPECT_EQ(shape[0], 1);
    EXPECT_EQ(shape[1], -1);

    const LoadedTmfile slice(single_model(27, {1, 0, 0, 0, 0, 0, 1, 2, 9}));
    ASSERT_EQ(slice.status, 0) << slice.message;
    EXPECT_EQ(get_ir_node_int(slice.node("y"), "end", 0), 9);
    EXPECT_EQ(get_ir_node_int(slice.node("y"), "step", 7), 1);
}

TEST_F(TmfileReaderTest, RecordBehindItsOperatorIsWhole)
{
    // The operator record precedes: the distance has no meaning, the present size counts.
    std::string bytes = decode(kExample);
    std::string moved(4, '\0');
    std::memcpy(moved.data(), bytes.data() + 360, 4);
    const uint32_t place = static_cast<uint32_t>(bytes.size());
    bytes += moved;
    std::memcpy(bytes.data() + 364 + 8, &place, 4);
    const LoadedTmfile loaded(bytes);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    EXPECT_EQ(get_ir_node_float(loaded.node("relu"), "negative_slope", 0), 0.5f);
}

TEST_F(TmfileReaderTest, NumbersThatMeantOtherOperators)
{
    const struct
    {
        uint32_t number;
        Words param;
        int id;
    } cases[] = {
        {88, {}, 91},  {88, {0}, 88}, {89, {0, 1}, 89}, {90, {}, 90},
        {90, {0}, 88}, {91, {}, 91},  {92, {}, 91},     {92, {0, 0}, 92},
    };
    for (const auto& each : cases) {
        const LoadedTmfile loaded(single_model(each.number, each.param));
        ASSERT_EQ(loaded.status, 0) << each.number << ": " << loaded.message;
        EXPECT_EQ(loaded.node("y")->op.method->tengine->id, each.id)
            << each.number << " with " << each.param.size();
    }
}

TEST_F(TmfileReaderTest, ReshapeOfTheFirstVersion)
{
    const uint32_t minus_one = 0xffffffff, minus_two = 0xfffffffe;
    const LoadedTmfile loaded(single_model(23, {1, minus_one, 8, minus_two, 3, 0}));
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    int number;
    const int64_t* shape = get_ir_node_ints(loaded.node("y"), "re_shape", &number);
    ASSERT_EQ(std::vector<int64_t>(shape, shape + number), (std::vector<int64_t>{1, -1, 8}));
    EXPECT_EQ(get_ir_node_int(loaded.node("y"), "is_mxnet", 7), 0);
}

TEST_F(TmfileReaderTest, SubgraphWithoutParts)
{
    RawModel model = single_model(21, {});
    model.is_old = true;
    const LoadedTmfile loaded(model);
    EXPECT_EQ(loaded.status, 0) << loaded.message;
}

TEST_F(TmfileReaderTest, UnknownOperators)
{
    expect_failure(LoadedTmfile(single_model(104, {})), TENGINE_EOPERATOR, {"'y'", "104"});
    expect_failure(LoadedTmfile(single_model(70000, {})), TENGINE_EOPERATOR, {"node 1", "70000"});
}

// ---- names, order, shapes ----

TEST_F(TmfileReaderTest, NamesAreMadeUnique)
{
    RawModel model;
    model.add_input("x", {1, 2});
    for (const char* name : {"", "same", "same", "same_2"})
        model.add_node(name, 21, {static_cast<uint32_t>(model.tensors.size() - 1)});
    const LoadedTmfile loaded(model);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    std::vector<std::string> nodes, tensors;
    for (int i = 0; i < 5; ++i) {
        nodes.push_back(loaded.graph->node_list[i]->name);
        tensors.push_back(loaded.graph->tensor_list[i]->name);
    }
    EXPECT_EQ(nodes, (std::vector<std::string>{"x", "node_1", "same", "same_3", "same_2"}));
    EXPECT_EQ(tensors, (std::vector<std::string>{"x", "tensor_1", "same", "same_3", "same_2"}));
}

TEST_F(TmfileReaderTest, NodesInAnyOrder)
{
    RawModel model;
    model.add_input("x", {1, 2});
    model.add_node("last", 21, {2});
    model.add_node("first", 21, {0});
    model.outputs = {1};
    const LoadedTmfile loaded(model);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    EXPECT_LT(loaded.node("first")->index, loaded.node("last")->index);
    EXPECT_EQ(loaded.graph->output_nodes[0], loaded.node("last")->index);
}

TEST_F(TmfileReaderTest, ShapesThatAreNotThere)
{
    RawModel model;
    model.add_input("x", {});
    model.tensors[0].has_dims = false;
    model.add_constant("scalar", {}, {3});
    model.tensors[1].has_dims = false;
    model.add_constant("list", {}, {1, 2, 3});
    model.tensors[2].has_dims = false;
    model.add_node("y", 21, {0});
    const LoadedTmfile loaded(model);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    EXPECT_FALSE(loaded.tensor("x")->shape_set);
    EXPECT_TRUE(loaded.tensor("scalar")->shape_set);
    EXPECT_EQ(loaded.tensor("scalar")->dim_num, 0);
    EXPECT_EQ(dims_of(loaded.tensor("list")), (std::vector<int>{3}));
}

TEST_F(TmfileReaderTest, QuantisationPerChannel)
{
    RawModel model = single_model(21, {});
    model.tensors[0].quantisation = {{0.5f, 1}, {0.25f, -3}};
    const LoadedTmfile loaded(model);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    const struct tensor* x = loaded.tensor("x");
    ASSERT_EQ(x->quant_param_num, 2);
    EXPECT_EQ(x->quant_axis, 0);
    EXPECT_EQ(x->scale_list[1], 0.25f);
    EXPECT_EQ(x->zp_list[1], -3);
}

// ---- values ----

TEST_F(TmfileReaderTest, ValuesAreUsedWhereTheyLie)
{
    RawModel model = single_model(21, {});
    const std::vector<float> values(17, 2.5f);
    model.add_constant("w", {17}, values);
    model.outputs = {1};
    const LoadedTmfile in_place(model);
    ASSERT_EQ(in_place.status, 0) << in_place.message;
    EXPECT_FALSE(in_place.tensor("w")->free_host_mem);
    model.buffer_shift = 1;
    const LoadedTmfile copied(model);
    ASSERT_EQ(copied.status, 0) << copied.message;
    EXPECT_TRUE(copied.tensor("w")->free_host_mem);
    EXPECT_EQ(values_of(copied.tensor("w")), values);
}

// Lists like the scales of an Interp; OnnxViewTest has other types.
TEST_F(TmfileReaderTest, ShortListsAreCopied)
{
    RawModel model = single_model(21, {});
    model.add_constant("w", {2}, {1, 2});
    model.outputs = {1};
    const LoadedTmfile loaded(model);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    EXPECT_TRUE(loaded.tensor("w")->free_host_mem);
    EXPECT_EQ(values_of(loaded.tensor("w")), (std::vector<float>{1, 2}));
}

std::string warning;

TEST_F(TmfileReaderTest, MissingValuesAreZeroAndWarnedOfOnce)
{
    RawModel model = single_model(21, {});
    model.add_constant("v", {1000, 1000, 100}, {});
    model.add_constant("w", {3}, {});
    model.missing = {{0, 400000000}, {1, 12}};
    model.outputs = {1};
    warning.clear();
    set_log_sink([](const char* line) { warning += line; });
    const LoadedTmfile loaded(model);
    set_log_sink(nullptr);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    EXPECT_EQ(warning,
              "a model in memory has no values for 2 of its constants; they are set to zero");
    struct tensor* v = loaded.tensor("v");
    EXPECT_EQ(v->f32[v->elem_num - 1], 0);
    EXPECT_EQ(values_of(loaded.tensor("w")), (std::vector<float>{0, 0, 0}));
    v->f32[v->elem_num - 1] = 5;  // as in programs that fill them
    EXPECT_EQ(values_of(loaded.tensor("w")), (std::vector<float>{0, 0, 0}));
}

TEST_F(TmfileReaderTest, TheWarningOfMissingValuesNamesTheFile)
{
    RawModel model = single_model(21, {});
    model.add_constant("w", {3}, {});
    model.missing = {{0, 12}};
    model.outputs = {1};
    const std::string path =
        testing::TempDir() + "without_values_" + std::to_string(getpid()) + ".tmfile";
    std::ofstream(path, std::ios::binary) << model.encode();
    warning.clear();
    set_log_sink([](const char* line) { warning += line; });
    const LoadedTmfile loaded{std::filesystem::path(path)};
    set_log_sink(nullptr);
    EXPECT_EQ(warning, "'" + path + "' has no values for 1 of its constants; they are set to zero");
    std::filesystem::remove(path);
}

TEST_F(TmfileReaderTest, MissingValuesAreBounded)
{
    RawModel model = single_model(21, {});
    for (const char* name : {"u", "v"})
        model.add_constant(name, {1 << 15, 1 << 13, 1}, {});
    model.missing = {{0, 1u << 30}, {1, 1u << 30}};
    model.outputs = {1};
    expect_failure(LoadedTmfile(model), TENGINE_ELIMIT, {"2 constants", "2 GiB"});
}

// ---- several subgraphs ----

TEST_F(TmfileReaderTest, PartsBecomeAffinities)
{
    RawModel model = single_model(21, {});
    model.add_node("z", 21, {1});
    model.parts = {{{1}, {0}, {1}, "CPU"}, {{2}, {1}, {2}, "NPU"}};
    warning.clear();
    set_log_sink([](const char* line) { warning += line; });
    const LoadedTmfile loaded(model);
    set_log_sink(nullptr);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    EXPECT_NE(warning.find("'NPU'"), std::string::npos);
    EXPECT_EQ(warning.find("'NPU'"), warning.rfind("'NPU'")) << "once: " << warning;
    const auto affinity = [&](const char* name) {
        return find_ir_node_affinity(loaded.graph, loaded.node(name), nullptr);
    };
    ASSERT_NE(affinity("y"), nullptr);
    EXPECT_STREQ(affinity("y"), "CPU");
    EXPECT_EQ(affinity("z"), nullptr);
    model.parts[0].nodes = {9};
    expect_failure(LoadedTmfile(model), TENGINE_EFORMAT, {"part 0", "9"});
    model.parts[0].nodes = {1};
    model.parts[0].output_tensors = {9};
    expect_failure(LoadedTmfile(model), TENGINE_EFORMAT, {"part 0", "tensors"});
}

// ---- whole files ----

struct Sample
{
    const char* file;
    int nodes;
    int tensors;
    int constants;
    std::map<int, int> operators;  // operator number in files: count
};

std::ostream& operator<<(std::ostream& stream, const Sample& sample)
{
    return stream << sample.file;
}

void expect_counts(const LoadedTmfile& loaded, const Sample& sample)
{
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    EXPECT_EQ(loaded.graph->node_num, sample.nodes);
    EXPECT_EQ(loaded.graph->tensor_num, sample.tensors);
    std::map<int, int> operators;
    for (int i = 0; i < loaded.graph->node_num; ++i)
        operators[loaded.graph->node_list[i]->op.method->tengine->id]++;
    EXPECT_EQ(operators[4], sample.constants);
    EXPECT_EQ(operators[12], loaded.graph->input_num);
    operators.erase(4);
    operators.erase(12);
    EXPECT_EQ(operators, sample.operators);
}

// Batch normalisation is merged into the convolutions.
TEST_F(TmfileReaderTest, DigitsHaveTenginesOperators)
{
    expect_counts(
        LoadedTmfile(make_own_tmfile("digits")),
        {"digits", 25, 25, 12, {{5, 5}, {9, 1}, {10, 1}, {11, 1}, {16, 2}, {20, 1}, {28, 1}}});
}

class TmfileSampleTest : public TmfileTest, public testing::WithParamInterface<Sample>
{
};

TEST_P(TmfileSampleTest, HasWhatTheSpecificationCounts)
{
    const auto file = find_sample(GetParam().file);
    if (file.empty()) GTEST_SKIP() << "files of ../shared/data/tmfile are missing";
    expect_counts(LoadedTmfile(file), GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Files, TmfileSampleTest,
    testing::Values(
        Sample{"googlenet_benchmark.tmfile",
               202,
               202,
               116,
               {{5, 57}, {16, 14}, {13, 2}, {3, 9}, {8, 1}, {11, 1}, {28, 1}}},
        Sample{"inception_v3_benchmark.tmfile",
               313,
               313,
               190,
               {{5, 94}, {16, 14}, {3, 11}, {8, 1}, {11, 1}, {28, 1}}},
        Sample{"mobilenet_benchmark.tmfile", 86, 86, 56, {{5, 28}, {16, 1}}},
        Sample{"mssd_benchmark.tmfile",
               179,
               179,
               94,
               {{5, 47}, {15, 12}, {10, 13}, {3, 3}, {23, 1}, {28, 1}, {18, 6}, {7, 1}}},
        Sample{"resnet50_benchmark.tmfile",
               198,
               198,
               108,
               {{5, 53}, {16, 2}, {9, 16}, {20, 16}, {11, 1}, {28, 1}}},
        Sample{"squeezenet_v1.1_benchmark.tmfile",
               93,
               93,
               52,
               {{5, 26}, {16, 4}, {3, 8}, {8, 1}, {28, 1}}},
        Sample{"vgg16_benchmark.tmfile",
               59,
               59,
               32,
               {{5, 13}, {16, 5}, {11, 3}, {20, 2}, {8, 2}, {28, 1}}},
        Sample{"mnist.tmfile", 20, 20, 11, {{5, 3}, {16, 1}, {23, 1}, {11, 2}, {20, 1}}}));

}  // namespace
}  // namespace tengine::test
