// SPDX-License-Identifier: Apache-2.0
// The nodes that exporters write for an attention become one step (kernel/attention/attention.h): a
// MatMul of queries and keys, products with numbers before and after it, a sum with a mask, a
// Softmax, a MatMul with the values. Where queries, keys and values come from a Slice, a Reshape, a
// Transpose, the step reads what these read, and it writes what a Transpose after it would. The
// operator Attention has no such layouts, so the nodes are for the plan and not for the pass
// recognise, which writes the operator for other devices alone.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "device/cpu/kernel/vector/float_rows.h"
#include "device/cpu/plan/part_outputs.h"
#include "device/cpu/plan/step.h"
#include "device/cpu/plan/tensor_table.h"
#include "operator/onnx/slice_param.h"
#include "operator/onnx/softmax_param.h"
#include "operator/onnx/transpose_param.h"

namespace tengine::cpu {
namespace {

struct Axis
{
    int64_t size, step;
};

// A tensor's view of the elements of another, times a number.
struct View
{
    tensor* base = nullptr;
    int64_t offset = 0;
    Vector<Axis> axes;
    float scale = 1;
    Vector<size_t> steps;  // that are not needed to read it so
};

// The input of a Softmax.
struct Scores
{
    float scale = 1;  // a product's
    tensor* mask = nullptr;
    Vector<size_t> steps;  // that compute it
};

View view_all(tensor* value)
{
    View view;
    view.base = value;
    view.axes.resize(static_cast<size_t>(value->dim_num));
    int64_t step = 1;
    for (size_t i = view.axes.size(); i-- > 0; step *= value->dims[i])
        view.axes[i] = {value->dims[i], step};
    return view;
}

bool has_same_shape(const tensor& a, const tensor& b)
{
    return a.dim_num == b.dim_num && std::equal(a.dims, a.dims + a.dim_num, b.dims);
}

bool transpose(const Step& step, View* view)
{
    const op_ints& perm = step.context.param<transpose_param>().perm;
    const Vector<Axis> axes = view->axes;
    const size_t rank = axes.size();
    if (perm.num != 0 && static_cast<size_t>(perm.num) != rank) return false;
    for (size_t i = 0; i < rank; ++i)
        view->axes[i] = axes[perm.num != 0 ? static_cast<size_t>(perm.values[i]) : rank - 1 - i];
    return true;
}

bool slice(const Step& step, View* view)
{
    slice_range ranges[MAX_SHAPE_DIM_NUM];
    if (resolve_slice(step.context.node, ranges) != TENGINE_OK) return false;
    for (size_t i = 0; i < view->axes.size(); ++i) {
        Axis& axis = view->axes[i];
        view->offset += ranges[i].start * axis.step;
        axis = {ranges[i].length, axis.step * ranges[i].step};
    }
    return true;
}

// Axes that continue each other become one, and are cut from the last on.
bool reshape(const Step& step, View* view)
{
    Vector<Axis> pieces;
    for (const Axis& axis : view->axes) {
        if (axis.size == 1) continue;
        if (!pieces.empty() && pieces.back().step == axis.size * axis.step)
            pieces.back() = {pieces.back().size * axis.size, axis.step};
        else
            pieces.push_back(axis);
    }
    const tensor& result = *step.outputs[0];
    view->axes.assign(static_cast<size_t>(result.dim_num), {1, 1});
    Axis left = {1, 1};
    for (size_t i = view->axes.size(); i-- > 0;) {
        const int64_t size = result.dims[i];
        if (size == 1) continue;
        if (left.size == 1 && !pieces.empty()) {
            left = pieces.back();
            pieces.pop_back();
        }
        if (left.size % size != 0) return false;
        view->axes[i] = {size, left.step};
        left = {left.size / size, left.step * size};
    }
    return true;
}

float scale_of(const Step& step, const tensor& number)
{
    const float factor = read_float(number, 0);
    return is_operator(step, "Div") ? 1 / factor : factor;
}

constexpr struct Mover
{
    const char* op;
    bool (*move)(const Step& step, View* view);
} kMovers[] = {{"Transpose", transpose}, {"Slice", slice}, {"Reshape", reshape}};

bool is_dense(const Axis& axis)
{
    return axis.size == 1 || axis.step == 1;
}

// Whether an operand has as many axes as the result and the same batch and heads.
bool has_heads_of(const tensor& result, const tensor& operand)
{
    return operand.dim_num == result.dim_num &&
           std::equal(result.dims, result.dims + result.dim_num - 2, operand.dims);
}

// Whether it broadcasts to the scores and has a number for each key.
bool is_mask(const tensor& mask, const tensor& scores)
{
    const int skipped = scores.dim_num - mask.dim_num;
    if (skipped < 0 || mask.dim_num < 1 ||
        mask.dims[mask.dim_num - 1] != scores.dims[scores.dim_num - 1])
        return false;
    for (int i = 0; i < mask.dim_num; ++i)
        if (mask.dims[i] != 1 && mask.dims[i] != scores.dims[skipped + i]) return false;
    return true;
}

// A view with as many axes as the scores have; those of one element are repeated.
View broadcast(tensor* mask, size_t rank)
{
    View view = view_all(mask);
    view.axes.insert(view.axes.begin(), rank - view.axes.size(), {1, 0});
    for (Axis& axis : view.axes)
        if (axis.size == 1) axis.step = 0;
    return view;
}

HeadMatrices lay_out(const View& view, size_t rows, size_t columns)
{
    const size_t outer = view.axes.size() - 2;
    const auto step = [&](size_t axis) { return view.axes[axis].step; };
    return {view.offset, outer > 1 ? step(outer - 2) : 0, outer > 0 ? step(outer - 1) : 0,
            step(rows), step(columns)};
}

class AttentionFuser
{
  public:
    AttentionFuser(const subgraph& part, Vector<Step>& steps)
        : steps_(steps), is_gone_(steps.size()), border_(part)
    {
        for (size_t i = 0; i < steps.size(); ++i) {
            for (const tensor* input : steps[i].inputs) {
                if (!input) continue;
                uses_[input].reader = i;
                ++uses_[input].read_num;
            }
            for (const tensor* output : steps[i].outputs)
                if (output) uses_[output].writer = i;
        }
    }

    void run(const Kernel& kernel)
    {
        for (size_t i = 0; i < steps_.size(); ++i)
            if (is_plain(i, "Softmax", 1)) fuse(i, kernel);
        drop_steps(is_gone_, steps_);
    }

  private:
    static constexpr size_t kNoStep = SIZE_MAX;

    struct Uses
    {
        size_t writer = kNoStep;
        size_t reader = kNoStep;
        int read_num = 0;
    };

    // A step that nothing has been fused into, whose tensors are floats (for a Slice or a Reshape,
    // the first is).
    bool is_plain(size_t index, const char* op, size_t operand_num) const
    {
        if (index == kNoStep || is_gone_[index]) return false;
        const Step& step = steps_[index];
        if (!is_operator(step, op) || step.dynamic || step.kernel ||
            step.inputs.size() < operand_num || step.context.fusion.activation != Activation::kNone)
            return false;
        const auto is_float = [](const tensor* each) {
            return each && is_fast_float(each->data_type);
        };
        return std::all_of(step.inputs.begin(), step.inputs.begin() + operand_num, is_float) &&
               is_float(step.outputs[0]) && step.outputs[0]->elem_num > 0;
    }

    // The uses of a tensor that one step reads, once, and nothing outside of the part; else none.
    const Uses& uses_of(const tensor* value) const
    {
        static const Uses kNone;
        const Uses* uses = uses_.find(value);
        return uses && uses->read_num == 1 && !border_.has(*value) ? *uses : kNone;
    }

    // Follows at most `most` steps.
    View find_view(tensor* value, int most) const
    {
        const size_t writer = uses_of(value).writer;
        for (const Mover& mover : kMovers) {
            if (most == 0 || !is_plain(writer, mover.op, 1)) continue;
            View view = find_view(steps_[writer].inputs[0], most - 1);
            if (!mover.move(steps_[writer], &view)) break;
            view.steps.push_back(writer);
            return view;
        }
        const tensor* number;
        const size_t place = most > 0 ? find_scaling(writer, &number) : kNoStep;
        if (place == kNoStep) return view_all(value);
        View view = find_view(steps_[writer].inputs[place], most - 1);
        view.scale *= scale_of(steps_[writer], *number);
        view.steps.push_back(writer);
        return view;
    }

    // The input of the step that is multiplied by a number or divided by one; kNoStep: none.
    size_t find_scaling(size_t index, const tensor** out_number) const
    {
        const bool divides = is_plain(index, "Div", 2);
        if (!divides && !is_plain(index, "Mul", 2)) return kNoStep;
        const Step& step = steps_[index];
        for (size_t place = 0; place < (divides ? 1 : 2); ++place) {
            const tensor& number = *step.inputs[1 - place];
            *out_number = &number;
            if (number.tensor_type == TENSOR_TYPE_CONST && number.elem_num == 1 && number.data &&
                has_same_shape(*step.inputs[place], *step.outputs[0]))
                return place;
        }
        return kNoStep;
    }

    // The MatMul whose result, times numbers, the scores are; kNoStep: there is none.
    size_t find_product(const tensor* scores, Scores* found) const
    {
        const tensor* number;
        for (;;) {
            const size_t writer = uses_of(scores).writer;
            if (is_plain(writer, "MatMul", 2) && steps_[writer].inputs.size() == 2) {
                found->steps.push_back(writer);
                return writer;
            }
            const size_t place = find_scaling(writer, &number);
            if (place == kNoStep) return kNoStep;
            scores = steps_[writer].inputs[place];
            found->scale *= scale_of(steps_[writer], *number);
            found->steps.push_back(writer);
        }
    }

    // The same where a mask may have been added.
    size_t find_masked_product(const tensor* scores, Scores* found) const
    {
        const size_t writer = uses_of(scores).writer;
        if (!is_plain(writer, "Add", 2)) return find_product(scores, found);
        for (size_t place = 0; place < 2; ++place) {
            Scores masked;
            tensor* mask = steps_[writer].inputs[1 - place];
            const tensor* rest = steps_[writer].inputs[place];
            const size_t product = has_same_shape(*rest, *scores) && is_mask(*mask, *scores)
                                       ? find_product(rest, &masked)
                                       : kNoStep;
            if (product == kNoStep) continue;
            *found = masked;
            found->steps.push_back(writer);
            found->mask = mask;
            return product;
        }
        return kNoStep;
    }

    void fuse(size_t index, const Kernel& kernel)
    {
        const Step& softmax = steps_[index];
        const int rank = softmax.outputs[0]->dim_num;
        const int axis = softmax.context.param<softmax_param>().axis;
        const size_t last = uses_of(softmax.outputs[0]).reader;
        if (rank < 2 || rank > kMostRank || (axis != -1 && axis != rank - 1) ||
            !is_plain(last, "MatMul", 2) || steps_[last].inputs.size() != 2 ||
            steps_[last].inputs[0] != softmax.outputs[0])
            return;
        Scores scores;
        const size_t first = find_masked_product(softmax.inputs[0], &scores);
        if (first == kNoStep || steps_[first].inputs[0]->elem_num == 0 ||
            !has_heads_of(*steps_[last].outputs[0], *steps_[first].inputs[0]) ||
            !has_heads_of(*steps_[last].outputs[0], *steps_[first].inputs[1]) ||
            !has_heads_of(*steps_[last].outputs[0], *steps_[last].inputs[1]))
            return;
        scores.steps.push_back(index);
        replace(steps_[last], steps_[first], scores, kernel);
    }

    void replace(Step& step, const Step& product, const Scores& scores, const Kernel& kernel)
    {
        const size_t columns = static_cast<size_t>(step.outputs[0]->dim_num) - 1,
                     rows = columns - 1;
        View query = find_view(product.inputs[0], kMostMoves);
        View key = find_view(product.inputs[1], kMostMoves);
        View value = find_view(step.inputs[1], kMostMoves);
        if (!is_dense(query.axes[columns])) query = view_all(product.inputs[0]);
        if (!is_dense(key.axes[rows]) && !is_dense(key.axes[columns]))
            key = view_all(product.inputs[1]);
        if (!is_dense(value.axes[columns]) || value.scale != 1) value = view_all(step.inputs[1]);
        const float scale = scores.scale * query.scale * key.scale;
        if (!std::isfinite(scale)) return;

        Attention& attention = step.attention.emplace_back();
        attention = {};
        const auto size = [](const View& view, size_t axis) { return view.axes[axis].size; };
        attention.batch = rows > 1 ? size(query, rows - 2) : 1;
        attention.heads = rows > 0 ? size(query, rows - 1) : 1;
        attention.queries = size(query, rows);
        attention.depth = size(query, columns);
        attention.keys = size(value, rows);
        attention.width = size(value, columns);
        attention.query = lay_out(query, rows, columns);
        attention.key = lay_out(key, columns, rows);
        attention.value = lay_out(value, rows, columns);
        attention.scale = scale;
        attention.has_mask = scores.mask != nullptr;
        if (scores.mask)
            attention.mask = lay_out(broadcast(scores.mask, columns + 1), rows, columns);
        View result = view_all(step.outputs[0]);
        take_transpose(step, &result);
        attention.result = lay_out(result, rows, columns);
        drop(scores.steps);
        drop(query.steps);
        drop(key.steps);
        drop(value.steps);
        step.inputs.clear();
        for (tensor* input : {query.base, key.base, value.base, scores.mask})
            step.inputs.push_back(input);
        step.kernel = &kernel;
        step.context.attention = step.attention.data();
    }

    void drop(const Vector<size_t>& steps)
    {
        for (const size_t step : steps)
            is_gone_[step] = true;
    }

    // The result of a Transpose after it, which keeps rows in one piece, is the step's.
    void take_transpose(Step& step, View* result)
    {
        const size_t next = uses_of(step.outputs[0]).reader;
        if (!is_plain(next, "Transpose", 1)) return;
        const op_ints& perm = steps_[next].context.param<transpose_param>().perm;
        const size_t rank = result->axes.size();
        if (static_cast<size_t>(perm.num) != rank ||
            static_cast<size_t>(perm.values[rank - 1]) != rank - 1)
            return;
        const View transposed = view_all(steps_[next].outputs[0]);
        for (size_t i = 0; i < rank; ++i)
            result->axes[static_cast<size_t>(perm.values[i])] = transposed.axes[i];
        step.outputs[0] = steps_[next].outputs[0];
        is_gone_[next] = true;
    }

    static constexpr int kMostRank = 4;   // with batch and heads
    static constexpr int kMostMoves = 6;  // before a product

    Vector<Step>& steps_;
    Vector<bool> is_gone_;
    const PartOutputs border_;  // outputs of the part
    TensorTable<Uses> uses_;
};

}  // namespace

void fuse_attention(const subgraph& part, Vector<Step>& steps)
{
    const Kernel* kernel = find_fused_attention();
    if (kernel) AttentionFuser(part, steps).run(*kernel);
}

}  // namespace tengine::cpu
