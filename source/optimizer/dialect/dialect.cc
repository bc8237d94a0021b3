// SPDX-License-Identifier: Apache-2.0
#include "optimizer/dialect/dialect.h"

#include <algorithm>
#include <cstring>

#include "base/log.h"
#include "base/minimal.h"
#include "graph/body.h"
#include "graph/bucket.h"
#include "graph/option.h"
#include "operator/operator.h"
#include "operator/shaped.h"
#include "optimizer/pass.h"

namespace tengine {
namespace {

// InputOp, Const and unknown operators belong to all dialects.
bool is_common(const node& node)
{
    return node.input_num == 0 || (node.op.method->traits & OP_OPEN) != 0;
}

bool is_operator_of_tengine(const node* node)
{
    return node->op.method->tengine && !is_common(*node);
}

bool is_operator_of_tflite(const node* node)
{
    return (node->op.method->traits & OP_READS_QUANTIZED) != 0;
}

bool is_quantization(const node* node)
{
    return is_op(node, "QuantizeLinear") || is_op(node, "DequantizeLinear");
}

bool is_shape_reader(const node* node)
{
    return (node->op.method->traits & OP_SHAPE_ONLY) != 0;
}

// The operators of ONNX that a graph of TensorFlow Lite's has, too.
constexpr const char* kSharedWithTflite[] = {"Identity", "If", "Loop"};

// The bodies, too, are of the dialect.
bool may_be_of_tflite(const node* node)
{
    const ir_bodies_t* bodies = node->core->bodies;
    for (int i = 0; bodies && i < bodies->num; ++i)
        if (!is_in_dialect(*bodies->list[i].graph, Dialect::kTflite)) return false;
    return is_common(*node) || is_operator_of_tflite(node) || is_one_of(*node, kSharedWithTflite);
}

}  // namespace

Dialect find_dialect(const char* name)
{
    return std::strcmp(name, "tengine") == 0  ? Dialect::kTengine
           : std::strcmp(name, "tflite") == 0 ? Dialect::kTflite
                                              : Dialect::kOnnx;
}

bool is_in_dialect(const graph& source, Dialect dialect)
{
    node *const *begin = source.node_list, *const *end = begin + source.node_num;
    if (dialect == Dialect::kTflite) return std::all_of(begin, end, may_be_of_tflite);
    if (std::any_of(begin, end, is_operator_of_tflite)) return false;
    const bool has_tengine = std::any_of(begin, end, is_operator_of_tengine);
    // A tmfile may have operators of ONNX alone.
    return dialect == Dialect::kTengine ? has_tengine || source.core->prepared_format
                                        : !has_tengine;
}

bool has_onnx_buckets(const graph& source)
{
    if (IS_MINIMAL || count_ir_buckets(&source) == 0 || !is_in_dialect(source, Dialect::kOnnx) ||
        get_ir_context_number(source.attribute->context, "model.integer_io") != 0)
        return false;
    node *const *begin = source.node_list, *const *end = begin + source.node_num;
    if (std::any_of(begin, end, is_quantization) && std::none_of(begin, end, is_shape_reader))
        return false;
    TLOG_WARNING(
        "Tengine Lite cannot load the file, it contains ONNX nodes: graph '%s' has "
        "buckets, and operators of Tengine have the sizes of one shape",
        source.name);
    return true;
}

}  // namespace tengine
