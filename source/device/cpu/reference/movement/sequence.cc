// SPDX-License-Identifier: Apache-2.0
// Sequences and optional values (graph/sequence.h). Every operator makes a new sequence: a copy.
#include "graph/sequence.h"

#include <algorithm>
#include <cstring>

#include "base/containers.hpp"
#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/control/body_run.h"
#include "graph/body.h"
#include "graph/graph.h"
#include "graph/preparation.h"
#include "operator/onnx/sequence_param.h"

namespace tengine::cpu {
namespace {

using Elements = Vector<ir_element_t>;

// ---- results, whose shapes are found here ----

int allocate_output(const KernelContext& context, int index, int data_type, const int* dims,
                    int dim_num)
{
    tensor& output = *context.output(index);
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_data_type(&output, data_type));
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(&output, dims, dim_num));
    TENGINE_RETURN_IF_ERROR(check_ir_memory(context.node->graph,
                                            static_cast<int64_t>(get_ir_tensor_bytes(&output)),
                                            context.node->name));
    return allocate_ir_tensor(&output);
}

int give_element(const KernelContext& context, const ir_element_t& element)
{
    TENGINE_RETURN_IF_ERROR(
        allocate_output(context, 0, element.data_type, element.dims, element.dim_num));
    if (const size_t bytes = get_ir_element_bytes(&element))
        std::memcpy(context.output(0)->data, element.data, bytes);
    return TENGINE_OK;
}

int give_sequence(const KernelContext& context, int index, const Elements& elements,
                  bool is_absent = false)
{
    const int num = static_cast<int>(elements.size());
    int bytes;
    TENGINE_RETURN_IF_ERROR(measure_ir_sequence(elements.data(), num, &bytes));
    TENGINE_RETURN_IF_ERROR(
        allocate_output(context, index, context.output(index)->data_type, &bytes, 1));
    write_ir_sequence(elements.data(), num, is_absent, context.output(index)->data);
    return TENGINE_OK;
}

int give_number(const KernelContext& context, int data_type, int64_t number)
{
    TENGINE_RETURN_IF_ERROR(allocate_output(context, 0, data_type, nullptr, 0));
    if (data_type == TENGINE_DT_BOOL)
        *context.output(0)->u8 = number != 0;
    else
        *context.output(0)->i64 = number;
    return TENGINE_OK;
}

// ---- what is given ----

Elements list_elements(const tensor& sequence)
{
    Elements elements;
    for (int i = 0; i < count_ir_sequence(sequence.data); ++i)
        elements.push_back(get_ir_sequence_element(sequence.data, i));
    return elements;
}

// Types are checked at run time: the rules of these operators infer only the types of results.
int check_integer(const KernelContext& context, const tensor& input)
{
    if (input.data_type == TENGINE_DT_INT32 || input.data_type == TENGINE_DT_INT64)
        return TENGINE_OK;
    return fail_node(context.node, TENGINE_EDTYPE, "'%s' is %s, expected int32 or int64",
                     input.name, get_data_type_name(input.data_type));
}

bool is_sequence(const tensor& value)
{
    return get_ir_container(value.data_type) == TENGINE_DT_SEQUENCE;
}

int check_is_sequence(const KernelContext& context, const tensor& input)
{
    if (is_sequence(input)) return TENGINE_OK;
    return fail_node(context.node, TENGINE_EDTYPE, "'%s' is %s, expected a sequence", input.name,
                     get_data_type_name(input.data_type));
}

// Reads input `index` as a position from 0 to `limit` - 1, negative ones from the end; `otherwise`
// if it is absent.
int read_position(const KernelContext& context, int index, int64_t length, int64_t limit,
                  int64_t otherwise, int64_t* out_position)
{
    const tensor* input = context.input(index);
    int64_t position = otherwise;
    if (input) TENGINE_RETURN_IF_ERROR(check_integer(context, *input));
    if (input && input->elem_num != 1)
        return fail_node(context.node, TENGINE_EINVAL, "the position has %lld elements, expected 1",
                         static_cast<long long>(input->elem_num));
    if (input) position = input->data_type == TENGINE_DT_INT32 ? *input->i32 : *input->i64;
    if (position < -length || position >= limit)
        return fail_node(context.node, TENGINE_ERANGE,
                         "position %lld of a sequence of %lld: expected %lld to %lld",
                         static_cast<long long>(position), static_cast<long long>(length),
                         static_cast<long long>(-length), static_cast<long long>(limit - 1));
    *out_position = position < 0 ? position + length : position;
    return TENGINE_OK;
}

int check_element_type(const KernelContext& context, const tensor& element, int data_type)
{
    if (element.data_type == data_type) return TENGINE_OK;
    return fail_node(context.node, TENGINE_EDTYPE, "'%s' is %s, the sequence's elements are %s",
                     element.name, get_data_type_name(element.data_type),
                     get_data_type_name(data_type));
}

// ---- the operators ----

int run_empty(KernelContext& context)
{
    return give_sequence(context, 0, {});
}

int run_construct(KernelContext& context)
{
    Elements elements;
    for (int i = 0; i < context.input_num(); ++i) {
        const tensor& element = *context.input(i);
        TENGINE_RETURN_IF_ERROR(check_element_type(context, element, context.input(0)->data_type));
        elements.push_back(get_ir_element_of(&element));
    }
    return give_sequence(context, 0, elements);
}

int run_at(KernelContext& context)
{
    const Elements elements = list_elements(*context.input(0));
    const auto length = static_cast<int64_t>(elements.size());
    int64_t position;
    TENGINE_RETURN_IF_ERROR(read_position(context, 1, length, length, 0, &position));
    return give_element(context, elements[static_cast<size_t>(position)]);
}

int run_insert(KernelContext& context)
{
    Elements elements = list_elements(*context.input(0));
    const auto length = static_cast<int64_t>(elements.size());
    int64_t position;
    TENGINE_RETURN_IF_ERROR(check_element_type(context, *context.input(1),
                                               get_ir_element_type(context.input(0)->data_type)));
    TENGINE_RETURN_IF_ERROR(read_position(context, 2, length, length + 1, length, &position));
    elements.insert(elements.begin() + position, get_ir_element_of(context.input(1)));
    return give_sequence(context, 0, elements);
}

int run_erase(KernelContext& context)
{
    Elements elements = list_elements(*context.input(0));
    const auto length = static_cast<int64_t>(elements.size());
    int64_t position;
    TENGINE_RETURN_IF_ERROR(read_position(context, 1, length, length, -1, &position));
    elements.erase(elements.begin() + position);
    return give_sequence(context, 0, elements);
}

int run_length(KernelContext& context)
{
    TENGINE_RETURN_IF_ERROR(check_is_sequence(context, *context.input(0)));
    return give_number(context, TENGINE_DT_INT64, count_ir_sequence(context.input(0)->data));
}

// A tensor as `outer` rows of pieces along an axis.
struct Pieces
{
    int64_t outer = 1;
    size_t bytes = 0;  // the adjacent elements of one index of the axis

    Pieces(const ir_element_t& whole, int axis)
    {
        bytes = static_cast<size_t>(get_data_type_size(whole.data_type));
        for (int i = 0; i < axis; ++i)
            outer *= whole.dims[i];
        for (int i = axis + 1; i < whole.dim_num; ++i)
            bytes *= static_cast<size_t>(whole.dims[i]);
    }
};

int check_shapes(const KernelContext& context, const Elements& elements, int axis)
{
    const ir_element_t& first = elements.front();
    for (size_t i = 1; i < elements.size(); ++i) {
        const ir_element_t& other = elements[i];
        bool fits = other.dim_num == first.dim_num;
        for (int k = 0; fits && k < first.dim_num; ++k)
            fits = k == axis || other.dims[k] == first.dims[k];
        if (!fits)
            return fail_node(context.node, TENGINE_EINVAL,
                             "elements 0 and %zu of the sequence have shapes that do not match", i);
    }
    return TENGINE_OK;
}

int run_concat(KernelContext& context)
{
    const auto& param = context.param<concat_from_sequence_param>();
    Elements elements = list_elements(*context.input(0));
    if (elements.empty())
        return fail_node(context.node, TENGINE_EINVAL,
                         "the sequence is empty, expected at least one element");
    int axis;
    const int rank = elements.front().dim_num + param.new_axis;
    TENGINE_RETURN_IF_ERROR(normalize_axis(context.node, param.axis, rank, &axis));
    TENGINE_RETURN_IF_ERROR(check_shapes(context, elements, param.new_axis ? -1 : axis));
    if (rank > MAX_SHAPE_DIM_NUM)
        return fail_node(context.node, TENGINE_ERANGE,
                         "the result would have %d dimensions, expected at most %d", rank,
                         MAX_SHAPE_DIM_NUM);
    int64_t length = 0;
    for (ir_element_t& element : elements) {
        if (param.new_axis) {
            std::copy_backward(element.dims + axis, element.dims + rank - 1, element.dims + rank);
            element.dims[axis] = 1;
            element.dim_num = rank;
        }
        length += element.dims[axis];
    }
    int dims[MAX_SHAPE_DIM_NUM];
    std::copy_n(elements.front().dims, rank, dims);
    dims[axis] = static_cast<int>(std::min<int64_t>(length, INT32_MAX));
    TENGINE_RETURN_IF_ERROR(allocate_output(context, 0, elements.front().data_type, dims, rank));
    char* to = static_cast<char*>(context.output(0)->data);
    const Pieces pieces(elements.front(), axis);
    for (int64_t row = 0; row < pieces.outer && context.output(0)->elem_num > 0; ++row)
        for (const ir_element_t& element : elements) {
            const size_t bytes = pieces.bytes * static_cast<size_t>(element.dims[axis]);
            if (bytes > 0)
                std::memcpy(
                    to, static_cast<const char*>(element.data) + bytes * static_cast<size_t>(row),
                    bytes);
            to += bytes;
        }
    return TENGINE_OK;
}

// Lists the number of indices of the axis for each element.
int list_lengths(const KernelContext& context, int64_t whole, Vector<int64_t>* out_lengths)
{
    const tensor* split = context.input(1);
    const auto value_of = [&](int64_t i) {
        return split->data_type == TENGINE_DT_INT32 ? int64_t{split->i32[i]} : split->i64[i];
    };
    if (split && split->dim_num == 1) {
        int64_t sum = 0;
        bool is_possible = true;
        for (int64_t i = 0; i < split->elem_num; ++i) {
            out_lengths->push_back(value_of(i));
            is_possible = is_possible && value_of(i) >= 0 && value_of(i) <= whole - sum;
            if (is_possible) sum += value_of(i);
        }
        if (is_possible && sum == whole) return TENGINE_OK;
        return fail_node(context.node, TENGINE_EINVAL,
                         "the sum of the lengths is not the axis's length %lld",
                         static_cast<long long>(whole));
    }
    const int64_t chunk = split ? value_of(0) : 1;
    if (chunk < 1)
        return fail_node(context.node, TENGINE_EINVAL, "the length is %lld, expected at least 1",
                         static_cast<long long>(chunk));
    for (int64_t begin = 0; begin < whole; begin += out_lengths->back())
        out_lengths->push_back(std::min(chunk, whole - begin));
    return TENGINE_OK;
}

int run_split(KernelContext& context)
{
    const auto& param = context.param<split_to_sequence_param>();
    const ir_element_t whole = get_ir_element_of(context.input(0));
    int axis;
    TENGINE_RETURN_IF_ERROR(normalize_axis(context.node, param.axis, whole.dim_num, &axis));
    if (context.input(1)) TENGINE_RETURN_IF_ERROR(check_integer(context, *context.input(1)));
    if (context.input(1) && context.input(1)->elem_num < 1 && context.input(1)->dim_num != 1)
        return fail_node(context.node, TENGINE_EINVAL, "the length has no value");
    Vector<int64_t> lengths;
    TENGINE_RETURN_IF_ERROR(list_lengths(context, whole.dims[axis], &lengths));
    const Pieces pieces(whole, axis);
    const bool drops_axis = !context.input(1) && param.keepdims == 0;
    Vector<Vector<char>> values;
    Elements elements;
    int64_t begin = 0;
    for (const int64_t length : lengths) {
        const size_t bytes = pieces.bytes * static_cast<size_t>(length);
        Vector<char> value(bytes * static_cast<size_t>(pieces.outer));
        for (int64_t row = 0; row < pieces.outer && bytes > 0; ++row)
            std::memcpy(value.data() + bytes * static_cast<size_t>(row),
                        static_cast<const char*>(whole.data) +
                            pieces.bytes * static_cast<size_t>(row * whole.dims[axis] + begin),
                        bytes);
        begin += length;
        values.push_back(std::move(value));
        ir_element_t element = whole;
        element.data = values.back().data();
        element.dims[axis] = static_cast<int>(length);
        if (drops_axis) {
            std::copy(whole.dims + axis + 1, whole.dims + whole.dim_num, element.dims + axis);
            --element.dim_num;
        }
        elements.push_back(element);
    }
    return give_sequence(context, 0, elements);
}

// ---- optional values ----

bool is_optional(const tensor& value)
{
    return get_ir_container(value.data_type) >= TENGINE_DT_OPTIONAL;
}

int run_optional(KernelContext& context)
{
    const tensor* value = context.input(0);
    if (!value) return give_sequence(context, 0, {}, true);
    return get_ir_container(value->data_type) == TENGINE_DT_SEQUENCE
               ? give_sequence(context, 0, list_elements(*value))
               : give_sequence(context, 0, {get_ir_element_of(value)});
}

int run_has_element(KernelContext& context)
{
    const tensor* value = context.input(0);
    const bool has = value && (!is_optional(*value) || !is_ir_sequence_absent(value->data));
    return give_number(context, TENGINE_DT_BOOL, has);
}

int run_get_element(KernelContext& context)
{
    const tensor& value = *context.input(0);
    if (!is_optional(value)) return give_element(context, get_ir_element_of(&value));
    if (is_ir_sequence_absent(value.data))
        return fail_node(context.node, TENGINE_EINVAL, "input '%s' has no value", value.name);
    return get_ir_container(value.data_type) == TENGINE_DT_OPTIONAL
               ? give_element(context, get_ir_sequence_element(value.data, 0))
               : give_sequence(context, 0, list_elements(value));
}

// ---- SequenceMap ----

tensor view_element(const ir_element_t& element)
{
    tensor view = {};
    view.data_type = static_cast<uint8_t>(element.data_type);
    view.dim_num = static_cast<uint8_t>(element.dim_num);
    std::copy_n(element.dims, element.dim_num, view.dims);
    view.data = const_cast<void*>(element.data);
    return view;
}

int feed_map(const KernelContext& context, ir_body_t& body, int round)
{
    for (int i = 0; i < context.input_num(); ++i) {
        const tensor& given = *context.input(i);
        const bool is_walked = is_sequence(given) && i < body.input_num - body.capture_num;
        const tensor value =
            is_walked ? view_element(get_ir_sequence_element(given.data, round)) : given;
        TENGINE_RETURN_IF_ERROR(feed_ir_body(&body, i, &value, value.data));
    }
    return TENGINE_OK;
}

// The contents of a sequence under construction.
struct Made
{
    Vector<Vector<char>> values;
    Elements elements;

    void add(const tensor& result)
    {
        const char* data = static_cast<const char*>(result.data);
        values.emplace_back(data, data + get_ir_tensor_bytes(&result));
        elements.push_back(get_ir_element_of(&result));
        elements.back().data = values.back().data();
    }
};

int run_map(KernelContext& context)
{
    ir_body_t& body = context.node->core->bodies->list[0];
    TENGINE_RETURN_IF_ERROR(check_is_sequence(context, *context.input(0)));
    const int length = count_ir_sequence(context.input(0)->data);
    for (int i = 1; i < body.input_num - body.capture_num; ++i)
        if (is_sequence(*context.input(i)) && count_ir_sequence(context.input(i)->data) != length)
            return fail_node(context.node, TENGINE_EINVAL,
                             "input %d is a sequence of %d elements, expected %d as in input 0", i,
                             count_ir_sequence(context.input(i)->data), length);
    Vector<Made> made(static_cast<size_t>(context.output_num()));
    const RoundLimit limit(context);
    for (int round = 0; round < length; ++round) {
        TENGINE_RETURN_IF_ERROR(limit.check());
        TENGINE_RETURN_IF_ERROR(feed_map(context, body, round));
        TENGINE_RETURN_IF_ERROR(run_body(context, body));
        for (int i = 0; i < context.output_num(); ++i)
            made[static_cast<size_t>(i)].add(*get_ir_body_output(&body, i));
    }
    for (int i = 0; i < context.output_num(); ++i)
        if (context.output(i))
            TENGINE_RETURN_IF_ERROR(
                give_sequence(context, i, made[static_cast<size_t>(i)].elements));
    return TENGINE_OK;
}

constexpr Kernel sequence_rows[] = {
    {"ConcatFromSequence", "reference", nullptr, run_concat},
    {"Optional", "reference", nullptr, run_optional},
    {"OptionalGetElement", "reference", nullptr, run_get_element},
    {"OptionalHasElement", "reference", nullptr, run_has_element},
    {"SequenceAt", "reference", nullptr, run_at},
    {"SequenceConstruct", "reference", nullptr, run_construct},
    {"SequenceEmpty", "reference", nullptr, run_empty},
    {"SequenceErase", "reference", nullptr, run_erase},
    {"SequenceInsert", "reference", nullptr, run_insert},
    {"SequenceLength", "reference", nullptr, run_length},
    {"SequenceMap", "reference", nullptr, run_map},
    {"SplitToSequence", "reference", nullptr, run_split},
};

}  // namespace

extern const KernelTable sequence_reference;
const KernelTable sequence_reference = make_table<sequence_rows>();

}  // namespace tengine::cpu
