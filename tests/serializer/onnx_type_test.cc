// SPDX-License-Identifier: Apache-2.0
// The rules that infer types without shapes (operator/operator.h, `types`) against those that infer
// both, on every node of the ONNX suite.
#include <gtest/gtest.h>
#include <set>

#include "graph/graph.h"
#include "operator/infer.h"
#include "operator/registry.h"
#include "operator/type_rule.h"
#include "optimizer/pass.h"
#include "serializer/onnx_builder.h"

namespace tengine::test {
namespace {

class OnnxTypes : public SerializerTest
{
  protected:
    // Compares the nodes of the model in order whose shapes are known without a run.
    void compare(const Loaded& loaded)
    {
        GraphPointer made;
        if (loaded.status < 0 || copy_to_execution_graph(*loaded.graph, &made) < 0) return;
        if (lower_graph(*made) < 0 || tidy_graph(*made) < 0) return;
        for (int i = 0; i < made->node_num; ++i)
            if (!compare(*made->node_list[i])) return;
    }

    std::set<std::string> compared_;

  private:
    bool compare(node& node)
    {
        if (node.op.method->tengine || settle_moved_inputs(node) < 0) return false;
        if (infer_node_types(&node) < 0) return false;
        std::vector<int> types;
        for (int i = 0; i < node.output_num; ++i) {
            const tensor* output = get_ir_node_output(&node, i);
            types.push_back(output ? output->data_type : TENGINE_DT_UNKNOWN);
        }
        const int status = infer_node(&node);
        if (status != TENGINE_OK) return status == OP_SHAPE_LATER;
        for (int i = 0; i < node.output_num; ++i) {
            const tensor* output = get_ir_node_output(&node, i);
            if (!output) continue;
            EXPECT_EQ(types[static_cast<size_t>(i)], output->data_type)
                << get_ir_node_op(&node) << " '" << node.name << "', output " << i;
        }
        compared_.insert(get_ir_node_op(&node));
        return true;
    }
};

TEST_F(OnnxTypes, RulesWithAndWithoutShapesAgree)
{
    const std::filesystem::path suite = TENGINE_ONNX_TESTDATA_DIR;
    if (suite.empty()) GTEST_SKIP() << "the ONNX suite (libonnx-testdata) is not installed";
    for (const char* category : {"node", "simple", "pytorch-operator", "pytorch-converted"})
        for (const auto& folder : std::filesystem::directory_iterator(suite / category))
            compare(Loaded(folder.path() / "model.onnx"));
    // The shapes of these depend on data: when `conformance` prepares them, the types of their rule
    // are compared with those that the suite declares. The suite has no case of Attention, BitCast,
    // LinearAttention, LpPool, Multinomial, RandomNormalLike and the norms without a mean.
    const std::set<std::string> left_out = {"Attention",
                                            "BitCast",
                                            "BlackmanWindow",
                                            "ConcatFromSequence",
                                            "ConstantOfShape",
                                            "HammingWindow",
                                            "HannWindow",
                                            "LinearAttention",
                                            "LpPool",
                                            "MelWeightMatrix",
                                            "Multinomial",
                                            "NonMaxSuppression",
                                            "NonZero",
                                            "OneHot",
                                            "Optional",
                                            "OptionalGetElement",
                                            "OptionalHasElement",
                                            "RandomNormalLike",
                                            "RMSNormalization",
                                            "SequenceAt",
                                            "SequenceConstruct",
                                            "SequenceEmpty",
                                            "SequenceErase",
                                            "SequenceInsert",
                                            "SequenceLength",
                                            "SimplifiedLayerNormalization",
                                            "SplitToSequence",
                                            "StringSplit",
                                            "TopK",
                                            "Unique"};
    for (int i = 0; i < get_op_method_count(); ++i) {
        const method& row = *find_op_method_via_index(i);
        if (row.tengine || row.domain || !row.types || left_out.count(row.name)) continue;
        EXPECT_TRUE(compared_.count(row.name)) << row.name << " was not compared";
    }
}

}  // namespace
}  // namespace tengine::test
