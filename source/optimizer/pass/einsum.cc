// SPDX-License-Identifier: Apache-2.0
// Einsum as products that every device has: first the diagonals and sums of each operand, then two
// operands at a time (contraction_order.h) as a batched MatMul, between Transpose and Reshape where
// the order of axes differs, or as a Mul where nothing is summed. Integers of 8 and 16 bits are
// widened; their low bits stay the same. An Einsum stays if its shapes depend on data, if it sums
// over no elements, if an intermediate product would have more axes than a tensor, or if this build
// lacks the operators.
#include <algorithm>

#include "graph/graph.h"
#include "operator/onnx/einsum_param.h"
#include "operator/selection.h"
#include "operator/tengine/emit.h"
#include "optimizer/pass.h"
#include "optimizer/pass/contraction_order.h"

namespace tengine {
namespace {

// A tensor whose axes have these labels, each once.
struct Term
{
    struct tensor* value;
    Vector<int> labels;
};

using Dims = Vector<int64_t>;

Labels set_of(const Vector<int>& labels)
{
    Labels set = 0;
    for (const int label : labels)
        set |= Labels{1} << label;
    return set;
}

bool has_label(Labels set, int label)
{
    return (set >> label & 1) != 0;
}

bool has_label(const Term& term, int label)
{
    return has_label(set_of(term.labels), label);
}

Vector<int> filter(const Vector<int>& labels, Labels set)
{
    Vector<int> filtered;
    for (const int label : labels)
        if (has_label(set, label)) filtered.push_back(label);
    return filtered;
}

Vector<int> join(const Vector<int>& a, const Vector<int>& b)
{
    Vector<int> joined = a;
    joined.insert(joined.end(), b.begin(), b.end());
    return joined;
}

int narrow_of(const struct tensor& value)
{
    switch (value.data_type) {
        case TENGINE_DT_INT8:
        case TENGINE_DT_INT16:
            return TENGINE_DT_INT32;
        case TENGINE_DT_UINT8:
        case TENGINE_DT_UINT16:
            return TENGINE_DT_UINT32;
        default:
            return value.data_type;
    }
}

class Lowering
{
  public:
    Lowering(node& einsum, const einsum_plan& plan)
        : einsum_(einsum), plan_(plan), emit_(start_emitting(einsum.graph, &einsum))
    {
        for (int i = 0; i < plan.output_rank; ++i)
            output_.push_back(i);
    }

    // False: the node stays, and nothing has been emitted.
    bool find_order()
    {
        Contraction contraction = {{}, set_of(output_), {}, MAX_SHAPE_DIM_NUM};
        contraction.sizes.assign(plan_.sizes, plan_.sizes + plan_.loop_num);
        for (int i = 0; i < einsum_.input_num; ++i)
            contraction.terms.push_back(labels_of(i) & wanted_beside(i));
        return find_contraction_order(contraction, &pairs_);
    }

    int run()
    {
        Vector<Term> terms;
        for (int i = 0; i < einsum_.input_num; ++i)
            terms.push_back(take_input(i));
        for (const auto& [a, b] : pairs_) {
            const Term &left = terms[static_cast<size_t>(a)],
                       &right = terms[static_cast<size_t>(b)];
            const Term product = multiply(left, right, find_wanted(terms, a, b));
            used_.push_back(a);
            used_.push_back(b);
            terms.push_back(product);
        }
        struct tensor* result = arrange(terms.back(), output_).value;
        const struct tensor& first = *get_ir_node_input(&einsum_, 0);
        if (result && result->data_type != first.data_type)
            result = emit_cast(&emit_, result, first.data_type);
        if (result && result == get_ir_node_input(&einsum_, 0))
            result = emit_op(&emit_, "Identity", 1, result);
        return finish_emitting(&emit_, 1, result);
    }

  private:
    int64_t size(int label) const { return plan_.sizes[label]; }

    // Axes of one element may be broadcast to longer ones of other operands, and are then left out.
    bool is_counted(int input, int axis) const
    {
        return get_ir_node_input(&einsum_, input)->dims[axis] == size(plan_.axes[input][axis]);
    }
    Labels labels_of(int input) const
    {
        Labels set = 0;
        for (int i = 0; i < get_ir_node_input(&einsum_, input)->dim_num; ++i)
            if (is_counted(input, i)) set |= Labels{1} << plan_.axes[input][i];
        return set;
    }
    Labels wanted_beside(int input) const
    {
        Labels wanted = set_of(output_);
        for (int i = 0; i < einsum_.input_num; ++i)
            if (i != input) wanted |= labels_of(i);
        return wanted;
    }
    // The axes of the output and of the terms that remain.
    Labels find_wanted(const Vector<Term>& terms, int a, int b) const
    {
        Labels wanted = set_of(output_);
        for (int i = 0; i < static_cast<int>(terms.size()); ++i)
            if (i != a && i != b && std::find(used_.begin(), used_.end(), i) == used_.end())
                wanted |= set_of(terms[static_cast<size_t>(i)].labels);
        return wanted;
    }

    struct tensor* reshape(struct tensor* value, const Dims& dims)
    {
        if (!value || (value->dim_num == static_cast<int>(dims.size()) &&
                       std::equal(dims.begin(), dims.end(), value->dims)))
            return value;
        return emit_reshape(&emit_, value, dims.data(), static_cast<int>(dims.size()));
    }
    void append_sizes(const Vector<int>& labels, Dims* dims) const
    {
        for (const int label : labels)
            dims->push_back(size(label));
    }
    int64_t count(const Vector<int>& labels) const
    {
        int64_t product = 1;
        for (const int label : labels)
            product *= size(label);
        return product;
    }

    // Transposes the axes to the order of `labels`, which are all of them.
    Term arrange(const Term& term, const Vector<int>& labels)
    {
        if (term.labels == labels) return term;
        Dims order;
        for (const int label : labels)
            order.push_back(std::find(term.labels.begin(), term.labels.end(), label) -
                            term.labels.begin());
        return {emit_transpose(&emit_, term.value, order.data(), static_cast<int>(order.size())),
                labels};
    }

    // ---- one operand ----

    Term take_input(int input)
    {
        Term term = {get_ir_node_input(&einsum_, input), {}};
        const struct tensor& given = *term.value;
        if (const int wide = narrow_of(given); wide != given.data_type)
            term.value = emit_cast(&emit_, term.value, wide);
        Dims dims;
        for (int i = 0; i < given.dim_num; ++i) {
            if (!is_counted(input, i)) continue;
            dims.push_back(given.dims[i]);
            term.labels.push_back(plan_.axes[input][i]);
        }
        term.value = reshape(term.value, dims);
        while (take_diagonal(&term)) {
        }
        return sum_own(term, wanted_beside(input));
    }

    // Merges axes with the same label: moves them to the end, where the diagonal is every (n + 1)th
    // element, or (n^2 + n + 1)th of three.
    bool take_diagonal(Term* term)
    {
        const Vector<int>& labels = term->labels;
        const auto is_repeated = [&](int label) {
            return std::count(labels.begin(), labels.end(), label) > 1;
        };
        const auto found = std::find_if(labels.begin(), labels.end(), is_repeated);
        if (found == labels.end()) return false;
        const int label = *found;
        Vector<int> others;
        Dims order, dims, last;
        for (size_t i = 0; i < labels.size(); ++i) {
            (labels[i] == label ? last : order).push_back(static_cast<int64_t>(i));
            if (labels[i] != label) others.push_back(labels[i]);
        }
        order.insert(order.end(), last.begin(), last.end());
        const int64_t n = size(label);
        int64_t all = 1, step = 0;
        for (size_t i = 0; i < last.size(); ++i, all *= n)
            step += all;
        append_sizes(others, &dims);
        dims.push_back(all);
        if (!std::is_sorted(order.begin(), order.end()))
            term->value =
                emit_transpose(&emit_, term->value, order.data(), static_cast<int>(order.size()));
        term->value =
            slice_last(reshape(term->value, dims), static_cast<int64_t>(others.size()), all, step);
        term->labels = join(others, {label});
        return true;
    }
    struct tensor* slice_last(struct tensor* value, int64_t axis, int64_t end, int64_t step)
    {
        const int64_t start = 0;
        struct tensor *starts = emit_ints(&emit_, &start, 1), *ends = emit_ints(&emit_, &end, 1);
        struct tensor *axes = emit_ints(&emit_, &axis, 1), *steps = emit_ints(&emit_, &step, 1);
        return emit_op(&emit_, "Slice", 5, value, starts, ends, axes, steps);
    }

    // Sums over labels that no other term has.
    Term sum_own(const Term& term, Labels wanted)
    {
        const Vector<int> kept = filter(term.labels, wanted);
        if (kept.size() == term.labels.size()) return term;
        Dims axes;
        for (size_t i = 0; i < term.labels.size(); ++i)
            if (!has_label(wanted, term.labels[i])) axes.push_back(static_cast<int64_t>(i));
        begin_op(&emit_, "ReduceSum", 2, term.value,
                 emit_ints(&emit_, axes.data(), static_cast<int>(axes.size())));
        emit_attr_int(&emit_, "keepdims", 0);
        return {end_op(&emit_), kept};
    }

    // ---- two operands ----

    // The labels of a product: in both and kept, in both and summed, in one only.
    struct Roles
    {
        Vector<int> stack, sum, left, right;
    };

    Term multiply(const Term& given_a, const Term& given_b, Labels wanted)
    {
        // If the output begins with labels of the second operand only, these are the rows.
        const bool turns = begins_output(given_b, given_a);
        const Term &a = turns ? given_b : given_a, &b = turns ? given_a : given_b;
        Roles roles;
        for (const int label : a.labels)
            (!has_label(b, label)       ? roles.left
             : has_label(wanted, label) ? roles.stack
                                        : roles.sum)
                .push_back(label);
        for (const int label : b.labels)
            if (!has_label(a, label)) roles.right.push_back(label);
        const Vector<int> kept = join(join(roles.stack, roles.left), roles.right);
        struct tensor* value =
            roles.sum.empty() ? multiply_elements(a, b, roles) : multiply_matrices(a, b, roles);
        Dims dims;
        append_sizes(kept, &dims);
        return {reshape(value, dims), kept};
    }
    bool begins_output(const Term& a, const Term& b) const
    {
        for (const int label : output_) {
            const bool in_a = has_label(a, label), in_b = has_label(b, label);
            if (in_a != in_b) return in_a;
        }
        return false;
    }

    // Axes that only the other operand has get one element.
    struct tensor* multiply_elements(const Term& a, const Term& b, const Roles& roles)
    {
        const Term left = arrange(a, join(roles.stack, roles.left));
        const Term right = arrange(b, join(roles.stack, roles.right));
        Dims left_dims, right_dims;
        append_sizes(left.labels, &left_dims);
        left_dims.insert(left_dims.end(), roles.right.size(), 1);
        append_sizes(roles.stack, &right_dims);
        if (!roles.stack.empty()) right_dims.insert(right_dims.end(), roles.left.size(), 1);
        append_sizes(roles.right, &right_dims);
        return emit_op(&emit_, "Mul", 2, reshape(left.value, left_dims),
                       reshape(right.value, right_dims));
    }

    // Batch axes are merged only if the tensor would have too many axes; rows are merged if there
    // is a batch.
    struct tensor* multiply_matrices(const Term& a, const Term& b, const Roles& roles)
    {
        const Term left = arrange(a, join(join(roles.stack, roles.left), roles.sum));
        const Term right = arrange(b, join(join(roles.stack, roles.sum), roles.right));
        Dims left_dims, right_dims;
        if (roles.stack.size() + 2 <= MAX_SHAPE_DIM_NUM)
            append_sizes(roles.stack, &left_dims);
        else
            left_dims.push_back(count(roles.stack));
        right_dims = left_dims;
        if (roles.stack.empty() && !roles.left.empty())
            append_sizes(roles.left, &left_dims);
        else
            left_dims.push_back(count(roles.left));
        left_dims.push_back(count(roles.sum));
        right_dims.push_back(count(roles.sum));
        right_dims.push_back(count(roles.right));
        return emit_op(&emit_, "MatMul", 2, reshape(left.value, left_dims),
                       reshape(right.value, right_dims));
    }

    node& einsum_;
    const einsum_plan& plan_;
    emitter_t emit_;
    Vector<int> output_;
    Vector<std::pair<int, int>> pairs_;
    Vector<int> used_;  // terms that are part of a product
};

bool is_static_einsum(const node& node)
{
    return is_op(&node, "Einsum") && !node.core->custom_kernel && !find_ir_unknown_input(&node);
}

int lower_einsum(node& node, bool* out_lowered)
{
    einsum_plan plan;
    TENGINE_RETURN_IF_ERROR(plan_einsum(&node, &plan));
    if (std::find(plan.sizes, plan.sizes + plan.loop_num, 0) != plan.sizes + plan.loop_num)
        return TENGINE_OK;
    Lowering lowering(node, plan);
    if (!lowering.find_order()) return TENGINE_OK;
    const int status = lowering.run();
    // A build for other models may lack the operators: the node stays, and the nodes emitted so far
    // are dead code.
    if (status == TENGINE_EOPERATOR && is_build_selective()) {
        tengine_error_clear();
        return TENGINE_OK;
    }
    *out_lowered = true;
    return status;
}

}  // namespace

int lower_einsums(graph& graph)
{
    bool has_lowered = false;
    for (int i = 0, given = graph.node_num; i < given; ++i)
        if (is_static_einsum(*graph.node_list[i]))
            TENGINE_RETURN_IF_ERROR(lower_einsum(*graph.node_list[i], &has_lowered));
    if (!has_lowered) return TENGINE_OK;
    // Transposed weights are folded again.
    TENGINE_RETURN_IF_ERROR(tidy_graph(graph));
    return infer_nodes(graph);
}

}  // namespace tengine
