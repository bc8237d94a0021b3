// SPDX-License-Identifier: Apache-2.0
// Attributes that are pointers in Tengine's parameter structs.
#include <algorithm>

#include "fixture.h"
#include "operator/operator.h"
#include "operator/param.h"
#include "operator/registry.h"
#include "tengine/vector.h"

namespace tengine {
namespace {

class AttributePointerTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        graph_ = create_graph(nullptr, nullptr, nullptr);
    }

    node_t create(const char* op) { return create_graph_node(graph_, op, op); }

    static bool set_int(node_t node, const char* name, int value)
    {
        return set_node_attr_int(node, name, &value) == 0;
    }

    static int get_int(node_t node, const char* name)
    {
        int value = -1;
        return get_node_attr_int(node, name, &value) == 0 ? value : -1;
    }

    static std::vector<int> get_ints(node_t node, const char* name)
    {
        std::vector<int> values(
            static_cast<size_t>(std::max(0, tengine_node_get_attr_number(node, name))));
        EXPECT_EQ(get_node_attr_generic(node, name, "int[]", values.data(),
                                        static_cast<int>(values.size() * sizeof(int))),
                  0);
        return values;
    }

    graph_t graph_ = nullptr;
};

TEST_F(AttributePointerTest, IntegersAreCopiedAndCounted)
{
    const node_t reshape = create("Reshape");
    ASSERT_NE(reshape, nullptr) << get_tengine_error();
    int shape[] = {2, -1, 3, 99};
    int* pointer = shape;
    EXPECT_EQ(set_node_attr_pointer(reshape, "re_shape", &pointer), -1);
    EXPECT_NE(std::string(get_tengine_error()).find("'dim_size'"), std::string::npos);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    ASSERT_TRUE(set_int(reshape, "dim_size", 3));
    ASSERT_EQ(set_node_attr_pointer(reshape, "re_shape", &pointer), 0) << get_tengine_error();
    shape[0] = 7;
    EXPECT_EQ(get_ints(reshape, "re_shape"), (std::vector<int>{2, -1, 3}));
    const int* read = nullptr;
    ASSERT_EQ(get_node_attr_pointer(reshape, "re_shape", &read), 0) << get_tengine_error();
    EXPECT_EQ(std::vector<int>(read, read + 3), (std::vector<int>{2, -1, 3}));
    // The latest pointer replaces the one before.
    ASSERT_EQ(get_node_attr_pointer(reshape, "re_shape", &read), 0);
    EXPECT_EQ(read[2], 3);
}

TEST_F(AttributePointerTest, ACountFollowsItsList)
{
    const node_t reshape = create("Reshape");
    const int shape[] = {4, 5};
    ASSERT_EQ(set_node_attr_generic(reshape, "re_shape", "int[]", shape, sizeof shape), 0);
    EXPECT_EQ(get_int(reshape, "dim_size"), 2);
    const int64_t wide[] = {1, 2, 3, 4};
    ASSERT_EQ(set_node_attr_generic(reshape, "re_shape", "int64[]", wide, sizeof wide), 0);
    EXPECT_EQ(get_int(reshape, "dim_size"), 4);
    const node_t region = create("Region");
    const float biases[] = {1, 2, 3};
    ASSERT_NE(region, nullptr);
    ASSERT_EQ(set_node_attr_generic(region, "biases", "float[]", biases, sizeof biases), 0);
    EXPECT_EQ(get_int(region, "biases_num"), 3);
}

TEST_F(AttributePointerTest, Floats)
{
    const node_t region = create("Region");
    float biases[] = {0.5f, 1.5f};
    float* pointer = biases;
    ASSERT_TRUE(set_int(region, "biases_num", 2));
    ASSERT_EQ(set_node_attr_pointer(region, "biases", &pointer), 0) << get_tengine_error();
    biases[0] = 0;
    const float* read = nullptr;
    ASSERT_EQ(get_node_attr_pointer(region, "biases", &read), 0);
    ASSERT_NE(read, nullptr);
    EXPECT_EQ(read[0], 0.5f);
    EXPECT_EQ(read[1], 1.5f);
}

TEST_F(AttributePointerTest, NothingSetIsANullPointer)
{
    const node_t reshape = create("Reshape");
    int mark = 0;
    const int* read = &mark;
    ASSERT_EQ(get_node_attr_pointer(reshape, "re_shape", &read), 0);
    EXPECT_EQ(read, nullptr);
}

TEST_F(AttributePointerTest, Vectors)
{
    const node_t slice = create("Slice");
    vector_t* points = create_vector(sizeof(int), nullptr);
    for (int value : {3, 8})
        ASSERT_EQ(push_vector_data(points, &value), 0);
    ASSERT_EQ(set_node_attr_pointer(slice, "slice_point_", &points), 0) << get_tengine_error();
    release_vector(points);
    EXPECT_EQ(get_ints(slice, "slice_point_"), (std::vector<int>{3, 8}));
    vector_t* read = nullptr;
    ASSERT_EQ(get_node_attr_pointer(slice, "slice_point_", &read), 0);
    ASSERT_EQ(get_vector_num(read), 2);
    EXPECT_EQ(*static_cast<int*>(get_vector_data(read, 1)), 8);
    vector_t* bytes = create_vector(1, nullptr);
    EXPECT_EQ(set_node_attr_pointer(slice, "slice_point_", &bytes), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    release_vector(bytes);
}

TEST_F(AttributePointerTest, VectorsOfStructs)
{
    struct Anchor
    {
        float x0, y0, x1, y1;
    };
    const node_t rpn = create("Rpn");
    ASSERT_NE(rpn, nullptr);
    vector_t* anchors = create_vector(sizeof(Anchor), nullptr);
    for (const Anchor& anchor : {Anchor{1, 2, 3, 4}, Anchor{5, 6, 7, 8}})
        ASSERT_EQ(push_vector_data(anchors, &anchor), 0);
    ASSERT_EQ(set_node_attr_pointer(rpn, "anchors_", &anchors), 0) << get_tengine_error();
    release_vector(anchors);
    EXPECT_EQ(tengine_node_get_attr_number(rpn, "anchors_"), 8);
    vector_t* read = nullptr;
    ASSERT_EQ(get_node_attr_pointer(rpn, "anchors_", &read), 0);
    ASSERT_EQ(get_vector_num(read), 2);
    EXPECT_EQ(static_cast<Anchor*>(get_vector_data(read, 1))->x1, 7);
    vector_t* ratios = create_vector(sizeof(float), nullptr);
    const float ratio = 0.5f;
    ASSERT_EQ(push_vector_data(ratios, &ratio), 0);
    ASSERT_EQ(set_node_attr_pointer(rpn, "ratios", &ratios), 0);
    release_vector(ratios);
    EXPECT_EQ(tengine_node_get_attr_number(rpn, "ratios"), 1);
}

TEST_F(AttributePointerTest, Texts)
{
    const node_t generic = create("Generic");
    const char* name = "com.example.Mix";
    ASSERT_EQ(set_node_attr_pointer(generic, "op_name", &name), 0);
    const char* read = nullptr;
    ASSERT_EQ(get_node_attr_pointer(generic, "op_name", &read), 0);
    EXPECT_STREQ(read, name);
    EXPECT_NE(read, name);
}

TEST_F(AttributePointerTest, WrongUseIsAnError)
{
    const node_t conv = create("Conv");
    int value = 1;
    int* pointer = &value;
    int* nothing = nullptr;
    EXPECT_EQ(set_node_attr_pointer(conv, "group", &pointer), -1);
    EXPECT_NE(std::string(get_tengine_error()).find("has type int, not a pointer type"),
              std::string::npos);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(get_node_attr_pointer(conv, "group", &pointer), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    // ONNX's lists have no attribute that counts them.
    EXPECT_EQ(set_node_attr_pointer(conv, "strides", &pointer), -1);
    EXPECT_NE(std::string(get_tengine_error()).find("set_node_attr_generic as \"int[]\""),
              std::string::npos);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(set_node_attr_pointer(conv, "strides", nullptr), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(set_node_attr_pointer(conv, "strides", &nothing), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(get_node_attr_pointer(conv, "strides", nullptr), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(set_node_attr_pointer(conv, "mine", &pointer), -1);
    EXPECT_TRUE(failed_with(TENGINE_ENOENT));
    EXPECT_EQ(set_node_attr_pointer(nullptr, "group", &pointer), -1);
    EXPECT_TRUE(failed_with(TENGINE_EHANDLE));
}

// The counting attributes that tables name exist.
TEST_F(AttributePointerTest, EveryCountIsAnIntegerOfItsOperator)
{
    int counted = 0;
    for (int i = 0; i < get_op_method_count(); ++i) {
        const method* row = find_op_method_via_index(i);
        for (int k = 0; k < row->field_num; ++k) {
            const op_field_t& field = row->fields[k];
            if (!field.length) continue;
            ++counted;
            const op_field_t* count = find_op_field(row, field.length, 0);
            ASSERT_NE(count, nullptr) << row->name << "." << field.name;
            EXPECT_EQ(count->kind, OP_FIELD_INT) << row->name << "." << field.length;
        }
    }
    EXPECT_GE(counted, 8);
}

}  // namespace
}  // namespace tengine
