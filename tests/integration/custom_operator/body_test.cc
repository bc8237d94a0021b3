// SPDX-License-Identifier: Apache-2.0
// Custom operators of nodes in bodies of If and Loop live as long as the graph: one init for each
// node, one free.
#include "fixture.h"
#include "mask.h"
#include "mask_model.h"
#include "tengine/custom_op.h"

namespace tengine {
namespace {

// Computes y as in mask.h. Counts its states, one for each node.
struct LivingOp
{
    int inits = 0, frees = 0, invokes = 0;
};

LivingOp& self(void* user_data)
{
    return *static_cast<LivingOp*>(user_data);
}

int init(void* user_data, tengine_op_context_t*, void** out_state)
{
    ++self(user_data).inits;
    *out_state = new int(7);
    return 0;
}

void release(void* user_data, void* state)
{
    ++self(user_data).frees;
    delete static_cast<int*>(state);
}

// Also reads the state of the node.
int invoke(void* user_data, tengine_op_context_t* context)
{
    const tengine_op_tensor_t* x = tengine_op_input(context, 0);
    TENGINE_OP_ENSURE_EQ(context, *static_cast<int*>(tengine_op_state(context)), 7);
    TENGINE_OP_ENSURE_EQ(context, tengine_op_int(context, "absent", 5), 5);
    const std::string name = tengine_op_node_name(context);
    TENGINE_OP_ENSURE_EQ(context, name.rfind("mask"), name.size() - 4);
    mask_elements(tengine_op_tensor_data(x),
                  tengine_op_tensor_mutable_data(tengine_op_output(context, 0)),
                  tengine_op_tensor_elements(x), sizeof(float));
    ++self(user_data).invokes;
    return 0;
}

// The model has a node of this operator.
const MaskKind kLiving = {"Living", "com.example", "Mask", nullptr, nullptr};

class CustomBodyTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        op_ = tengine_op_create("com.example", "Mask", 1, 1);
        tengine_op_set_outputs_like(op_, 0);
        tengine_op_set_init(op_, init);
        tengine_op_set_free(op_, release);
        tengine_op_set_invoke(op_, invoke);
        tengine_op_set_user_data(op_, &living, nullptr);
    }
    void TearDown() override
    {
        tengine_op_destroy(op_);
        ApiTest::TearDown();
    }

    static graph_t load(const char* body, context_t context)
    {
        const MaskModel model = {kLiving, false, "Conv", "Conv", Elements::kFloat, body};
        const std::string bytes = make_mask_model(model);
        return create_graph(context, "onnx:m", bytes.data(), static_cast<int>(bytes.size()));
    }

    static bool prepare_and_run(graph_t graph, int height)
    {
        const int dims[] = {1, 6, height, 11};
        const tensor_t x = get_graph_tensor(graph, "x");
        const uint8_t is_on = 1;
        if (get_graph_input_node_number(graph) > 1 &&
            set_tensor_data(get_graph_tensor(graph, "on"), &is_on, 1) < 0)
            return false;
        return set_tensor_shape(x, dims, 4) == 0 &&
               write_floats(x, std::vector<float>(static_cast<size_t>(6 * height * 11), 1)) &&
               prerun_graph(graph) == 0 && run_graph(graph, 1) == 0;
    }

    // Branches of an If have a node each.
    void expect_lives(const char* body, int lives, context_t context)
    {
        SCOPED_TRACE(body);
        living = {};
        ASSERT_EQ(tengine_op_register(context, op_), 0) << get_tengine_error();
        const graph_t graph = load(body, context);
        ASSERT_NE(graph, nullptr) << get_tengine_error();
        for (const int height : {9, 7, 9, 5})
            EXPECT_TRUE(prepare_and_run(graph, height)) << get_tengine_error();
        EXPECT_EQ(living.inits, lives);
        EXPECT_EQ(living.frees, 0);
        EXPECT_GE(living.invokes, 4);
        EXPECT_EQ(tengine_op_unregister(context, op_), -1) << "it is used";
        EXPECT_TRUE(failed_with(TENGINE_ESTATE));
        destroy_graph(graph);
        EXPECT_EQ(living.frees, lives);
        EXPECT_EQ(tengine_op_unregister(context, op_), 0) << get_tengine_error();
    }

    LivingOp living;

  private:
    tengine_op_t* op_ = nullptr;
};

TEST_F(CustomBodyTest, LivesAsLongAsTheGraph)
{
    expect_lives("", 1, nullptr);
    expect_lives("If", 2, nullptr);
    expect_lives("Loop", 1, nullptr);
    expect_lives("Decided", 2, nullptr);
}

TEST_F(CustomBodyTest, IsFoundInTheContextOfTheGraph)
{
    const context_t context = create_context("own", 1);
    expect_lives("If", 2, context);
    expect_lives("Loop", 1, context);
    expect_lives("Decided", 2, context);
    destroy_context(context);
}

}  // namespace
}  // namespace tengine
