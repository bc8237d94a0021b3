// SPDX-License-Identifier: Apache-2.0
// Writing of .tflite from graphs that were read from one: the file again.
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "operator/operator.h"
#include "operator/registry.h"
#include "serializer/tflite/model_test.h"
#include "serializer/tflite/model_text.h"

namespace tengine::test {
namespace {

constexpr int kAdd = 0, kConv = 3, kRelu = 19, kCustom = 32, kLess = 58, kDensify = 124, kIf = 118,
              kWhile = 119, kFullyConnected = 9;

class TfliteWriterTest : public TfliteModelTest
{
  protected:
    void TearDown() override
    {
        TfliteModelTest::TearDown();
        std::filesystem::remove(path_);
    }

    // The bytes of the file that the graph becomes; "" after a failure.
    std::string save()
    {
        if (save_graph(graph_, "tflite", path_.c_str()) < 0) return "";
        std::ifstream file(path_, std::ios::binary);
        std::stringstream bytes;
        bytes << file.rdbuf();
        return bytes.str();
    }

    // Reading and writing give the same model, twice.
    void expect_same(const TfliteModel& model)
    {
        const std::string expected = encode_tflite(model);
        ASSERT_TRUE(load(model)) << get_tengine_error();
        const std::string written = save();
        EXPECT_EQ(print_tflite(written), print_tflite(expected)) << get_tengine_error();
        unload();
        graph_ = tengine_graph_load(nullptr, "tflite", written.data(), written.size());
        ASSERT_TRUE(graph_) << get_tengine_error();
        EXPECT_EQ(print_tflite(save()), print_tflite(expected));
    }

    const std::string path_ =
        testing::TempDir() + "written_" + std::to_string(getpid()) + ".tflite";
};

TfliteTensor constant(const char* name, std::vector<int32_t> shape, std::vector<float> values)
{
    return {name, std::move(shape), kTfliteFloat, bytes_of(values)};
}

// x → CONV_2D with RELU → RELU → y
TfliteModel make_conv()
{
    TfliteModel model;
    model.tensors = {{"x", {1, 3, 3, 1}},
                     constant("w", {1, 2, 2, 1}, {1, 2, 3, 4}),
                     constant("b", {1}, {-20}),
                     {"c", {1, 3, 3, 1}},
                     {"y", {1, 3, 3, 1}}};
    model.operators = {
        {kConv, {0, 1, 2}, {3}, {{1, 4, 2}, {2, 4, 1}, {3, 1, 1}, {4, 4, 1}, {5, 4, 3}}},
        {kRelu, {3}, {4}}};
    model.inputs = {0};
    model.outputs = {4};
    return model;
}

TEST_F(TfliteWriterTest, OperatorsTensorsAndConstantsAreThoseOfTheFile)
{
    expect_same(make_conv());
}

// As in files above 2 GB, whose tables have 31 bits for places.
TEST_F(TfliteWriterTest, ConstantsBehindTheTablesStayThere)
{
    TfliteModel model = make_conv();
    model.constants_trail = true;
    model.metadata = {{"note", "inside"}};
    expect_same(model);
    const std::vector<float> picture(9, 1);
    EXPECT_EQ(run(model, {bytes_of(picture)}), run(make_conv(), {bytes_of(picture)}));
    std::string bytes = encode_tflite(model);
    bytes.pop_back();
    EXPECT_FALSE(tengine_graph_load(nullptr, "tflite", bytes.data(), bytes.size()));
    EXPECT_EQ(get_tengine_errno(), TENGINE_EFORMAT);
    EXPECT_THAT(get_tengine_error(), testing::HasSubstr("bytes from byte"));
    expect_bounds(model);
}

TEST_F(TfliteWriterTest, WhatAGraphDoesNotHoldIsThatOfTheFile)
{
    TfliteModel model = make_conv();
    model.description = "made by hand";
    model.name = "entry";
    model.operators[0].version = 3;
    model.tensors[0].shape_signature = {-1, 3, 3, 1};
    model.metadata = {{"min_runtime_version", "1.5.0"}, {"of a vendor", std::string("\0\1", 2)}};
    model.named_inputs = {{0, "image"}};
    model.named_outputs = {{4, "score"}};
    expect_same(model);
    EXPECT_NE(get_ir_graph_tensor(static_cast<struct graph*>(graph_), 0), nullptr);
}

TEST_F(TfliteWriterTest, AShapeThatTheProgramSetsReplacesTheFiles)
{
    TfliteModel model = make_conv();
    model.tensors[0].shape_signature = {-1, 3, 3, 1};
    ASSERT_TRUE(load(model));
    const int batch[] = {2, 3, 3, 1}, wide[] = {1, 3, 5, 1};
    ASSERT_EQ(set_tensor_shape(tengine_graph_get_input(graph_, 0), batch, 4), 0);
    EXPECT_THAT(print_tflite(save()),
                testing::HasSubstr("shape=2,3,3,1, signature=-1,3,3,1, values"));
    ASSERT_EQ(set_tensor_shape(tengine_graph_get_input(graph_, 0), wide, 4), 0);
    EXPECT_THAT(print_tflite(save()), testing::HasSubstr("shape=1,3,5,1, values"));
}

bool has_body(const ir_method_t& row)
{
    return std::any_of(row.fields, row.fields + row.field_num,
                       [](const op_field_t& field) { return field.file_kind == OP_FILE_BODY; });
}

// As TfliteOperator::Option has them.
int bytes_of_field(const op_field_t& field)
{
    switch (field.file_kind) {
        case OP_FILE_BYTE:
            return 1;
        case OP_FILE_LONG:
            return 8;
        case OP_FILE_OFFSET:
            return 0;
        case OP_FILE_LONGS:
            return -8;
        case OP_FILE_FLAGS:
            return -1;
        default:
            return 4;
    }
}

// A subgraph of another is not kept.
TEST_F(TfliteWriterTest, BodiesAreNotWritten)
{
    TfliteModel model, body;
    model.tensors = {{"x", {2}}, {"first", {}}, {"y", {}}};
    model.inputs = {0, 1};
    model.outputs = {2};
    TfliteOperator op = {174, {0, 1}, {2}, {{0, -8, 0, {0}}, {1, 4, 1}}};
    model.operators = {op};
    body.tensors = {{"a", {}}, {"b", {}}, {"c", {}}};
    body.inputs = {0, 1};
    body.outputs = {2};
    body.operators = {{163, {0, 1}, {2}}};
    model.called = {body};
    ASSERT_TRUE(load(model)) << get_tengine_error();
    EXPECT_EQ(save(), "");
    EXPECT_STREQ(get_tengine_error(),
                 "STABLEHLO_REDUCE 'y': the body of tflite.STABLEHLO_REDUCE cannot be written");
}

// Every operator of the library, with a number of its own in each option.
TEST_F(TfliteWriterTest, EveryOptionIsThatOfTheFile)
{
    int operators = 0;
    for (int i = 0; i < get_op_method_count(); ++i) {
        const ir_method_t& row = *find_op_method_via_index(i);
        if (!row.domain || std::strcmp(row.domain, "tflite") != 0 || row.tflite_code == kCustom)
            continue;
        TfliteModel model;
        TfliteOperator op;
        op.code = row.tflite_code;
        const int inputs = row.max_input == 0 ? 0 : std::max(row.min_input, 1);
        for (int input = 0; input < inputs; ++input) {
            model.inputs.push_back(static_cast<int32_t>(model.tensors.size()));
            model.tensors.push_back({"x" + std::to_string(input), {1, 2, 2, 1}});
        }
        op.inputs = model.inputs;
        for (int output = 0; output < std::max(row.min_output, 1); ++output) {
            model.outputs.push_back(static_cast<int32_t>(model.tensors.size()));
            model.tensors.push_back({"y" + std::to_string(output), {1, 2, 2, 1}});
        }
        op.outputs = model.outputs;
        for (int f = 0; f < row.field_num; ++f) {
            const op_field_t& field = row.fields[f];
            const bool is_free = field.maximum == 0 && field.minimum == 0;
            const int number = is_free ? 3 + f
                                       : static_cast<int>(field.maximum == INT32_MAX ? 2 + f
                                                          : field.number == 0        ? field.maximum
                                                                              : field.minimum);
            const float real = 0.5f + static_cast<float>(f);
            int32_t bits = number;
            if (field.kind == OP_FIELD_FLOAT) std::memcpy(&bits, &real, sizeof bits);
            const int bytes = bytes_of_field(field);
            if (field.kind == OP_FIELD_FLOATS) std::memcpy(&bits, &real, sizeof bits);
            op.options.push_back({field.file_offset, bytes, bits, {bits, bits}});
        }
        model.operators = {op};
        SCOPED_TRACE(row.name);
        // These read resources (state_test.cc, table_test.cc).
        const std::string name = row.name;
        if (name == "READ_VARIABLE" || name == "ASSIGN_VARIABLE" || name == "HASHTABLE_FIND" ||
            name == "HASHTABLE_SIZE")
            continue;
        if (has_body(row)) continue;
        expect_same(model);
        ++operators;
    }
    EXPECT_GT(operators, 100);
}

// The call of the file, not a custom operator.
TEST_F(TfliteWriterTest, CustomCallsStayThem)
{
    TfliteModel model;
    model.tensors = {{"x", {2}}, {"y", {2}}};
    model.inputs = {0};
    model.outputs = {1};
    TfliteOperator op = {173, {0}, {1}};
    op.options = {{0, 0, 0, {}, "target"},
                  {1, 1, 1},
                  {2, 0, 0, {}, "configuration"},
                  {3, 4, 4},
                  {5, -1, 0, {1, 2, 3}}};
    model.operators = {op};
    expect_same(model);
    const std::string written = save();
    for (const char* text : {"target", "configuration", "\1\2\3"})
        EXPECT_THAT(written, testing::HasSubstr(text));
}

TEST_F(TfliteWriterTest, QuantisedTensorsHaveTheirRanges)
{
    TfliteModel model = make_conv();
    for (TfliteTensor& tensor : model.tensors) {
        tensor.type = kTfliteInt8;
        tensor.scales = {0.5f};
        tensor.zero_points = {3};
        tensor.minimum = {-1};
        tensor.maximum = {1};
    }
    model.tensors[1].values = bytes_of<int8_t>({1, 2, 3, 4});
    model.tensors[2].values = bytes_of<int32_t>({5});
    model.tensors[2].type = kTfliteInt32;
    model.tensors[2].scales = {0.25f};
    expect_same(model);
}

// ---- constants in other forms ----

// x [1, 8] times int4 weights with a scale for each row
TfliteModel make_small_weights()
{
    TfliteModel model;
    model.tensors = {{"x", {1, 8}},
                     {"w", {2, 8}, kTfliteInt4, std::string("\x21\x43\x65\x07\x98\xba\xdc\xfe")},
                     {"y", {1, 2}}};
    model.tensors[1].scales = {0.5f, 0.25f};
    model.tensors[1].zero_points = {0, 0};
    model.operators = {{kFullyConnected, {0, 1, -1}, {2}}};
    model.inputs = {0};
    model.outputs = {2};
    return model;
}

// DENSIFY of a sparse constant, plus x
TfliteModel make_sparse()
{
    TfliteModel sparse;
    sparse.tensors = {constant("s", {2, 3}, {7, 8}), {"d", {2, 3}}, {"x", {2, 3}}, {"y", {2, 3}}};
    sparse.tensors[0].sparsity = {{0, 1}, {}, {{2}, {3, {0, 1, 2}, {1, 2}, 3}}};
    sparse.operators = {{kDensify, {0}, {1}}, {kAdd, {1, 2}, {3}}};
    sparse.inputs = {2};
    sparse.outputs = {3};
    return sparse;
}

TEST_F(TfliteWriterTest, ConstantsHaveTheFormOfTheFile)
{
    expect_same(make_small_weights());
    TfliteModel blocks = make_small_weights();
    blocks.tensors[1].scales = {};
    blocks.tensors[1].zero_points = {};
    blocks.tensors[1].blocks = {3, 0, 4};
    blocks.tensors.push_back(constant("s", {4}, {1, 2, 3, 4}));
    expect_same(blocks);
    expect_same(make_sparse());
}

TEST_F(TfliteWriterTest, AChangedConstantHasTheFormOfTheGraph)
{
    ASSERT_TRUE(load(make_small_weights()));
    tensor_t weights = get_graph_tensor(graph_, "w");
    std::vector<int8_t> values(16, 3);
    ASSERT_EQ(set_tensor_data(weights, values.data(), 16), 0) << get_tengine_error();
    const std::string text = print_tflite(save());
    EXPECT_THAT(text, testing::HasSubstr("tensor 'w' type 9 shape=2,8, scale=0.5,0.25,"));
}

TEST_F(TfliteWriterTest, AConstantOfSeveralTensorsIsWrittenOnce)
{
    TfliteModel model = make_conv();
    std::vector<float> many(4096, 1);
    model.tensors[1] = constant("w", {4096, 1, 1, 1}, many);
    model.tensors[3].shape = model.tensors[4].shape = {1, 3, 3, 4096};
    model.tensors[2] = constant("b", {4096}, many);
    ASSERT_TRUE(load(model));
    EXPECT_LT(save().size(), 3 * 4096 * sizeof(float));
}

// ---- custom operators ----

TEST_F(TfliteWriterTest, CustomOperatorsHaveTheirBytes)
{
    TfliteModel model;
    model.tensors = {{"x", {2}}, {"y", {2}}};
    model.operators = {{kCustom, {0}, {1}, {}, "Atan", std::string("\1\0\xff", 3), 4}};
    model.inputs = {0};
    model.outputs = {1};
    expect_same(model);
}

TEST_F(TfliteWriterTest, OptionsOfTheLibrarysCustomOperatorsAreWordsAgain)
{
    TfliteModel model;
    model.tensors = {{"x", {1, 4, 4, 1}}, {"y", {1, 2, 2, 1}}, {"i", {1, 2, 2, 1}}};
    model.operators = {{kCustom,
                        {0},
                        {1, 2},
                        {},
                        "MaxPoolingWithArgmax2D",
                        bytes_of<int32_t>({1, 2, 2, 2, 2, 0, 77})}};
    model.inputs = {0};
    model.outputs = {1, 2};
    expect_same(model);
    node_t pool = get_graph_node(graph_, "y");
    const int stride = 1;
    ASSERT_EQ(set_node_attr_int(pool, "stride_w", &stride), 0) << get_tengine_error();
    EXPECT_THAT(print_tflite(save()),
                testing::HasSubstr("custom=1,0,0,0,1,0,0,0,2,0,0,0,2,0,0,0,2,0,0,0,0,0,0,0, "));
}

// ---- copies and subgraphs ----

TEST_F(TfliteWriterTest, AnInputMayBeAnOutput)
{
    TfliteModel model = make_conv();
    model.outputs = {4, 0};
    expect_same(model);
}

// c ? x + x : relu(x)
TfliteModel make_choice()
{
    TfliteModel model;
    model.tensors = {{"c", {}, kTfliteBool}, {"x", {2}}, {"y", {2}}};
    model.operators = {{kIf, {0, 1}, {2}, {{0, 4, 1, {}}, {1, 4, 2, {}}}}};
    model.inputs = {0, 1};
    model.outputs = {2};
    TfliteModel sum, clamp;
    sum.tensors = clamp.tensors = {{"x", {2}}, {"y", {2}}};
    sum.inputs = clamp.inputs = {0};
    sum.outputs = clamp.outputs = {1};
    sum.operators = {{kAdd, {0, 0}, {1}}};
    clamp.operators = {{kRelu, {0}, {1}}};
    model.called = {sum, clamp};
    return model;
}

// while (n < 3) { n = n + 1; x = x + x; }
TfliteModel make_loop()
{
    TfliteModel model;
    model.tensors = {{"n", {}, kTfliteInt32}, {"x", {2}}, {"m", {}, kTfliteInt32}, {"y", {2}}};
    model.operators = {{kWhile, {0, 1}, {2, 3}, {{0, 4, 1, {}}, {1, 4, 2, {}}}}};
    model.inputs = {0, 1};
    model.outputs = {2, 3};
    TfliteModel condition, work;
    condition.tensors = work.tensors = {{"n", {}, kTfliteInt32}, {"x", {2}}};
    condition.inputs = work.inputs = {0, 1};
    condition.tensors.push_back({"three", {}, kTfliteInt32, bytes_of<int32_t>({3})});
    condition.tensors.push_back({"more", {}, kTfliteBool});
    condition.operators = {{kLess, {0, 2}, {3}}};
    condition.outputs = {3};
    work.tensors.push_back({"one", {}, kTfliteInt32, bytes_of<int32_t>({1})});
    work.tensors.push_back({"next", {}, kTfliteInt32});
    work.tensors.push_back({"twice", {2}});
    work.operators = {{kAdd, {0, 2}, {3}}, {kAdd, {1, 1}, {4}}};
    work.outputs = {3, 4};
    model.called = {condition, work};
    return model;
}

std::string first_lines(const std::string& text)
{
    return text.substr(0, text.find("\nsubgraph", text.find("subgraph '")));
}

class TfliteCallTest : public TfliteWriterTest
{
  protected:
    std::vector<float> run_again(const std::vector<std::string>& inputs)
    {
        buffers_ = inputs;
        for (size_t i = 0; i < inputs.size(); ++i) {
            EXPECT_EQ(set_tensor_buffer(tengine_graph_get_input(graph_, static_cast<int>(i)),
                                        buffers_[i].data(), static_cast<int>(inputs[i].size())),
                      0);
        }
        EXPECT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
        EXPECT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
        tensor_t output =
            tengine_graph_get_output(graph_, tengine_graph_get_output_number(graph_) - 1);
        std::vector<float> values(2);
        EXPECT_EQ(get_tensor_data(output, values.data(), 8), 0) << get_tengine_error();
        return values;
    }

    // The written file computes the same, and writing it again changes nothing.
    void expect_result(const TfliteModel& model, const std::vector<std::string>& inputs,
                       const std::vector<float>& expected)
    {
        ASSERT_TRUE(load(model)) << get_tengine_error();
        const std::string written = save();
        ASSERT_NE(written, "") << get_tengine_error();
        unload();
        graph_ = tengine_graph_load(nullptr, "tflite", written.data(), written.size());
        ASSERT_TRUE(graph_) << get_tengine_error();
        const std::string again = save();
        unload();
        graph_ = tengine_graph_load(nullptr, "tflite", again.data(), again.size());
        ASSERT_TRUE(graph_) << get_tengine_error();
        EXPECT_EQ(first_lines(print_tflite(again)), first_lines(print_tflite(written)));
        EXPECT_EQ(run_again(inputs), expected);
    }

    std::vector<std::string> buffers_ = std::vector<std::string>();
};

TEST_F(TfliteCallTest, IfIsWrittenWithItsSubgraphs)
{
    const std::string x = bytes_of<float>({-3, 4});
    expect_result(make_choice(), {std::string(1, 1), x}, {-6, 8});
    expect_result(make_choice(), {std::string(1, 0), x}, {0, 4});
}

TEST_F(TfliteCallTest, WhileIsWrittenWithItsSubgraphs)
{
    const std::string x = bytes_of<float>({-3, 4});
    expect_result(make_loop(), {bytes_of<int32_t>({0}), x}, {-24, 32});
    expect_result(make_loop(), {bytes_of<int32_t>({5}), x}, {-3, 4});
}

// ---- archives ----

std::string word(uint32_t value)
{
    return bytes_of(std::vector<uint32_t>{value});
}

// A ZIP archive of one stored file "a", "label", whose places count from `shift` bytes before it.
std::string make_archive(uint32_t shift)
{
    const std::string sizes = word(5) + word(5) + std::string("\1\0\0\0", 4);
    const std::string entry = "PK\3\4" + std::string(10, '\0') + word(0) + sizes + "a" + "label";
    const std::string directory = "PK\1\2" + std::string(12, '\0') + word(0) + sizes +
                                  std::string(10, '\0') + word(shift) + "a";
    return entry + directory + "PK\5\6" + std::string(4, '\0') + std::string("\1\0\1\0", 4) +
           word(static_cast<uint32_t>(directory.size())) +
           word(static_cast<uint32_t>(shift + entry.size())) + std::string(2, '\0');
}

TEST_F(TfliteWriterTest, AnArchiveBehindTheTablesIsKept)
{
    const std::string tables = encode_tflite(make_conv());
    const std::string plain = make_archive(0);
    for (const uint32_t shift : {static_cast<uint32_t>(tables.size()), uint32_t{0}}) {
        const std::string file = tables + make_archive(shift);
        unload();
        graph_ = tengine_graph_load(nullptr, "tflite", file.data(), file.size());
        ASSERT_TRUE(graph_) << get_tengine_error();
        const std::string written = save();
        ASSERT_GT(written.size(), plain.size());
        const size_t begin = written.size() - plain.size();
        EXPECT_EQ(written.substr(begin), make_archive(static_cast<uint32_t>(begin)));
    }
    // Bytes that are no archive are not part of the model.
    std::string damaged = tables + make_archive(0);
    damaged[tables.size() + 36] = 'x';
    unload();
    graph_ = tengine_graph_load(nullptr, "tflite", damaged.data(), damaged.size());
    ASSERT_TRUE(graph_) << get_tengine_error();
    EXPECT_EQ(save().find("label"), std::string::npos);
}

// ---- damaged files ----

// Bytes are changed: a graph that is read becomes a file that can be read, or an error.
class TfliteDamageTest : public TfliteWriterTest
{
  protected:
    void expect_bounds(const TfliteModel& model)
    {
        constexpr int kChanges[] = {1, 0x40, 0xff, 0x80};
        const std::string file = encode_tflite(model);
        int written = 0;
        for (size_t i = 0; i < file.size(); i += 3) {
            std::string damaged = file;
            damaged[i] = static_cast<char>(damaged[i] ^ kChanges[i % 4]);
            unload();
            graph_ = tengine_graph_load(nullptr, "tflite", damaged.data(), damaged.size());
            const std::string again = graph_ ? save() : "";
            if (again.empty()) {
                EXPECT_LT(get_tengine_errno(), 0);
                continue;
            }
            ++written;
            unload();
            graph_ = tengine_graph_load(nullptr, "tflite", again.data(), again.size());
            EXPECT_TRUE(graph_) << i << " " << get_tengine_error();
        }
        EXPECT_GT(written, 20);
    }
};

TEST_F(TfliteDamageTest, AGraphThatIsReadIsWrittenOrRefused)
{
    expect_bounds(make_small_weights());
    expect_bounds(make_sparse());
    expect_bounds(make_choice());
    expect_bounds(make_loop());
    TfliteModel model = make_conv();
    model.named_inputs = {{0, "image"}};
    model.named_outputs = {{4, "score"}};
    model.metadata = {{"a", "b"}};
    expect_bounds(model);
}

// ---- refusals ----

TEST_F(TfliteWriterTest, AnOptionThatTheFileLacksIsNotWritten)
{
    TfliteModel model;
    model.tensors = {{"x", {2}, kTfliteUint32},
                     {"i", {1}, kTfliteInt32, bytes_of(std::vector<int32_t>{1})},
                     {"y", {2}, kTfliteUint32}};
    model.inputs = {0};
    model.outputs = {2};
    model.operators = {{32, {0, 1, 1, 1, 1, 1}, {2}, {}, "SignalFilterBank", {}}};
    ASSERT_TRUE(load(model)) << get_tengine_error();
    const std::string written = save();
    ASSERT_FALSE(written.empty()) << get_tengine_error();
    graph_t again = tengine_graph_load(nullptr, "tflite", written.data(), written.size());
    EXPECT_NE(again, nullptr) << get_tengine_error();
    destroy_graph(again);
}

TEST_F(TfliteWriterTest, AFolderThatIsNotThereIsReported)
{
    ASSERT_TRUE(load(make_conv()));
    EXPECT_LT(save_graph(graph_, "tflite", "/no/such/folder/net.tflite"), 0);
    EXPECT_THAT(get_tengine_error(), testing::HasSubstr("/no/such/folder"));
}

}  // namespace
}  // namespace tengine::test
