// SPDX-License-Identifier: Apache-2.0
// The rules by which a value holds (step.h), a row of the table for each family of operators. An
// operator that is in no row holds only where none of its inputs and outputs has another size.
//
// A rule may say yes only if, for each element of each output whose index exists in the request's
// output, the operator reads elements at the same indices in both graphs, all of which exist in the
// request's inputs. The values of other elements are arbitrary: a NaN there must not matter, also
// not times 0.
#include "optimizer/bucket/rules.h"

#include <cstring>
#include <string_view>

#include "graph/core.h"
#include "operator/operator.h"

namespace tengine {
namespace {

// Element for element, with broadcasting.
void judge_elementwise(const Step& step)
{
    for (const Pair* output : step.outputs)
        if (output) require_broadcast(step, *output);
}

// Each sample of axis 0 by itself; other inputs that differ have a value for each sample, too.
void judge_samples(const Step& step)
{
    for (const Pair* input : step.inputs) {
        if (!input || !input->differs()) continue;
        if (input->find_difference(1) >= 0) return refuse_mixing(step, *input, 1);
        if (!input->is_like(0, *step.input(0), 0)) return refuse_mixing(step, *input, 0);
    }
}

void judge_rotation(const Step& step)
{
    const Pair* places = step.input(3);
    const int64_t rows = step.input(1)->bucket->dims[0];  // of angles
    if (!places || require_safe_indices(step, *places, rows)) judge_samples(step);
}

// All positions but those of one axis, the attribute's, by themselves.
void judge_last_axis(const Step& step)
{
    judge_axis(step, -1);
}
void judge_first_axis(const Step& step)
{
    judge_axis(step, 0);
}

// From an axis on, the positions are one row.
void judge_trailing_axes(const Step& step)
{
    const Pair& x = *step.input(0);
    const int64_t axis = get_ir_node_int(step.bucket, "axis", -1);
    const int first = static_cast<int>(axis < 0 ? axis + x.rank() : axis);
    if (x.find_difference(first) >= 0) return refuse_mixing(step, x, first);
    judge_elementwise(step);
}

// Rows of the last axis; the other inputs are those of all rows.
void judge_rows(const Step& step)
{
    const Pair& x = *step.input(0);
    if (x.differs(x.rank() - 1)) return refuse_mixing(step, x, x.rank() - 1);
    require_equal_sizes(step, 1);
}

void judge_skip_rows(const Step& step)
{
    const Pair& x = *step.input(0);
    if (x.differs(x.rank() - 1)) return refuse_mixing(step, x, x.rank() - 1);
    judge_elementwise(step);
}

// The other inputs have a value for each channel.
void judge_channels(const Step& step)
{
    const Pair& x = *step.input(0);
    if (x.rank() > 1 && x.differs(1)) return refuse_mixing(step, x, 1);
    require_equal_sizes(step, 1);
}

void judge_channels_of_inference(const Step& step)
{
    if (get_ir_node_int(step.bucket, "training_mode", 0) != 0)
        return step.refuse("computes statistics of the whole batch");
    judge_channels(step);
}

// Element for element of input 0.
void judge_values(const Step& step)
{
    require_equal_sizes(step, 1);
}

void judge_anything(const Step&) {}

// The range of the whole tensor decides about each value.
void judge_whole_range(const Step& step)
{
    const Pair& x = *step.input(0);
    if (x.differs()) return step.refuse("quantises by the range of all values of " + quoted(x));
    require_equal_sizes(step, 1);
}

struct Row
{
    void (*judge)(const Step& step);
    const char* operators;  // separated by blanks
    // Inputs whose values the rule itself compares, or does not need: a bit each.
    unsigned own_inputs = 0;
};

constexpr Row kRows[] = {
    {judge_elementwise,
     "Abs Acos Acosh Add And Asin Asinh Atan Atanh BitShift BitwiseAnd BitwiseNot BitwiseOr "
     "BitwiseXor Cast CastLike Ceil Celu Clip Cos Cosh Div Elu Equal Erf Exp Floor Gelu Greater "
     "GreaterOrEqual HardSigmoid HardSwish Identity IsInf IsNaN LeakyRelu Less LessOrEqual Log Max "
     "Mean Min Mish Mod Mul Neg Not Or PRelu Pow Reciprocal Relu Round Selu Shrink Sigmoid Sign "
     "Sin "
     "Sinh Softplus Softsign Sqrt Sub Sum Swish Tan Tanh ThresholdedRelu Where Xor"},
    {judge_elementwise,
     "com.microsoft.BiasGelu com.microsoft.FastGelu com.microsoft.Gelu com.microsoft.QuickGelu "
     "com.microsoft.QLinearAdd com.microsoft.QLinearMul com.microsoft.QLinearSigmoid "
     "com.microsoft.QLinearLeakyRelu com.microsoft.QLinearWhere com.microsoft.MulInteger "
     "tengine.Lookup"},
    // The diagonal is that of the same indices.
    {judge_elementwise, "Trilu"},
    {judge_quantization,
     "QuantizeLinear DequantizeLinear com.microsoft.QuantizeLinear com.microsoft.DequantizeLinear"},
    {judge_whole_range, "DynamicQuantizeLinear com.microsoft.DynamicQuantizeMatMul"},
    {judge_last_axis, "Softmax LogSoftmax Hardmax TopK LpNormalization"},
    {judge_first_axis, "ArgMax ArgMin"},
    {judge_sums, "CumSum CumProd"},
    {judge_trailing_axes,
     "LayerNormalization RMSNormalization SimplifiedLayerNormalization "
     "com.microsoft.SimplifiedLayerNormalization com.microsoft.QLinearSoftmax "
     "tengine.QLinearLayerNormalization"},
    {judge_skip_rows,
     "com.microsoft.SkipLayerNormalization com.microsoft.SkipSimplifiedLayerNormalization"},
    {judge_reduction,
     "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd "
     "ReduceSum ReduceSumSquare"},
    {judge_channels, "LRN"},
    {judge_channels_of_inference, "BatchNormalization"},
    {judge_samples,
     "GlobalAveragePool GlobalLpPool GlobalMaxPool InstanceNormalization GroupNormalization "
     "ConvTranspose GridSample DepthToSpace SpaceToDepth "
     "com.microsoft.QLinearGlobalAveragePool com.microsoft.GroupNorm com.microsoft.SkipGroupNorm "
     "com.microsoft.MultiHeadAttention"},
    {judge_rotation, "RotaryEmbedding"},
    {judge_window, "Conv ConvInteger AveragePool MaxPool LpPool com.microsoft.FusedConv"},
    {judge_window, "QLinearConv com.microsoft.QLinearAveragePool"},
    {judge_product, "MatMul MatMulInteger QLinearMatMul com.microsoft.MatMulIntegerToFloat"},
    {judge_gemm, "Gemm com.microsoft.QGemm"},
    {judge_rows, "com.microsoft.MatMulNBits tengine.RowQuantizeMatMul"},
    {judge_attention, "Attention"},
    {judge_recurrence, "LSTM GRU RNN tengine.ClippedLSTM"},
    {judge_resize, "Resize", 8},
    {judge_anything, "Transpose"},
    {judge_anything, "ConstantOfShape", 1},
    {judge_reshape, "Reshape Flatten Squeeze Unsqueeze", 2},
    {judge_expansion, "Expand", 2},
    {judge_expansion, "Tile", 2},
    {judge_slice, "Slice", 30},
    {judge_pad, "Pad", 10},
    {judge_concat, "Concat"},
    {judge_split, "Split", 2},
    {judge_gather, "Gather GatherElements"},
    {judge_values, "OneHot"},
};

// Whether the values that an operator writes in the padding are among those that it reads there.
constexpr const char* kMovements =
    "Cast CastLike Concat Expand Flatten Identity Reshape Slice Split Squeeze Tile Transpose "
    "Unsqueeze";

bool has_word(const char* words, std::string_view word)
{
    const std::string_view text(words);
    for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
        const size_t end = at + word.size();
        if ((at == 0 || text[at - 1] == ' ') && (end == text.size() || text[end] == ' '))
            return true;
    }
    return false;
}

String full_name(const node& node)
{
    const char* domain = get_ir_node_domain(&node);
    return *domain ? String(domain) + "." + get_ir_node_op(&node) : get_ir_node_op(&node);
}

const Row* find_row(const String& name)
{
    for (const Row& row : kRows)
        if (has_word(row.operators, name)) return &row;
    return nullptr;
}

// A value that an input lacks is one that the outputs lack.
bool inherit_faults(const Step& step, unsigned own_inputs)
{
    for (size_t i = 0; i < step.inputs.size(); ++i) {
        const bool is_own = i < 32 && (own_inputs >> i & 1) != 0;
        if (is_own || !step.inputs[i] || step.inputs[i]->fault.empty()) continue;
        for (Pair* output : step.outputs)
            if (output) output->fault = step.inputs[i]->fault;
        return true;
    }
    return false;
}

bool is_untouched(const Step& step)
{
    for (const Pair* input : step.inputs)
        if (input && input->differs()) return false;
    for (const Pair* output : step.outputs)
        if (output && output->differs()) return false;
    return true;
}

// The obstacle that no rule removes.
const char* find_obstacle(const node& node)
{
    if (node.core->custom_kernel) return "has a kernel of the program's";
    if (node.core->bodies) return "has a body";
    if (node.op.method->traits & OP_RANDOM) return "draws random numbers";
    return nullptr;
}

void settle_safety(const Step& step, const String& name)
{
    const bool moves = has_word(kMovements, name);
    bool is_safe = moves;
    for (const Pair* input : step.inputs)
        if (input && !input->is_safe) is_safe = false;
    for (Pair* output : step.outputs)
        if (output) output->is_safe = is_safe || !output->differs();
}

}  // namespace

void judge_step(const Step& step)
{
    const String name = full_name(step.any());
    const Row* row = find_row(name);
    if (const char* obstacle = find_obstacle(step.any())) return step.refuse(obstacle);
    if (inherit_faults(step, row ? row->own_inputs : 0)) return;
    settle_safety(step, name);
    if (row) return row->judge(step);
    if (!is_untouched(step)) step.refuse("is not known to keep padding apart");
}

}  // namespace tengine
