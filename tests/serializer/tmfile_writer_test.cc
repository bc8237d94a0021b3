// SPDX-License-Identifier: Apache-2.0
// A graph, its tmfile, and the graph loaded from it are equal, field by field; and the layout of
// the file.
#include <unistd.h>

#include <cstring>
#include <random>

#include "graph/graph.h"
#include "operator/param.h"
#include "operator/registry.h"
#include "optimizer/optimizer.h"
#include "serializer/own_tmfile.h"
#include "serializer/synthetic_graph.h"
#include "serializer/tmfile/format.h"
#include "serializer/tmfile/tmfile.h"
#include "serializer/tmfile_model.h"
#include "support/ir_builder.h"
#include "tengine/device.h"

namespace tengine::test {
namespace {

using TmfileWriterTest = TmfileTest;

void expect_round_trip(const struct graph* graph)
{
    const std::string bytes = write_graph(graph);
    const LoadedTmfile again(bytes);
    ASSERT_EQ(again.status, 0) << again.message;
    EXPECT_EQ(describe_graph(again.graph), describe_graph(graph));
    EXPECT_TRUE(write_graph(again.graph) == bytes) << "the second file differs";
}

uint32_t word_at(const std::string& bytes, size_t place)
{
    uint32_t value;
    std::memcpy(&value, bytes.data() + place, sizeof(value));
    return value;
}

TEST_F(TmfileWriterTest, SampleFiles)
{
    if (find_sample("mnist.tmfile").empty())
        GTEST_SKIP() << "files of ../shared/data/tmfile are missing";
    for (const std::string& name : sample_names()) {
        SCOPED_TRACE(name);
        const LoadedTmfile loaded(find_sample(name));
        ASSERT_EQ(loaded.status, 0) << loaded.message;
        expect_round_trip(loaded.graph);
        // Missing weights stay missing.
        EXPECT_LT(write_graph(loaded.graph).size(), 2 * read_bytes(find_sample(name)).size());
    }
}

// A file of the library is identical when it is loaded and saved again.
TEST_F(TmfileWriterTest, OwnFiles)
{
    for (const std::string& name : own_tmfile_names()) {
        SCOPED_TRACE(name);
        const std::string bytes = make_own_tmfile(name);
        const LoadedTmfile loaded(bytes);
        ASSERT_EQ(loaded.status, 0) << loaded.message;
        expect_round_trip(loaded.graph);
        EXPECT_TRUE(write_graph(loaded.graph) == bytes) << "the second file differs";
    }
}

// ---- every operator ----

TEST_F(TmfileWriterTest, EveryOperatorWithAnyParameters)
{
    std::mt19937 random(20261122);
    const std::vector<const ir_method_t*> operators = list_written_operators();
    for (const ir_method_t* method : operators) {
        SCOPED_TRACE(method->name);
        for (int round = 0; round < 20; ++round) {
            SyntheticGraph made;
            struct node* input = made.add_input();
            struct node* node =
                made.add("y", get_op_type("tengine", method->name), {get_ir_node_output(input, 0)});
            ASSERT_EQ(set_random_fields(node, random), 0) << tengine_error_message();
            made.set_borders(input, node);
            expect_round_trip(made.graph);
        }
    }
    std::printf("round trips of %zu operators\n", operators.size());
    EXPECT_GT(operators.size(), 90u);
}

// The fields of a row do not overlap, and none is beyond its record.
TEST_F(TmfileWriterTest, FieldsOfEveryRecordHaveTheirPlace)
{
    for (int i = 0; i < get_op_method_count(); ++i) {
        const ir_method_t* method = find_op_method_via_index(i);
        if (!method->tengine) continue;
        std::vector<bool> taken(method->tengine->size);
        for (int k = 0; k < method->field_num; ++k) {
            const op_field_t& field = method->fields[k];
            if (field.file_kind == OP_FILE_NOT) continue;
            const bool is_strided = field.file_kind == OP_FILE_STRIDED;
            const size_t width = field.file_kind == OP_FILE_BYTE ? 1 : 4;
            for (size_t word = 0; word < (is_strided ? 4 : 1); ++word)
                for (size_t byte = 0; byte < width; ++byte) {
                    const size_t place = field.file_offset + word * OP_FILE_STRIDE + byte;
                    ASSERT_LT(place, taken.size()) << method->name << '.' << field.name;
                    EXPECT_FALSE(taken[place]) << method->name << '.' << field.name;
                    taken[place] = true;
                }
        }
    }
}

// ---- tensors ----

TEST_F(TmfileWriterTest, TensorsOfAllKinds)
{
    SyntheticGraph made;
    struct node* input = made.add_input();
    for (int type = TENGINE_DT_FP32; type <= TENGINE_DT_UINT64; ++type)
        made.add_constant(("c" + std::to_string(type)).c_str(), {2, 3}, type);
    made.add_constant("scalar", {}, TENGINE_DT_FP32);
    made.add_constant("empty", {0, 4}, TENGINE_DT_FP32);
    struct tensor* scales = made.add_constant("scales", {3, 2}, TENGINE_DT_INT8);
    const float scale[] = {0.5f, 0.25f, 0.125f};
    const int zero_points[] = {0, 0, -1};
    ASSERT_EQ(set_ir_tensor_quantization_parameter(scales, scale, zero_points, 3), 0);
    struct node* node = made.add("y", get_op_type("tengine", "ReLU"), {});
    ASSERT_EQ(set_ir_node_input_tensor(node, 0, get_ir_node_output(input, 0)), 0);
    ASSERT_EQ(
        set_ir_tensor_quantization_parameter(get_ir_node_output(node, 0), scale, zero_points, 1),
        0);
    made.set_borders(input, node);
    made.graph->model_format = 6;
    expect_round_trip(made.graph);
    scales->quant_axis = 1;
    Vector<char> bytes;
    EXPECT_EQ(encode_tmfile(made.graph, &bytes), TENGINE_ENOTSUP);
}

TEST_F(TmfileWriterTest, ConstantsAreAlignedInTheFile)
{
    SyntheticGraph made;
    struct node* input = made.add_input();
    for (const char* name : {"a", "b", "c"})
        made.add_constant(name, {5}, TENGINE_DT_INT8);
    struct node* node = made.add("y", get_op_type("tengine", "ReLU"), {});
    ASSERT_EQ(set_ir_node_input_tensor(node, 0, get_ir_node_output(input, 0)), 0);
    made.set_borders(input, node);
    const std::string bytes = write_graph(made.graph);
    // Header, root, list of subgraphs, subgraph: the offsets of the format's description.
    EXPECT_EQ(word_at(bytes, 0), 2u);
    EXPECT_EQ(word_at(bytes, 4), 0u);
    const uint32_t root = word_at(bytes, 8);
    EXPECT_EQ(root + 16, bytes.size());
    const uint32_t subgraph = word_at(bytes, word_at(bytes, root + 8) + 4);
    EXPECT_EQ(word_at(bytes, subgraph + 36), 0u);
    const uint32_t buffers = word_at(bytes, subgraph + 28);
    ASSERT_EQ(word_at(bytes, buffers), 3u);
    for (uint32_t i = 0; i < 3; ++i) {
        const uint32_t buffer = word_at(bytes, buffers + 4 + 4 * i);
        EXPECT_EQ(word_at(bytes, buffer), 5u);
        EXPECT_EQ(word_at(bytes, buffer + 4) % 64, 0u);
    }
}

TEST_F(TmfileWriterTest, ParameterRecordIsRightBeforeItsOperator)
{
    SyntheticGraph made;
    struct node* input = made.add_input();
    struct node* node =
        made.add("y", get_op_type("tengine", "Reshape"), {get_ir_node_output(input, 0)});
    const int64_t shape[] = {1, -1};
    ASSERT_EQ(set_node_ints(node, "re_shape", shape, 2), 0);
    made.set_borders(input, node);
    const std::string bytes = write_graph(made.graph);
    const uint32_t subgraph = word_at(bytes, word_at(bytes, word_at(bytes, 8) + 8) + 4);
    const uint32_t record = word_at(bytes, word_at(bytes, subgraph + 20) + 8);
    const uint32_t op = word_at(bytes, record + 12);
    EXPECT_EQ(word_at(bytes, op), 1u);
    EXPECT_EQ(word_at(bytes, op + 4), 23u);
    EXPECT_EQ(word_at(bytes, op + 8) + 16, op);
}

// The number of a node's operator and the words of its parameter record.
struct OperatorInFile
{
    uint32_t type;
    Words param;
};

std::vector<OperatorInFile> read_operators(const std::string& bytes)
{
    const uint32_t subgraph = word_at(bytes, word_at(bytes, word_at(bytes, 8) + 8) + 4);
    const uint32_t nodes = word_at(bytes, subgraph + 20);
    std::vector<OperatorInFile> operators;
    for (uint32_t i = 0; i < word_at(bytes, nodes); ++i) {
        const uint32_t op = word_at(bytes, word_at(bytes, nodes + 4 + 4 * i) + 12);
        operators.push_back({word_at(bytes, op + 4), {}});
        if (const uint32_t param = word_at(bytes, op + 8); param != 0)
            for (uint32_t place = param; place < op; place += 4)
                operators.back().param.push_back(word_at(bytes, place));
    }
    return operators;
}

// An ONNX model of Conv, the clamp (inputs c, zero, six) and Neg, as the library saves it; the
// numbers are those of the format's description.
struct ClampInFile
{
    const char* op;
    std::vector<std::string> inputs;
    uint32_t activation;  // word 9 of Convolution's record
    uint32_t type;        // of the clamp's own node; 0: there is none
};

TEST_F(TmfileWriterTest, TheActivationOfAConvolutionIsItsField)
{
    constexpr uint32_t kConvolution = 5, kUnary = 59, kReLU1 = 100, kNone = 0xffffffff;
    for (const ClampInFile& clamp :
         {ClampInFile{"Relu", {"c"}, 0, 0}, ClampInFile{"Clip", {"c", "zero", "six"}, 6, 0},
          ClampInFile{"Clip", {"c", "minus", "one"}, kNone, kReLU1},
          ClampInFile{"Identity", {"c"}, kNone, 0}}) {
        SCOPED_TRACE(clamp.op);
        IrBuilder builder;
        builder.input("x", {1, 1, 1, 9});
        builder.floats("w", {1, 1, 1, 1}, {2});
        for (const auto& [name, value] : std::vector<std::pair<std::string, float>>{
                 {"zero", 0.f}, {"six", 6.f}, {"minus", -1.f}, {"one", 1.f}})
            builder.floats(name, {}, {value});
        builder.add("Conv", {"x", "w"}, {"c"});
        builder.add(clamp.op, clamp.inputs, {"a"});
        builder.add("Neg", {"a"}, {"y"});
        builder.outputs({"y"});
        struct graph* saved = nullptr;
        ASSERT_EQ(create_saved_graph(builder.get(), "tengine", &saved), 0)
            << tengine_error_message();
        const std::string bytes = write_graph(saved);
        destroy_ir_graph(saved);
        std::vector<uint32_t> types;
        for (const OperatorInFile& op : read_operators(bytes)) {
            if (op.type != 4 && op.type != 12) types.push_back(op.type);  // Const, InputOp
            if (op.type != kConvolution) continue;
            ASSERT_EQ(op.param.size(), 14u);
            EXPECT_EQ(op.param[9], clamp.activation);
        }
        const std::vector<uint32_t> expected =
            clamp.type != 0 ? std::vector<uint32_t>{kConvolution, clamp.type, kUnary}
                            : std::vector<uint32_t>{kConvolution, kUnary};
        EXPECT_EQ(types, expected);
        const LoadedTmfile again(bytes);
        ASSERT_EQ(again.status, 0) << again.message;
        EXPECT_TRUE(write_graph(again.graph) == bytes) << "the second file differs";
    }
}

// ---- files ----

TEST_F(TmfileWriterTest, FileIsWhatTheBytesAre)
{
    SyntheticGraph made;
    struct node* input = made.add_input();
    struct node* node =
        made.add("y", get_op_type("tengine", "ReLU"), {get_ir_node_output(input, 0)});
    made.set_borders(input, node);
    const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                       ("tmfile_writer_" + std::to_string(getpid()) + ".tmfile");
    ASSERT_EQ(save_tmfile(made.graph, path.c_str()), 0) << tengine_error_message();
    EXPECT_EQ(read_bytes(path), write_graph(made.graph));
    // Saved over the file that it was loaded from, which stays mapped.
    {
        const LoadedTmfile loaded(path);
        ASSERT_EQ(loaded.status, 0) << loaded.message;
        EXPECT_EQ(save_tmfile(loaded.graph, path.c_str()), 0) << tengine_error_message();
        EXPECT_EQ(describe_graph(loaded.graph), describe_graph(made.graph));
    }
    std::filesystem::remove(path);
    EXPECT_EQ(save_tmfile(made.graph, "/nowhere/at/all.tmfile"), TENGINE_EIO);
}

TEST_F(TmfileWriterTest, GraphsThatCannotBeWritten)
{
    SyntheticGraph made;
    struct node* input = made.add_input();
    Vector<char> bytes;
    EXPECT_EQ(encode_tmfile(made.graph, &bytes), TENGINE_EGRAPH);
    struct node* node =
        made.add("y", get_op_type("tengine", "Reshape"), {get_ir_node_output(input, 0)});
    made.set_borders(input, node);
    const int64_t large[] = {int64_t{1} << 40};
    ASSERT_EQ(set_node_ints(node, "re_shape", large, 1), 0);
    EXPECT_EQ(encode_tmfile(made.graph, &bytes), TENGINE_ERANGE);
    EXPECT_NE(std::strstr(tengine_error_message(), "1099511627776"), nullptr);
}

}  // namespace
}  // namespace tengine::test
