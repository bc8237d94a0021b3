// SPDX-License-Identifier: Apache-2.0
// The generic code for field lists, with a test operator that has fields of every kind.
#include "operator/param.h"

#include <gtest/gtest.h>
#include <string>

#include "graph/graph.h"
#include "module/module.h"
#include "operator/infer.h"

namespace {

struct every_kind_param
{
    int count;
    float ratio;
    char* mode;
    struct op_ints sizes;
    struct op_floats scales;
    struct op_strings names;
    struct op_tensor value;
    int late;
};

op_field_t make_field(const char* name, op_field_kind_t kind, size_t offset)
{
    op_field_t field = {};
    field.name = name;
    field.kind = static_cast<uint8_t>(kind);
    field.offset = static_cast<uint16_t>(offset);
    return field;
}

class ParamTest : public testing::Test
{
  protected:
    ParamTest()
    {
        EXPECT_EQ(init_modules(), TENGINE_OK);
        fields_[0] = make_field("count", OP_FIELD_INT, offsetof(every_kind_param, count));
        fields_[0].number = 2;
        fields_[0].minimum = 1;
        fields_[0].maximum = 5;
        fields_[1] = make_field("ratio", OP_FIELD_FLOAT, offsetof(every_kind_param, ratio));
        fields_[1].number = 0.5;
        fields_[2] = make_field("mode", OP_FIELD_STRING, offsetof(every_kind_param, mode));
        fields_[2].text = "linear";
        fields_[2].choices = "nearest|linear|cubic";
        fields_[3] = make_field("sizes", OP_FIELD_INTS, offsetof(every_kind_param, sizes));
        fields_[3].minimum = 1;
        fields_[3].required = 1;
        fields_[4] = make_field("scales", OP_FIELD_FLOATS, offsetof(every_kind_param, scales));
        fields_[5] = make_field("names", OP_FIELD_STRINGS, offsetof(every_kind_param, names));
        fields_[6] = make_field("value", OP_FIELD_TENSOR, offsetof(every_kind_param, value));
        fields_[7] = make_field("late", OP_FIELD_INT, offsetof(every_kind_param, late));
        fields_[7].since = 13;
        method_.domain = "test";
        method_.name = "EveryKind";
        method_.version = 7;
        method_.max_input = 2;
        method_.max_output = -1;
        method_.fields = fields_;
        method_.field_num = 8;
        method_.param_size = sizeof(every_kind_param);
        EXPECT_EQ(register_op(-1, "EveryKind", &method_), TENGINE_OK) << tengine_error_message();
        type_ = get_op_type("test", "EveryKind");
        graph_ = create_ir_graph(nullptr);
    }
    ~ParamTest() override
    {
        destroy_ir_graph(graph_);
        release_modules();
    }

    struct node* make(int version = 0) { return create_ir_node(graph_, "n", type_, version); }
    static const every_kind_param& param(const struct node* node)
    {
        return *static_cast<const every_kind_param*>(node->op.param_mem);
    }

    op_field_t fields_[8] = {};
    ir_method_t method_ = {};
    struct graph* graph_;
    int type_;
};

TEST_F(ParamTest, StartsWithDefaults)
{
    const struct node* node = make();
    EXPECT_EQ(param(node).count, 2);
    EXPECT_EQ(param(node).ratio, 0.5f);
    EXPECT_STREQ(param(node).mode, "linear");
    EXPECT_EQ(param(node).sizes.num, 0);
    EXPECT_EQ(param(node).value.dim_num, -1);
}

TEST_F(ParamTest, SetsAndReadsEveryKind)
{
    struct node* node = make();
    const int64_t sizes[] = {3, 4};
    const float scales[] = {0.1f, 0.2f};
    const char* const names[] = {"a", "bc"};
    const int8_t bytes[] = {1, 2, 3};
    op_tensor value = {};
    value.data_type = TENGINE_DT_INT8;
    value.dim_num = 1;
    value.dims[0] = 3;
    value.size = 3;
    value.data = const_cast<int8_t*>(bytes);
    // Twice: the second set must free the values of the first.
    for (int round = 0; round < 2; ++round) {
        EXPECT_EQ(set_node_int(node, "count", 3), TENGINE_OK);
        EXPECT_EQ(set_node_float(node, "ratio", 1.5f), TENGINE_OK);
        EXPECT_EQ(set_node_text(node, "mode", "cubicXX", 5), TENGINE_OK);
        EXPECT_EQ(set_node_ints(node, "sizes", sizes, 2), TENGINE_OK);
        EXPECT_EQ(set_node_floats(node, "scales", scales, 2), TENGINE_OK);
        EXPECT_EQ(set_node_texts(node, "names", names, 2), TENGINE_OK);
        EXPECT_EQ(set_node_tensor(node, "value", &value), TENGINE_OK);
    }
    int num;
    EXPECT_EQ(get_ir_node_int(node, "count", 0), 3);
    EXPECT_EQ(get_ir_node_float(node, "ratio", 0), 1.5f);
    EXPECT_STREQ(get_ir_node_text(node, "mode", ""), "cubic");
    EXPECT_EQ(get_ir_node_ints(node, "sizes", &num)[1], 4);
    EXPECT_EQ(num, 2);
    EXPECT_EQ(get_ir_node_floats(node, "scales", &num)[1], 0.2f);
    EXPECT_STREQ(param(node).names.values[1], "bc");
    EXPECT_EQ(static_cast<int8_t*>(param(node).value.data)[2], 3);

    text_t text = {};
    print_node_params(node, &text);
    EXPECT_STREQ(text.data,
                 "count=3 ratio=1.5 mode=cubic sizes=[3,4] scales=[0.1,0.2] names=[a,bc] "
                 "value=int8 of 3 bytes");
    free_text(&text);
}

TEST_F(ParamTest, RefusesWhatTheFieldDoesNotAllow)
{
    struct node* node = make();
    EXPECT_EQ(set_node_int(node, "kount", 3), TENGINE_ENOENT);
    EXPECT_STREQ(tengine_error_message(), "EveryKind 'n': has no attribute 'kount' in opset 28");
    EXPECT_EQ(set_node_float(node, "count", 3), TENGINE_EINVAL);
    EXPECT_EQ(set_node_int(node, "count", 6), TENGINE_ERANGE);
    EXPECT_STREQ(tengine_error_message(), "EveryKind 'n': attribute 'count' is 6, expected 1 to 5");
    EXPECT_EQ(set_node_text(node, "mode", "cube", 4), TENGINE_ERANGE);
    EXPECT_EQ(set_node_text(node, "mode", "", 0), TENGINE_ERANGE);
    const int64_t sizes[] = {3, 0};
    EXPECT_EQ(set_node_ints(node, "sizes", sizes, 2), TENGINE_ERANGE);
    EXPECT_EQ(set_node_int(node, "late", int64_t{1} << 40), TENGINE_ERANGE);
    EXPECT_EQ(param(node).count, 2);
    EXPECT_STREQ(param(node).mode, "linear");
}

TEST_F(ParamTest, AttributesBelongToTheirOpsets)
{
    EXPECT_EQ(set_node_int(make(12), "late", 1), TENGINE_ENOENT);
    struct node* newer = create_ir_node(graph_, "m", type_, 13);
    EXPECT_EQ(set_node_int(newer, "late", 1), TENGINE_OK);
    EXPECT_EQ(create_ir_node(graph_, "o", type_, 6), nullptr);
    EXPECT_EQ(tengine_error_code(), TENGINE_EOPERATOR);
}

TEST_F(ParamTest, CopiesDeeply)
{
    struct node* node = make();
    const char* const names[] = {"a", "bc"};
    ASSERT_EQ(set_node_texts(node, "names", names, 2), TENGINE_OK);
    struct node* copy = create_ir_node(graph_, "copy", type_, 0);
    ASSERT_EQ(copy_op_param(&copy->op, &node->op), TENGINE_OK);
    EXPECT_NE(param(copy).names.values, param(node).names.values);
    EXPECT_STREQ(param(copy).names.values[1], "bc");
    EXPECT_STREQ(param(copy).mode, "linear");
}

TEST_F(ParamTest, ChecksCountsAndRequiredAttributes)
{
    struct node* node = make();
    EXPECT_EQ(check_node(node), TENGINE_EGRAPH);
    EXPECT_STREQ(tengine_error_message(), "EveryKind 'n': attribute 'sizes' is required");
    const int64_t sizes[] = {3};
    ASSERT_EQ(set_node_ints(node, "sizes", sizes, 1), TENGINE_OK);
    EXPECT_EQ(check_node(node), TENGINE_OK);
    struct tensor* tensor = create_ir_tensor(graph_, "t", 0);
    ASSERT_EQ(set_ir_node_input_tensor(node, 2, tensor), TENGINE_OK);
    EXPECT_EQ(check_node(node), TENGINE_EGRAPH);
}

TEST_F(ParamTest, RegistryRefusesContradictions)
{
    EXPECT_EQ(register_op(type_, "EveryKind", &method_), TENGINE_EEXIST);
    ir_method_t other = method_;
    other.version = 5;
    other.until = 7;
    EXPECT_EQ(register_op(type_, "EveryKind", &other), TENGINE_EEXIST);
    other.until = 3;
    EXPECT_EQ(register_op(type_, "EveryKind", &other), TENGINE_EINVAL);
    other.until = 6;
    EXPECT_EQ(register_op(type_, "Another", &other), TENGINE_EINVAL);
    ASSERT_EQ(register_op(type_, "EveryKind", &other), TENGINE_OK);
    EXPECT_EQ(find_op_method(type_, 6), &other);
    EXPECT_EQ(find_op_method(type_, 0), &method_);
}

TEST_F(ParamTest, BroadcastFollowsNumpy)
{
    struct node* node = make();
    struct tensor* tensor = create_ir_tensor(graph_, "t", 0);
    const int shape[] = {3, 1, 5};
    ASSERT_EQ(set_ir_tensor_shape(tensor, shape, 3), TENGINE_OK);
    int64_t dims[MAX_SHAPE_DIM_NUM] = {4, 1};
    int rank = 2;
    ASSERT_EQ(broadcast_with(node, dims, &rank, tensor), TENGINE_OK);
    EXPECT_EQ(rank, 3);
    EXPECT_EQ(dims[0], 3);
    EXPECT_EQ(dims[1], 4);
    EXPECT_EQ(dims[2], 5);
    int64_t wrong[MAX_SHAPE_DIM_NUM] = {2};
    rank = 1;
    EXPECT_EQ(broadcast_with(node, wrong, &rank, tensor), TENGINE_EINVAL);
    int64_t empty[MAX_SHAPE_DIM_NUM] = {0, 1};
    rank = 2;
    ASSERT_EQ(broadcast_with(node, empty, &rank, tensor), TENGINE_OK);
    EXPECT_EQ(empty[1], 0);
}

TEST_F(ParamTest, AxesCountFromBothEnds)
{
    const struct node* node = make();
    int axis;
    ASSERT_EQ(normalize_axis(node, -1, 3, &axis), TENGINE_OK);
    EXPECT_EQ(axis, 2);
    EXPECT_EQ(normalize_axis(node, 3, 3, &axis), TENGINE_ERANGE);
    EXPECT_EQ(normalize_axis(node, -4, 3, &axis), TENGINE_ERANGE);
    EXPECT_EQ(normalize_axis(node, 0, 0, &axis), TENGINE_ERANGE);
}

}  // namespace
