// SPDX-License-Identifier: Apache-2.0
// Custom operators: those of programs, with their options, and those of the library.
#include <cstring>
#include <flatbuffers/flexbuffers.h>

#include "serializer/tflite/model_test.h"
#include "tengine/custom_op.h"
#include "tengine/ir.h"
#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/c/c_api_opaque.h"

namespace tengine::test {
namespace {

constexpr int kCustom = 32;

TfliteModel make_custom(const std::string& name, const std::string& options)
{
    TfliteModel model;
    model.tensors = {{"x", {2}}, {"y", {2}}};
    model.operators = {{kCustom, {0}, {1}, {}, name, options}};
    model.inputs = {0};
    model.outputs = {1};
    return model;
}

std::string make_map()
{
    flexbuffers::Builder builder;
    builder.Map([&] {
        builder.Float("offset", 0.5f);
        builder.Double("precise", 0.25);
        builder.Int("count", -3);
        builder.UInt("mask", 200);
        builder.Bool("flag", true);
        builder.String("mode", "fast");
        builder.Int("large", int64_t{1} << 40);
        builder.TypedVector("sizes", [&] {
            builder.Int(1);
            builder.Int(-2);
        });
        builder.Vector("weights", [&] {
            builder.Float(1.5f);
            builder.Float(2.5f);
        });
        builder.Vector("names", [&] {
            builder.String("a");
            builder.String("bc");
        });
        builder.Map("inner", [&] { builder.Int("i", 1); });
    });
    builder.Finish();
    const auto& bytes = builder.GetBuffer();
    return {bytes.begin(), bytes.end()};
}

// The operator Shift: y = x + offset. It keeps what it finds at init.
struct Found
{
    std::string bytes;
    float offset = 0;
};

int init_shift(void* user_data, tengine_op_context_t* context, void**)
{
    auto* found = static_cast<Found*>(user_data);
    size_t size = 0;
    const void* bytes = tengine_op_attributes(context, &size);
    if (!bytes) return TENGINE_EINVAL;
    found->bytes.assign(static_cast<const char*>(bytes), size);
    found->offset = tengine_op_float(context, "offset", -1);
    return 0;
}

int prepare_shift(void*, tengine_op_context_t* context)
{
    return tengine_op_set_output_like(context, 0, tengine_op_input(context, 0));
}

int invoke_shift(void* user_data, tengine_op_context_t* context)
{
    const auto* x = static_cast<const float*>(tengine_op_tensor_data(tengine_op_input(context, 0)));
    auto* y = static_cast<float*>(tengine_op_tensor_mutable_data(tengine_op_output(context, 0)));
    for (int i = 0; i < 2; ++i)
        y[i] = x[i] + static_cast<const Found*>(user_data)->offset;
    return 0;
}

class TfliteCustomTest : public TfliteModelTest
{
  protected:
    void register_op(const char* name)
    {
        op_ = tengine_op_create("tflite", name, 1, 1);
        finish_op();
    }

    void finish_op()
    {
        ASSERT_NE(op_, nullptr) << get_tengine_error();
        tengine_op_set_user_data(op_, &found_, nullptr);
        tengine_op_set_init(op_, init_shift);
        tengine_op_set_prepare(op_, prepare_shift);
        tengine_op_set_invoke(op_, invoke_shift);
        ASSERT_EQ(tengine_op_register(nullptr, op_), 0) << get_tengine_error();
    }

    void TearDown() override
    {
        unload();
        if (op_) {
            EXPECT_EQ(tengine_op_unregister(nullptr, op_), 0) << get_tengine_error();
            tengine_op_destroy(op_);
        }
    }

    const struct node* custom_node() const
    {
        return static_cast<const struct graph*>(graph_)->node_list[1];
    }

    Found found_;
    tengine_op_t* op_ = nullptr;
};

// Memory that the operator works in: nothing writes it, and operators share it.
TEST_F(TfliteCustomTest, InputsThatNothingWrites)
{
    flexbuffers::Builder builder;
    builder.Map([&] { builder.Float("offset", 0.5f); });
    builder.Finish();
    const std::string options(builder.GetBuffer().begin(), builder.GetBuffer().end());
    TfliteModel model;
    model.tensors = {{"x", {2}}, {"scratch", {64}}, {"y", {2}}, {"z", {2}}};
    model.operators = {{kCustom, {0, 1}, {2}, {}, "ethos-u", options},
                       {kCustom, {2, 1}, {3}, {}, "ethos-u", options}};
    model.inputs = {0};
    model.outputs = {3};
    expect_refusal(model, TENGINE_EOPERATOR, "byte code of Arm's compiler");
    op_ = tengine_op_create("tflite", "ethos-u", 1, 1);
    finish_op();
    EXPECT_EQ(values_of<float>(run(model, {bytes_of<float>({1, 2})})[0]),
              (std::vector<float>{2, 3}));
}

TEST_F(TfliteCustomTest, OptionsAreBytesAndAttributes)
{
    const std::string map = make_map();
    ASSERT_TRUE(load(make_custom("Shift", map))) << get_tengine_error();
    const struct node* node = custom_node();
    EXPECT_STREQ(get_ir_node_op(node), "Generic");
    EXPECT_STREQ(get_ir_node_text(node, "op_name", ""), "tflite.Shift");
    EXPECT_EQ(get_ir_node_float(node, "offset", 0), 0.5f);
    EXPECT_EQ(get_ir_node_float(node, "precise", 0), 0.25f);
    EXPECT_EQ(get_ir_node_int(node, "count", 0), -3);
    EXPECT_EQ(get_ir_node_int(node, "mask", 0), 200);
    EXPECT_EQ(get_ir_node_int(node, "flag", 0), 1);
    EXPECT_STREQ(get_ir_node_text(node, "mode", ""), "fast");
    EXPECT_EQ(get_ir_node_int(node, "large", -1), -1);
    EXPECT_EQ(get_ir_node_int(node, "inner", -1), -1);
    int number = 0;
    const int64_t* sizes = get_ir_node_ints(node, "sizes", &number);
    ASSERT_EQ(number, 2);
    EXPECT_EQ(sizes[0], 1);
    EXPECT_EQ(sizes[1], -2);
    const float* weights = get_ir_node_floats(node, "weights", &number);
    ASSERT_EQ(number, 2);
    EXPECT_EQ(weights[1], 2.5f);
}

TEST_F(TfliteCustomTest, ProgramsGetTheBytes)
{
    register_op("Shift");
    for (const std::string& options : {make_map(), std::string("raw\0bytes", 9), std::string()}) {
        const auto results = run(make_custom("Shift", options), {bytes_of<float>({1, 2})});
        ASSERT_EQ(results.size(), 1U);
        EXPECT_EQ(found_.bytes, options);
        const float offset = options == make_map() ? 0.5f : -1;
        EXPECT_THAT(values_of<float>(results[0]), testing::ElementsAre(1 + offset, 2 + offset));
    }
}

// The operators of other compilers that a file calls by name: a custom call, and a composite, which
// doubles without a program.
TfliteModel make_call(int code, const std::string& name, int32_t subgraph = 1)
{
    TfliteModel model = make_custom("", ""), body;
    const std::string map = make_map();
    const std::vector<int32_t> bytes(map.begin(), map.end());
    const TfliteOperator::Option text = {0, 0, 0, {}, name};
    model.operators[0].code = code;
    model.operators[0].options = code == 173
                                     ? std::vector<TfliteOperator::Option>{text,
                                                                           {1, 1, 1},
                                                                           {2, 0, 0, {}, "backend"},
                                                                           {3, 4, 4},
                                                                           {5, -1, 0, bytes}}
                                     : std::vector<TfliteOperator::Option>{
                                           text, {1, 4, subgraph}, {2, -1, 0, bytes}, {4, 4, 1}};
    body.tensors = {{"x", {2}}, {"y", {2}}};
    body.operators = {{0, {0, 0}, {1}}};
    body.inputs = {0};
    body.outputs = {1};
    model.called = {body};
    return model;
}

TEST_F(TfliteCustomTest, CallsByName)
{
    const std::vector<std::string> x = {bytes_of<float>({1, 2})};
    EXPECT_THAT(values_of<float>(run(make_call(206, "Shift"), x).at(0)),
                testing::ElementsAre(2, 4));
    expect_refusal(make_call(173, "Shift"), TENGINE_EOPERATOR, "'tflite.Shift'");
    expect_refusal(make_call(206, "Shift", -1), TENGINE_EOPERATOR, "'tflite.Shift'");
    TfliteModel unnamed = make_call(173, "");
    unnamed.operators[0].options.clear();
    expect_refusal(unnamed, TENGINE_EFORMAT, "without a name");
    register_op("Shift");
    for (const TfliteModel& model :
         {make_call(173, "Shift"), make_call(206, "Shift"), make_call(206, "Shift", -1)}) {
        EXPECT_THAT(values_of<float>(run(model, x).at(0)), testing::ElementsAre(1.5f, 2.5f));
        EXPECT_EQ(found_.bytes, make_map());
    }
    EXPECT_THAT(values_of<float>(run(make_call(206, "Other"), x).at(0)),
                testing::ElementsAre(2, 4));
    TfliteModel model = make_call(173, "Shift");
    model.operators[0].options.push_back({4, 0, 0, {1}});
    expect_refusal(model, TENGINE_ENOTSUP, "'Shift' calls 1 subgraphs, expected none");
    expect_bounds(make_call(173, "Shift"));
    expect_bounds(make_call(206, "Shift"));
}

TEST_F(TfliteCustomTest, UnknownOperatorsAreNamed)
{
    expect_refusal(make_custom("Shift", ""), TENGINE_EOPERATOR, "'tflite.Shift'");
    expect_refusal(make_custom("FlexErf", ""), TENGINE_EOPERATOR,
                   "'FlexErf', version 1, which needs");
    TfliteModel model = make_custom("Shift", "");
    model.operators[0].name.clear();
    expect_refusal(model, TENGINE_EFORMAT, "without a name");
}

// Programs can take the place of the library's operators, and of TensorFlow's.
TEST_F(TfliteCustomTest, ProgramsComeFirst)
{
    register_op("FlexErf");
    found_.offset = 0;
    EXPECT_EQ(run(make_custom("FlexErf", make_map()), {bytes_of<float>({1, 2})}).size(), 1U);
}

// Each byte of a map is set to other values, and each length is cut: entries may be others, and the
// bytes stay as they are.
TEST_F(TfliteCustomTest, DamagedMaps)
{
    const std::string map = make_map();
    for (size_t i = 0; i < map.size(); ++i) {
        for (const int change : {1, 0x10, 0x80, 0xff}) {
            std::string damaged = map;
            damaged[i] = static_cast<char>(damaged[i] ^ change);
            EXPECT_TRUE(load(make_custom("Shift", damaged)) || get_tengine_errno() != 0);
        }
        EXPECT_TRUE(load(make_custom("Shift", map.substr(i))) || get_tengine_errno() != 0);
        EXPECT_TRUE(load(make_custom("Shift", map.substr(0, i))) || get_tengine_errno() != 0);
    }
}

// ---- a kernel written for TensorFlow Lite, as in its guide ----

void* atan_init(TfLiteOpaqueContext*, const char* buffer, size_t length)
{
    return new float(std::string(buffer, length) == make_map() ? 0.5f : 0);
}

void atan_free(TfLiteOpaqueContext*, void* state)
{
    delete static_cast<float*>(state);
}

TfLiteStatus atan_prepare(TfLiteOpaqueContext* context, TfLiteOpaqueNode* node)
{
    TF_LITE_OPAQUE_ENSURE_EQ(context, TfLiteOpaqueNodeNumberOfInputs(node), 1);
    const TfLiteOpaqueTensor* x = TfLiteOpaqueNodeGetInput(context, node, 0);
    TfLiteIntArray* size = TfLiteIntArrayCreate(TfLiteOpaqueTensorNumDims(x));
    for (int i = 0; i < size->size; ++i)
        size->data[i] = TfLiteOpaqueTensorDim(x, i);
    return TfLiteOpaqueContextResizeTensor(context, TfLiteOpaqueNodeGetOutput(context, node, 0),
                                           size);
}

TfLiteStatus atan_eval(TfLiteOpaqueContext* context, TfLiteOpaqueNode* node)
{
    const TfLiteOpaqueTensor* input = TfLiteOpaqueNodeGetInput(context, node, 0);
    const auto* x = static_cast<const float*>(TfLiteOpaqueTensorData(input));
    auto* y =
        static_cast<float*>(TfLiteOpaqueTensorData(TfLiteOpaqueNodeGetOutput(context, node, 0)));
    const float offset = *static_cast<const float*>(TfLiteOpaqueNodeGetUserData(node));
    for (size_t i = 0; i < TfLiteOpaqueTensorByteSize(input) / sizeof *x; ++i)
        y[i] = std::atan(x[i] + offset);
    return kTfLiteOk;
}

TEST_F(TfliteCustomTest, KernelOfTheGuide)
{
    TfLiteOperator* op = TfLiteOperatorCreate(kTfLiteBuiltinCustom, "ATAN", /*version=*/1);
    TfLiteOperatorSetInit(op, atan_init);
    TfLiteOperatorSetFree(op, atan_free);
    TfLiteOperatorSetPrepare(op, atan_prepare);
    TfLiteOperatorSetInvoke(op, atan_eval);
    context_t context = create_context("guide", 0);
    ASSERT_EQ(tengine_tflite_register(context, "tflite", op), 0) << get_tengine_error();
    const std::string model = encode_tflite(make_custom("ATAN", make_map()));
    graph_ = tengine_graph_load(context, "tflite", model.data(), model.size());
    ASSERT_NE(graph_, nullptr) << get_tengine_error();
    std::vector<float> x = {-2, 1};
    ASSERT_EQ(set_tensor_buffer(tengine_graph_get_input(graph_, 0), x.data(), 8), 0);
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    const auto* y =
        static_cast<const float*>(get_tensor_buffer(tengine_graph_get_output(graph_, 0)));
    EXPECT_FLOAT_EQ(y[0], std::atan(-1.5f));
    EXPECT_FLOAT_EQ(y[1], std::atan(1.5f));
    unload();
    destroy_context(context);
    TfLiteOperatorDelete(op);
}

// ---- the library's ----

std::string words(const std::vector<int32_t>& values)
{
    return bytes_of<int32_t>(values);
}

TEST_F(TfliteCustomTest, TransposedConvolution)
{
    TfliteModel model = make_custom("Convolution2DTransposeBias", words({2, 2, 1}));
    model.tensors = {{"x", {1, 1, 2, 1}},
                     {"w", {1, 1, 3, 1}, kTfliteFloat, bytes_of<float>({1, 10, 100})},
                     {"b", {1}, kTfliteFloat, bytes_of<float>({0.5f})},
                     {"y", {1, 1, 5, 1}}};
    model.operators[0].inputs = {0, 1, 2};
    model.operators[0].outputs = {3};
    model.outputs = {3};
    const auto results = run(model, {bytes_of<float>({1, 2})});
    ASSERT_EQ(results.size(), 1U);
    EXPECT_THAT(values_of<float>(results[0]),
                testing::ElementsAre(1.5f, 10.5f, 102.5f, 20.5f, 200.5f));
    model.operators[0].custom_options = words({3, 2, 1});
    expect_refusal(model, TENGINE_ERANGE, "padding");
    model.operators[0].custom_options = words({2, 0, 1});
    expect_refusal(model, TENGINE_ERANGE, "stride_w");
    model.operators[0].custom_options = words({2, 2});
    expect_refusal(model, TENGINE_EFORMAT, "8 bytes, no 'stride_h'");
}

// The largest of 2 x 2 is at (1, 0); unpooling puts it back.
TEST_F(TfliteCustomTest, PlacesOfMaxima)
{
    TfliteModel model = make_custom("MaxPoolingWithArgmax2D", words({2, 2, 2, 2, 2, 0}));
    model.tensors = {{"x", {1, 2, 2, 1}},
                     {"y", {1, 1, 1, 1}},
                     {"i", {1, 1, 1, 1}, kTfliteInt32},
                     {"z", {1, 2, 2, 1}}};
    model.operators[0].outputs = {1, 2};
    model.operators.push_back(
        {kCustom, {1, 2}, {3}, {}, "MaxUnpooling2D", words({2, 2, 2, 2, 2, 0})});
    model.outputs = {2, 3};
    const auto results = run(model, {bytes_of<float>({1, 2, 7, 3})});
    ASSERT_EQ(results.size(), 2U);
    EXPECT_THAT(values_of<int32_t>(results[0]), testing::ElementsAre(2));
    EXPECT_THAT(values_of<float>(results[1]), testing::ElementsAre(0, 0, 7, 0));
    model.operators[1].custom_options = words({1, 0x7fffffff, 0x7fffffff, 2, 2, 0});
    expect_refusal(model, TENGINE_ERANGE, "too large");
}

std::string make_detection(int64_t most, bool is_regular)
{
    flexbuffers::Builder builder;
    builder.Map([&] {
        builder.Int("max_detections", most);
        builder.Int("max_classes_per_detection", 1);
        builder.Int("num_classes", 2);
        builder.Float("nms_score_threshold", 0.25f);
        builder.Float("nms_iou_threshold", 0.5f);
        builder.Float("y_scale", 10);
        builder.Float("x_scale", 10);
        builder.Float("h_scale", 5);
        builder.Float("w_scale", 5);
        builder.Bool("use_regular_nms", is_regular);
    });
    builder.Finish();
    const auto& bytes = builder.GetBuffer();
    return {bytes.begin(), bytes.end()};
}

// Two boxes at one place and one elsewhere; scores have the background first.
TfliteModel make_detector(const std::string& options)
{
    TfliteModel model = make_custom("TFLite_Detection_PostProcess", options);
    model.tensors = {{"boxes", {1, 3, 4}},
                     {"scores", {1, 3, 3}},
                     {"anchors",
                      {3, 4},
                      kTfliteFloat,
                      bytes_of<float>({0.5f, 0.5f, 1, 1, 0.5f, 0.5f, 1, 1, 2.5f, 0.5f, 1, 1})},
                     {"b", {1, 3, 4}},
                     {"c", {1, 3}},
                     {"s", {1, 3}},
                     {"n", {1}}};
    model.operators[0].inputs = {0, 1, 2};
    model.operators[0].outputs = {3, 4, 5, 6};
    model.inputs = {0, 1};
    model.outputs = {3, 4, 5, 6};
    return model;
}

TEST_F(TfliteCustomTest, Detections)
{
    const std::vector<std::string> inputs = {
        bytes_of<float>({0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0}),
        bytes_of<float>({0, 0.5f, 0.125f, 0, 0.25f, 0.75f, 0.875f, 0.25f, 0.125f})};
    auto results = run(make_detector(make_detection(3, false)), inputs);
    ASSERT_EQ(results.size(), 4U);
    EXPECT_THAT(values_of<float>(results[0]),
                testing::ElementsAre(0, 0, 1, 1, 3, 0, 4, 1, 0, 0, 0, 0));
    EXPECT_THAT(values_of<float>(results[1]), testing::ElementsAre(1, 0, 0));
    EXPECT_THAT(values_of<float>(results[2]), testing::ElementsAre(0.75f, 0.25f, 0));
    EXPECT_THAT(values_of<float>(results[3]), testing::ElementsAre(2));
    // Each class has its own suppression: the first box stays for class 0.
    results = run(make_detector(make_detection(3, true)), inputs);
    ASSERT_EQ(results.size(), 4U);
    EXPECT_THAT(values_of<float>(results[1]), testing::ElementsAre(1, 0, 0));
    EXPECT_THAT(values_of<float>(results[2]), testing::ElementsAre(0.75f, 0.5f, 0.25f));
    EXPECT_THAT(values_of<float>(results[3]), testing::ElementsAre(3));
}

TEST_F(TfliteCustomTest, RefusedDetections)
{
    expect_refusal(make_detector(make_detection(0, false)), TENGINE_ERANGE, "max_detections");
    expect_refusal(make_detector(make_detection(INT32_MAX, false)), TENGINE_ERANGE,
                   "max_detections");
    expect_refusal(make_detector(""), TENGINE_EINVAL, "num_classes 0");
    TfliteModel model = make_detector(make_detection(3, false));
    model.tensors[1].shape = {1, 3, 1};
    expect_refusal(model, TENGINE_EINVAL, "1 labels");
}

TEST_F(TfliteCustomTest, DamagedFiles)
{
    expect_bounds(make_detector(make_detection(3, true)));
}

}  // namespace
}  // namespace tengine::test
