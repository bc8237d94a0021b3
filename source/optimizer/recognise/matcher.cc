// SPDX-License-Identifier: Apache-2.0
#include "optimizer/recognise/matcher.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/half.h"
#include "graph/graph.h"
#include "graph/late_constant.h"
#include "operator/affinity.h"
#include "optimizer/pass.h"
#include "optimizer/recognise/rotary.h"

namespace tengine {
namespace {

bool is_float(const tensor& value)
{
    return value.data_type == TENGINE_DT_FP32 || value.data_type == TENGINE_DT_FP16 ||
           value.data_type == TENGINE_DT_BF16;
}

bool is_number(const tensor& value)
{
    return is_constant(&value) && is_float(value) && value.elem_num == 1 && value.data;
}

// A number as a type has it.
float round_to(int data_type, float number)
{
    if (data_type == TENGINE_DT_FP16) return fp16_to_fp32(fp32_to_fp16(number));
    if (data_type == TENGINE_DT_BF16) return bf16_to_fp32(fp32_to_bf16(number));
    return number;
}

// Models write irrational numbers with seven digits.
bool is_about(const tensor& constant, double number)
{
    constexpr float kError = 5e-7f;
    const float expected = round_to(constant.data_type, static_cast<float>(number));
    return std::fabs(read_pattern_number(constant) - expected) <= kError * std::fabs(expected);
}

// A mean along the last axis, which stays and has more than one element.
bool is_mean_of_rows(const node& mean)
{
    const tensor &x = *get_ir_node_input(&mean, 0), &result = *get_ir_node_output(&mean, 0);
    const int last = x.dim_num - 1;
    return last >= 0 && result.dim_num == x.dim_num && x.dims[last] > 1 && result.dims[last] == 1 &&
           std::equal(x.dims, x.dims + last, result.dims);
}

bool are_shapes_known(const node& node)
{
    return is_ir_tensor_shape_known(get_ir_node_input(&node, 0)) &&
           is_ir_tensor_shape_known(get_ir_node_output(&node, 0));
}

// A Concat along the last axis, and the Unsqueeze or Reshape before and the Reshape after one that
// add and remove an axis behind it.
bool is_join(const node& node)
{
    const tensor &x = *get_ir_node_input(&node, 0), &y = *get_ir_node_output(&node, 0);
    const int64_t axis = get_ir_node_int(&node, "axis", 0);
    if (is_op(&node, "Concat")) return axis == -1 || axis + 1 == y.dim_num;
    const bool adds = y.dim_num > x.dim_num;
    const tensor &less = adds ? x : y, &more = adds ? y : x;
    const int kept = adds ? x.dim_num : y.dim_num - 1;
    return more.dim_num == less.dim_num + 1 && kept >= 0 &&
           std::equal(less.dims, less.dims + kept, more.dims);
}

// Attributes of the operators that patterns name.
bool has_attributes(const node& node)
{
    if (is_op(&node, "ReduceMean")) return is_mean_of_rows(node);
    if (is_op(&node, "Softmax")) {
        const int64_t axis = get_ir_node_int(&node, "axis", -1);
        return axis == -1 || axis + 1 == get_ir_node_output(&node, 0)->dim_num;
    }
    if (is_op(&node, "HardSigmoid"))
        return get_ir_node_float(&node, "alpha", 0) == 1.0f / 6 &&
               get_ir_node_float(&node, "beta", 0) == 0.5f;
    if (is_op(&node, "Concat") || is_op(&node, "Reshape") || is_op(&node, "Unsqueeze"))
        return are_shapes_known(node) && is_join(node);
    return true;
}

// ---- text ----

const char* end_of_name(const char* text)
{
    return text + std::strcspn(text, "(,)");
}

const char* end_of_expression(const char* text)
{
    int depth = 0;
    while (*text && (depth > 0 || (*text != ',' && *text != ')'))) {
        depth += (*text == '(') - (*text == ')');
        ++text;
    }
    return text;
}

bool is_name(const char* text, const char* end, const char* name)
{
    const size_t length = static_cast<size_t>(end - text);
    return std::strlen(name) == length && std::strncmp(text, name, length) == 0;
}

// ---- the search ----

class Matcher
{
  public:
    explicit Matcher(const graph& graph) : graph_(graph) {}

    const Match& found() const { return match_; }

    bool find(const char* text, node& last)
    {
        const Goal goal = {text, get_ir_node_output(&last, 0), nullptr};
        return goal.value && search(&goal);
    }

  private:
    // An expression that a value has to be, and those that others have to be then.
    struct Goal
    {
        const char* text;
        tensor* value;
        const Goal* next;
    };

    // Tries all ways to reach the goals; the match is as before when there is none.
    bool search(const Goal* goal)
    {
        if (!goal) return is_closed() && has_older_operands() && is_treated_alike() && has_shapes();
        const Match before = match_;
        if (search_first(*goal)) return true;
        match_ = before;
        return false;
    }

    bool search_first(const Goal& goal)
    {
        const char* end = end_of_name(goal.text);
        if (*end == '(') return search_node(goal);
        for (int operand = 0; operand < kOperandNum; ++operand)
            if (is_name(goal.text, end, kOperandRules[operand].name))
                return match_operand(operand, goal.value) && search(goal.next);
        for (const PatternNumber& number : kPatternNumbers)
            if (is_name(goal.text, end, number.name))
                return is_number(*goal.value) && is_about(*goal.value, number.value) &&
                       search(goal.next);
        for (const PatternPiece& piece : kPatternPieces)
            if (is_name(goal.text, end, piece.name)) return search_piece(piece, goal);
        for (const PatternPart& part : kPatternParts) {
            const Goal alternative = {part.nodes, goal.value, goal.next};
            if (is_name(goal.text, end, part.name) && search(&alternative)) return true;
        }
        return false;
    }

    bool search_node(const Goal& goal)
    {
        node* node = get_ir_graph_node(&graph_, goal.value->producer);
        const char* end = end_of_name(goal.text);
        if (!node || !is_name(goal.text, end, get_ir_node_op(node)) || *get_ir_node_domain(node) ||
            node->dynamic_shape || node->core->custom_kernel || node->output_num != 1 ||
            !has_attributes(*node) || !add(node))
            return false;
        const bool commutes = is_op(node, "Add") || is_op(node, "Mul");
        return search_inputs(end + 1, *node, false, goal.next) ||
               (commutes && search_inputs(end + 1, *node, true, goal.next));
    }

    bool search_piece(const PatternPiece& piece, const Goal& goal)
    {
        Selection selection;
        if (!find_selection(graph_, piece, *goal.value, &selection)) return false;
        for (int i = 0; i < selection.node_num; ++i)
            if (selection.nodes[i]->core->custom_kernel || !add(selection.nodes[i])) return false;
        match_.is_interleaved = piece.is_interleaved;
        return match_operand(kOperandX, selection.x) && search(goal.next);
    }

    bool search_inputs(const char* text, const node& node, bool are_swapped, const Goal* rest)
    {
        Goal goals[kMostInputs];
        int number = 0;
        for (;; text += std::strlen(", ")) {
            const int index = are_swapped ? 1 - number : number;
            goals[number] = {text, get_ir_node_input(&node, index), &goals[number + 1]};
            if (!goals[number].value) return false;
            text = end_of_expression(text);
            ++number;
            if (*text == ')') break;
        }
        goals[number - 1].next = rest;
        const bool has_axes =
            is_op(&node, "ReduceMean") || is_op(&node, "Reshape") || is_op(&node, "Unsqueeze");
        return (number == node.input_num || has_axes) && search(goals);
    }

    // Results of all nodes but the last are for each other.
    bool is_closed() const
    {
        const auto is_inside = [this](int32_t reader) {
            return match_.has(get_ir_graph_node(&graph_, reader));
        };
        const auto is_closed = [&](const tensor* value) {
            return !is_ir_graph_output(&graph_, value->index) &&
                   std::all_of(value->consumer, value->consumer + value->consumer_num, is_inside);
        };
        for (int i = 1; i < match_.node_num; ++i)
            for (int output = 0; output < match_.nodes[i]->output_num; ++output)
                if (!is_closed(get_ir_node_output(match_.nodes[i], output))) return false;
        return true;
    }

    // No node that goes writes an operand.
    bool has_older_operands() const
    {
        return std::none_of(
            match_.operands, match_.operands + kOperandNum, [this](const tensor* operand) {
                return operand && match_.has(get_ir_graph_node(&graph_, operand->producer));
            });
    }

    bool is_treated_alike() const
    {
        const node& last = match_.last();
        const char* affinity = find_ir_execution_affinity(&last);
        return std::all_of(match_.nodes, match_.nodes + match_.node_num, [&](const node* other) {
            const char* others = find_ir_execution_affinity(other);
            const bool is_same =
                affinity && others ? std::strcmp(affinity, others) == 0 : affinity == others;
            return is_same && other->core->keep_float == last.core->keep_float;
        });
    }

    bool has_shapes() const
    {
        return match_.operands[kOperandX] ? has_shape_of_input() : has_heads();
    }

    bool match_operand(int operand, tensor* value)
    {
        tensor*& known = match_.operands[operand];
        if (known) return known == value;
        if (fits(kOperandRules[operand].kind, *value)) known = value;
        return known;
    }

    static bool fits(OperandKind kind, const tensor& value)
    {
        switch (kind) {
            case OperandKind::kVariable:
                return is_float(value) && !is_constant(&value);
            case OperandKind::kTensor:
                return is_float(value);
            case OperandKind::kList:
                return is_float(value) && is_constant(&value) && value.data;
            case OperandKind::kNumber:
                return is_number(value);
        }
        return false;
    }

    bool add(node* node)
    {
        if (match_.has(node)) return true;
        if (match_.node_num == Match::kMostNodes) return false;
        match_.nodes[match_.node_num++] = node;
        return true;
    }

    bool has_shape_of_input() const
    {
        const tensor &x = *match_.operands[kOperandX], &y = *get_ir_node_output(&match_.last(), 0);
        return is_ir_tensor_shape_known(&x) && is_ir_tensor_shape_known(&y) && x.elem_num > 0 &&
               x.data_type == y.data_type && x.dim_num == y.dim_num &&
               std::equal(x.dims, x.dims + x.dim_num, y.dims) && has_lists_of(x) &&
               has_tables_of(x);
    }

    // The tables of a rotation are absent or have an angle for each pair of a token.
    bool has_tables_of(const tensor& x) const
    {
        RotaryShape shape;
        const tensor* cosines = match_.operands[kOperandCosines];
        const tensor* sines = match_.operands[kOperandSines];
        return !cosines || (find_rotary_shape(x, *cosines, *sines, &shape) &&
                            has_angle_of_pair(*cosines, shape) && has_angle_of_pair(*sines, shape));
    }

    bool has_angle_of_pair(const tensor& table, const RotaryShape& shape) const
    {
        const bool is_readable = table.data || find_ir_late_values(&table);
        return (!is_constant(&table) || is_readable) &&
               (table.dims[table.dim_num - 1] != shape.size ||
                repeats_pairs(graph_, table, match_.is_interleaved));
    }

    // The lists are those of the last axis.
    bool has_lists_of(const tensor& x) const
    {
        for (const int operand : {kOperandScale, kOperandBias}) {
            const tensor* list = match_.operands[operand];
            const int count = list ? x.dims[x.dim_num - 1] : 0;
            if (list && (list->data_type != x.data_type || list->elem_num != count ||
                         list->dims[list->dim_num - 1] != count))
                return false;
        }
        return true;
    }

    // The tensors of an attention have batch and heads in their first two axes.
    bool has_heads() const
    {
        const tensor& y = *get_ir_node_output(&match_.last(), 0);
        for (const int operand : {kOperandQueries, kOperandKeys, kOperandValues}) {
            const tensor& each = *match_.operands[operand];
            if (!is_ir_tensor_shape_known(&each) || each.dim_num != 4 || each.elem_num == 0 ||
                each.data_type != y.data_type || !std::equal(each.dims, each.dims + 2, y.dims))
                return false;
        }
        return !is_constant(match_.operands[kOperandKeys]) && has_mask();
    }

    // A mask is absent or broadcasts to the scores, with a number for each key.
    bool has_mask() const
    {
        const tensor* mask = match_.operands[kOperandMask];
        const tensor &queries = *match_.operands[kOperandQueries],
                     &keys = *match_.operands[kOperandKeys];
        const int scores[] = {queries.dims[0], queries.dims[1], queries.dims[2], keys.dims[3]};
        if (!mask) return true;
        bool fits = mask->data_type == queries.data_type && is_ir_tensor_shape_known(mask) &&
                    mask->dim_num >= 1 && mask->dim_num <= 4 &&
                    mask->dims[mask->dim_num - 1] == scores[3];
        for (int i = 2; fits && i <= mask->dim_num; ++i) {
            const int dim = mask->dims[mask->dim_num - i];
            fits = dim == 1 || dim == scores[4 - i];
        }
        return fits;
    }

    static constexpr int kMostInputs = 3;  // that patterns name

    const graph& graph_;
    Match match_;
};

}  // namespace

float read_pattern_number(const tensor& constant)
{
    if (constant.data_type != TENGINE_DT_FP32) {
        uint16_t half;
        std::memcpy(&half, constant.data, sizeof half);
        return constant.data_type == TENGINE_DT_FP16 ? fp16_to_fp32(half) : bf16_to_fp32(half);
    }
    float number;  // files do not align their numbers
    std::memcpy(&number, constant.data, sizeof number);
    return number;
}

bool find_pattern(const Pattern& pattern, node& last, Match* out_match)
{
    Matcher matcher(*last.graph);
    if (!matcher.find(pattern.nodes, last)) return false;
    *out_match = matcher.found();
    return true;
}

}  // namespace tengine
