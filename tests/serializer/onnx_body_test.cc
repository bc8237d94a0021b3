// SPDX-License-Identifier: Apache-2.0
// Bodies whose results have shapes or types that are rare in files.
#include "graph/core.h"
#include "graph/graph.h"
#include "scheduler/scheduler.h"
#include "serializer/onnx_builder.h"
#include "serializer/onnx_text.h"

namespace tengine::test {
namespace {

class OnnxBodyTest : public SerializerTest
{
  protected:
    void load(const std::string& text, int opset)
    {
        onnx::ModelProto model = parse_onnx_text(text);
        model.mutable_opset_import(0)->set_version(opset);
        loaded_ = std::make_unique<Loaded>(model.SerializeAsString());
        ASSERT_EQ(loaded_->status, 0) << loaded_->message;
        ir_run_options_t options = {};
        options.num_thread = 1;
        ASSERT_EQ(prerun_ir_graph(loaded_->graph, &options), 0) << tengine_error_message();
    }
    void TearDown() override
    {
        if (loaded_) {
            EXPECT_EQ(postrun_ir_graph(loaded_->graph), 0) << tengine_error_message();
        }
        loaded_.reset();
    }
    int run() { return run_ir_graph(loaded_->graph, 1); }
    const struct tensor& output() const { return *loaded_->tensor("y"); }

    std::unique_ptr<Loaded> loaded_;
};

// PyTorch writes an empty type for results of branches whose type it does not know.
TEST_F(OnnxBodyTest, AnEmptyTypeIsNone)
{
    onnx::ModelProto model = parse_onnx_text(
        "in x float 1,2\nin c bool -\nIf c -> y\nbody then_branch\nSqueeze x -> a\nout a\nend\n"
        "body else_branch\nIdentity x -> b\nout b\nend\nout y\n");
    for (auto& attribute : *model.mutable_graph()->mutable_node(0)->mutable_attribute()) {
        attribute.mutable_g()->mutable_output(0)->clear_type();
        attribute.mutable_g()->mutable_output(0)->mutable_type();
    }
    Loaded loaded(model.SerializeAsString());
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    ir_run_options_t options = {};
    options.num_thread = 1;
    ASSERT_EQ(prerun_ir_graph(loaded.graph, &options), 0) << tengine_error_message();
    float x[] = {3, 4};
    uint8_t chosen = 1;
    set_ir_tensor_data(const_cast<struct tensor*>(loaded.tensor("x")), x, false);
    set_ir_tensor_data(const_cast<struct tensor*>(loaded.tensor("c")), &chosen, false);
    ASSERT_EQ(run_ir_graph(loaded.graph, 1), 0) << tengine_error_message();
    EXPECT_EQ(loaded.tensor("y")->dim_num, 1);
    EXPECT_EQ(loaded.tensor("y")->f32[1], 4);
    EXPECT_EQ(postrun_ir_graph(loaded.graph), 0);
}

// A model for several forms of its input has branches that do not match this one: the run that
// takes such a branch fails.
TEST_F(OnnxBodyTest, ABranchThatDoesNotFitMayStayUntaken)
{
    load(
        "in x float 2,3\nin c bool -\nconst w float 4,1 = 1 1 1 1\nIf c -> y\n"
        "body then_branch\nMatMul x w -> a\nout a\nend\n"
        "body else_branch\nNeg x -> b\nout b\nend\nout y\n",
        16);
    float x[] = {1, 2, 3, 4, 5, 6};
    uint8_t chosen = 0;
    set_ir_tensor_data(const_cast<struct tensor*>(loaded_->tensor("x")), x, false);
    set_ir_tensor_data(const_cast<struct tensor*>(loaded_->tensor("c")), &chosen, false);
    ASSERT_EQ(run(), 0) << tengine_error_message();
    EXPECT_EQ(output().f32[5], -6);
    chosen = 1;
    EXPECT_EQ(run(), TENGINE_EINVAL);
    EXPECT_NE(std::string(tengine_error_message()).find("'x' has 3 columns, 'w' has 4 rows"),
              std::string::npos)
        << tengine_error_message();
}

TEST_F(OnnxBodyTest, OneBranchMustFit)
{
    const Loaded loaded(
        parse_onnx_text("in x float 2,3\nin c bool -\nconst w float 4,1 = 1 1 1 1\nIf c -> y\n"
                        "body then_branch\nMatMul x w -> a\nout a\nend\n"
                        "body else_branch\nGemm x w -> b\nout b\nend\nout y\n")
            .SerializeAsString());
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    ir_run_options_t options = {};
    options.num_thread = 1;
    EXPECT_EQ(prerun_ir_graph(loaded.graph, &options), TENGINE_EINVAL);
}

// Returns w for each true element of c, v for any other.
std::string choosing_body(const char* attributes, const char* inputs)
{
    return std::string("Scan ") + inputs + " -> y : num_scan_inputs=1 " + attributes +
           "\nbody body\nin e bool -\nIf e -> r\nbody then_branch\nout w\nend\n"
           "body else_branch\nout v\nend\nout r\nend\nout y\n";
}

TEST_F(OnnxBodyTest, ALoopHasAnOutputForEachValueThatGoesRound)
{
    const Loaded loaded(
        parse_onnx_text(
            "in x float 2\nin n int64 -\nLoop n _ x x -> y\nbody body\nin i int64 -\n"
            "in on bool -\nin v float 2\nin u float 2\nNeg v -> w\nout on w\nend\nout y\n")
            .SerializeAsString());
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    ir_run_options_t options = {};
    options.num_thread = 1;
    EXPECT_EQ(prerun_ir_graph(loaded.graph, &options), TENGINE_EGRAPH);
    EXPECT_NE(std::string(tengine_error_message()).find("1 outputs for 2 values that go round"),
              std::string::npos)
        << tengine_error_message();
}

// The element has as many bytes as the slice of an axis that is last in both.
TEST_F(OnnxBodyTest, ScanRefusesAnElementOfAnotherRank)
{
    load(
        "const c bool 6 = 1 0 0 0 0 0\nconst w float 2,4 = 1 2 3 4 5 6 7 8\n"
        "const v float 12 = 1 2 3 4 5 6 7 8 9 10 11 12\n" +
            choosing_body("scan_output_axes=-1,", "c"),
        16);
    EXPECT_EQ(run(), TENGINE_EINVAL);
    EXPECT_NE(std::string(tengine_error_message()).find("another shape in round 1"),
              std::string::npos)
        << tengine_error_message();
}

TEST_F(OnnxBodyTest, TheFirstSequenceOfAScanMayBeEmpty)
{
    load(
        "const n int64 2 = 0 2\nconst c bool 2,2 = 1 1 1 1\nconst w float 2 = 5 6\n"
        "const v float 3 = 1 2 3\n" +
            choosing_body("", "n c"),
        8);
    ASSERT_EQ(run(), 0) << tengine_error_message();
    ASSERT_EQ(output().elem_num, 8);
    EXPECT_EQ(std::vector<float>(output().f32, output().f32 + 8),
              (std::vector<float>{0, 0, 0, 0, 5, 6, 5, 6}));
}

TEST_F(OnnxBodyTest, TextsAreEmptyAfterTheEndOfASequence)
{
    load(
        "const n int64 2 = 1 2\nconst s string 2,2 = a b c d\n"
        "Scan n s -> y : num_scan_inputs=1\nbody body\nin e string -\nIdentity e -> r\nout r\n"
        "end\nout y\n",
        8);
    ASSERT_EQ(run(), 0) << tengine_error_message();
    const char* expected[] = {"a", "", "c", "d"};
    for (int i = 0; i < 4; ++i)
        EXPECT_STREQ(static_cast<const char* const*>(output().data)[i], expected[i]);
}

// Packed elements are packed in a sequence too.
TEST_F(OnnxBodyTest, SequencesHavePackedElements)
{
    load(
        "const x float 5 = 1 2 -3 4 -5\nconst at int64 - = 1\nSequenceConstruct x x -> s\n"
        "SequenceMap s -> t\nbody body\nin e float\nCast e -> r : to=22\nout r\nend\n"
        "SequenceMap t -> u\nbody body\nin e int4\nCast e -> r : to=1\nout r\nend\n"
        "SequenceAt u at -> y\nout y\n",
        21);
    ASSERT_EQ(run(), 0) << tengine_error_message();
    ASSERT_EQ(output().elem_num, 5);
    EXPECT_EQ(std::vector<float>(output().f32, output().f32 + 5),
              (std::vector<float>{1, 2, -3, 4, -5}));
}

// A sequence's bytes locate its elements: an operator that moves bytes could produce others.
TEST_F(OnnxBodyTest, SequencesAreNotTakenForTensors)
{
    const char* const ends[] = {
        "Slice s at end -> t\n",
        "Gather s at -> t : axis=0\n",
        "Reshape s end -> t\n",
        "Concat s s -> t : axis=0\n",
        "Size s -> t\n",
        "Loop at _ -> t\nbody body\nin i int64 -\nin on bool -\nIdentity s -> r\nout on r\nend\n",
        "Scan s -> t : num_scan_inputs=1\nbody body\nin e seq:float\nSequenceLength e -> r\n"
        "out r\nend\n",
        "Scan x -> t : num_scan_inputs=1\nbody body\nin e float 3\nSequenceConstruct e -> r\n"
        "out r\nend\n",
        "SequenceMap s -> t\nbody body\nin e float\nSequenceConstruct e -> r\nout r\nend\n",
    };
    for (const char* end : ends) {
        const Loaded loaded(
            parse_onnx_text(std::string("in x float 2,3\nconst at int64 1 = 8\n"
                                        "const end int64 1 = 16\nSequenceConstruct x x -> s\n") +
                            end + "out t\n")
                .SerializeAsString());
        ASSERT_EQ(loaded.status, 0) << loaded.message;
        ir_run_options_t options = {};
        options.num_thread = 1;
        EXPECT_EQ(prerun_ir_graph(loaded.graph, &options), TENGINE_EDTYPE) << end;
    }
}

}  // namespace
}  // namespace tengine::test
