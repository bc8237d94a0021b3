// SPDX-License-Identifier: Apache-2.0
// Files of a few kilobytes that could request minutes and gigabytes before anything runs.
#include "graph/body.h"
#include "graph/core.h"
#include "scheduler/scheduler.h"
#include "serializer/onnx_builder.h"
#include "serializer/onnx_text.h"

namespace tengine::test {
namespace {

class OnnxWorkTest : public SerializerTest
{
  protected:
    // Calls `look` with the execution graph.
    template <class Look>
    static void prepare(const std::string& text, const Look& look)
    {
        const Loaded loaded(parse_onnx_text(text).SerializeAsString());
        ASSERT_EQ(loaded.status, 0) << loaded.message;
        ir_run_options_t options = {};
        options.num_thread = 1;
        ASSERT_EQ(prerun_ir_graph(loaded.graph, &options), 0) << tengine_error_message();
        look(*loaded.graph->core->execution);
        EXPECT_EQ(postrun_ir_graph(loaded.graph), 0) << tengine_error_message();
    }
};

// A Loop that shifts its values by one: each further round changes another shape.
std::string nest_loops(int depth, int values, const std::string& name)
{
    std::string inputs, outputs, body;
    for (int i = 0; i < values; ++i) {
        inputs += " " + name + "i" + std::to_string(i);
        outputs += " " + name + "o" + std::to_string(i);
        body += "in " + name + "i" + std::to_string(i) + " float\n";
    }
    body = "in " + name + "n int64 -\nin " + name + "c bool -\n" + body;
    if (depth > 1) {
        std::string results;
        for (int i = 0; i < values; ++i)
            results += " " + name + "r" + std::to_string(i);
        body += "Loop most _" + inputs + " ->" + results + "\n" +
                nest_loops(depth - 1, values, name + "x");
    }
    body += "Concat " + name + "i0 " + name + "i0 -> " + name + "o0 : axis=0\n";
    for (int i = 1; i < values; ++i)
        body += "Identity " + name + "i" + std::to_string(i - 1) + " -> " + name + "o" +
                std::to_string(i) + "\n";
    return "body body\n" + body + "out " + name + "c" + outputs + "\nend\n";
}

// After some rounds it is known only that shapes change.
TEST_F(OnnxWorkTest, ShapesOfNestedLoops)
{
    std::string inputs, outputs;
    for (int i = 0; i < 20; ++i) {
        inputs += " x";
        outputs += " y" + std::to_string(i);
    }
    prepare("in x float 2\nin most int64 -\nLoop most _" + inputs + " ->" + outputs + "\n" +
                nest_loops(8, 20, "v") + "out y0\n",
            [](const graph& execution) { EXPECT_EQ(execution.node_num, 1); });
}

// A file may have a body for every 100 bytes.
TEST_F(OnnxWorkTest, LargeConstantsOfBodiesAreLeftForTheRun)
{
    const std::string branch =
        "ConstantOfShape shape -> large\nReduceSum large -> sum\nout sum\nend\n";
    prepare("in c bool -\nconst shape int64 2 = 512 512\nIf c -> y\nbody then_branch\n" + branch +
                "body else_branch\n" + branch + "out y\n",
            [](const graph& execution) {
                const ir_body_t& body = execution.node_list[0]->core->bodies->list[0];
                EXPECT_EQ(body.graph->core->execution->node_num, 2);
            });
}

// The last string would have 1 GiB.
TEST_F(OnnxWorkTest, LongStringsAreLeftForTheRun)
{
    std::string text = "const s0 string 1 = a\n";
    for (int i = 0; i < 30; ++i)
        text += "StringConcat s" + std::to_string(i) + " s" + std::to_string(i) + " -> s" +
                std::to_string(i + 1) + "\n";
    prepare(text + "out s30\n", [](const graph& execution) { EXPECT_GE(execution.node_num, 1); });
}

}  // namespace
}  // namespace tengine::test
