// SPDX-License-Identifier: Apache-2.0
// Compress, NonZero, Unique and OneHot of operator/onnx/select_ops.c; NonMaxSuppression is in a
// file of its own. NonZero and Unique find the shape of their outputs here.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>

#include "base/alloc.h"
#include "base/minimal.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/vector/wide_element.h"
#include "graph/complex.h"
#include "operator/onnx/select_param.h"

namespace tengine::cpu {
namespace {

int allocate_output(KernelContext& context, int index, int data_type, const int64_t dims[],
                    int rank)
{
    TENGINE_RETURN_IF_ERROR(set_node_output(context.node, index, data_type, dims, rank));
    tensor* output = context.output(index);
    return output ? allocate_ir_tensor(output) : TENGINE_OK;
}

// The input as `outer` blocks of `length` items of `inner` elements; Compress keeps and Unique
// compares whole items.
struct Items
{
    int64_t outer = 1;
    int64_t length;
    int64_t inner = 1;
    int axis = 0;

    Items(const tensor* input, int axis_parameter) : length(input->elem_num)
    {
        if (axis_parameter == SELECT_AXIS_ABSENT) return;
        axis = axis_parameter < 0 ? axis_parameter + input->dim_num : axis_parameter;
        outer = multiply_dims(input, 0, axis);
        length = input->dims[axis];
        inner = multiply_dims(input, axis + 1, input->dim_num);
    }
    // Returns the items as Unique compares them: complex numbers by their real parts first.
    static Items compared(const tensor* input, Items items)
    {
        if (is_ir_complex(input->data_type)) items.inner *= 2;
        return items;
    }
};

int run_compress(KernelContext& context)
{
    const tensor* input = context.input(0);
    const tensor* condition = context.input(1);
    const Items items(input, context.param<compress_param>().axis);
    const size_t item_size = static_cast<size_t>(items.inner) * input->elem_size;
    if (context.output(0)->elem_num == 0) return TENGINE_OK;
    uint8_t* to = context.output(0)->u8;
    for (int64_t o = 0; o < items.outer; ++o) {
        for (int64_t i = 0; i < condition->elem_num; ++i) {
            if (!condition->u8[i]) continue;
            std::memcpy(to, input->u8 + (o * items.length + i) * item_size, item_size);
            to += item_size;
        }
    }
    return TENGINE_OK;
}

// ---- NonZero ----

template <class T>
bool is_non_zero(T value)
{
    return static_cast<compute_t<T>>(value) != compute_t<T>(0);
}

// Tests a complex number by its parts.
template <class T>
bool is_non_zero(const std::array<T, 2>& value)
{
    return is_non_zero(value[0]) || is_non_zero(value[1]);
}

template <class T>
int list_non_zero(KernelContext& context)
{
    const tensor* input = context.input(0);
    const T* from = static_cast<const T*>(input->data);
    const int64_t count = std::count_if(from, from + input->elem_num,
                                        [](const T& value) { return is_non_zero(value); });
    const int64_t dims[] = {input->dim_num, count};
    TENGINE_RETURN_IF_ERROR(allocate_output(context, 0, TENGINE_DT_INT64, dims, 2));
    if (count == 0) return TENGINE_OK;
    int64_t* to = context.output(0)->i64;
    // Stores at most as many as were counted: the values may be in a mapped file that changes.
    int64_t found = 0;
    for (int64_t i = 0; i < input->elem_num && found < count; ++i) {
        if (!is_non_zero(from[i])) continue;
        int64_t rest = i;
        for (int axis = input->dim_num - 1; axis >= 0; --axis) {
            to[axis * count + found] = rest % input->dims[axis];
            rest /= input->dims[axis];
        }
        ++found;
    }
    return TENGINE_OK;
}

int run_non_zero(KernelContext& context)
{
    const int data_type = context.input(0)->data_type;
    if (!IS_MINIMAL && data_type == TENGINE_DT_COMPLEX64)
        return list_non_zero<std::array<float, 2>>(context);
    if (!IS_MINIMAL && data_type == TENGINE_DT_COMPLEX128)
        return list_non_zero<std::array<double, 2>>(context);
    return dispatch_type(AllTypes{}, data_type, [&](auto type) {
        return list_non_zero<typename decltype(type)::type>(context);
    });
}

// ---- Unique ----

// A total order: NaN equals NaN and is larger than everything else.
template <class T>
int compare(T left_value, T right_value)
{
    const compute_t<T> left = left_value;
    const compute_t<T> right = right_value;
    if (left < right) return -1;
    if (right < left) return 1;
    if constexpr (is_float<T>) return int(std::isnan(left)) - int(std::isnan(right));
    return 0;
}

int compare(const char* left, const char* right)
{
    return std::strcmp(left, right);
}

template <class T>
int compare_items(const T* data, const Items& items, int64_t left, int64_t right)
{
    for (int64_t o = 0; o < items.outer; ++o) {
        const T* block = data + o * items.length * items.inner;
        for (int64_t i = 0; i < items.inner; ++i) {
            const int order =
                compare(block[left * items.inner + i], block[right * items.inner + i]);
            if (order != 0) return order;
        }
    }
    return 0;
}

// The results of Unique: for every group of equal items its first item, their number and the
// group's place in the output; for every item its group.
struct Groups
{
    std::unique_ptr<void, void (*)(void*)> memory{nullptr, free_memory};
    int64_t* order;  // items, sorted
    int64_t* first;
    int64_t* count;
    int64_t* place;
    int64_t* group_of;
    int64_t num = 0;

    bool allocate(int64_t item_num)
    {
        memory.reset(alloc_memory64(static_cast<uint64_t>(item_num) * 5 * sizeof(int64_t)));
        order = static_cast<int64_t*>(memory.get());
        first = order + item_num;
        count = first + item_num;
        place = count + item_num;
        group_of = place + item_num;
        return memory != nullptr;
    }
};

// Sorts, so that equal items are adjacent, each group in the order of its items. Uses a heap, which
// stays within its list for any result of the comparisons, unlike std::sort: the values may be in a
// mapped file that changes.
template <class T>
void sort_items(const T* data, const Items& items, Groups& groups)
{
    for (int64_t i = 0; i < items.length; ++i)
        groups.order[i] = i;
    int64_t* end = groups.order + items.length;
    std::partial_sort(groups.order, end, end, [&](int64_t left, int64_t right) {
        const int order = compare_items(data, items, left, right);
        return order != 0 ? order < 0 : left < right;
    });
}

template <class T>
void group_items(const T* data, const Items& items, Groups& groups)
{
    sort_items(data, items, groups);
    for (int64_t i = 0; i < items.length; ++i) {
        const int64_t item = groups.order[i];
        const bool new_group =
            i == 0 || compare_items(data, items, groups.first[groups.num - 1], item) != 0;
        if (new_group) {
            groups.first[groups.num] = item;
            groups.count[groups.num++] = 0;
        }
        ++groups.count[groups.num - 1];
        groups.group_of[item] = groups.num - 1;
    }
}

// Orders the groups by value, or by first appearance.
void place_groups(const Items& items, bool sorted, Groups& groups)
{
    int64_t next = 0;
    for (int64_t item = 0; item < items.length && !sorted; ++item) {
        const int64_t group = groups.group_of[item];
        if (groups.first[group] == item) groups.place[group] = next++;
    }
    for (int64_t group = 0; group < groups.num && sorted; ++group)
        groups.place[group] = group;
}

int allocate_unique_outputs(KernelContext& context, const Items& items, int64_t group_num)
{
    const tensor* input = context.input(0);
    const bool flat = context.param<unique_param>().axis == SELECT_AXIS_ABSENT;
    int64_t dims[MAX_SHAPE_DIM_NUM];
    std::copy_n(input->dims, input->dim_num, dims);
    dims[items.axis] = group_num;
    TENGINE_RETURN_IF_ERROR(
        allocate_output(context, 0, input->data_type, dims, flat ? 1 : input->dim_num));
    TENGINE_RETURN_IF_ERROR(allocate_output(context, 1, TENGINE_DT_INT64, &group_num, 1));
    TENGINE_RETURN_IF_ERROR(allocate_output(context, 2, TENGINE_DT_INT64, &items.length, 1));
    return allocate_output(context, 3, TENGINE_DT_INT64, &group_num, 1);
}

void write_unique_items(const KernelContext& context, const Items& items, const Groups& groups)
{
    const tensor* input = context.input(0);
    const tensor* output = context.output(0);
    const size_t item_size = static_cast<size_t>(items.inner) * input->elem_size;
    if (!output || output->elem_num == 0) return;
    for (int64_t o = 0; o < items.outer; ++o)
        for (int64_t group = 0; group < groups.num; ++group)
            std::memcpy(output->u8 + (o * groups.num + groups.place[group]) * item_size,
                        input->u8 + (o * items.length + groups.first[group]) * item_size,
                        item_size);
}

void write_unique_lists(const KernelContext& context, const Items& items, const Groups& groups)
{
    const tensor* indices = context.output(1);
    const tensor* inverse = context.output(2);
    const tensor* counts = context.output(3);
    for (int64_t group = 0; group < groups.num; ++group) {
        if (indices) indices->i64[groups.place[group]] = groups.first[group];
        if (counts) counts->i64[groups.place[group]] = groups.count[group];
    }
    for (int64_t item = 0; item < items.length && inverse; ++item)
        inverse->i64[item] = groups.place[groups.group_of[item]];
}

int run_unique(KernelContext& context)
{
    const tensor* input = context.input(0);
    const auto& param = context.param<unique_param>();
    const Items items(input, param.axis);
    Groups groups;
    if (!groups.allocate(items.length))
        return fail_node(context.node, TENGINE_ENOMEM, "out of memory while sorting %lld items",
                         static_cast<long long>(items.length));
    if (input->data_type == TENGINE_DT_STRING)
        group_items(static_cast<const char* const*>(input->data), items, groups);
    else
        TENGINE_RETURN_IF_ERROR(
            dispatch_type(AllTypes{}, get_ir_part_type(input->data_type), [&](auto type) {
                using T = typename decltype(type)::type;
                group_items(static_cast<const T*>(input->data), Items::compared(input, items),
                            groups);
                return TENGINE_OK;
            }));
    place_groups(items, param.sorted != 0, groups);
    TENGINE_RETURN_IF_ERROR(allocate_unique_outputs(context, items, groups.num));
    write_unique_items(context, items, groups);
    write_unique_lists(context, items, groups);
    return TENGINE_OK;
}

// ---- OneHot ----

// Returns the index at `position`, of any number type; INT64_MIN, which is in no range, if it is
// not an integer.
int64_t read_any_index(const tensor* indices, int64_t position)
{
    int64_t index = INT64_MIN;
    (void)dispatch_type(NumberTypes{}, indices->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        const compute_t<T> value = static_cast<const T*>(indices->data)[position];
        if constexpr (is_float<T>) {
            if (std::fabs(value) < compute_t<T>(1e9)) index = static_cast<int64_t>(value);
        } else {
            const bool fits = std::is_signed_v<T> || static_cast<uint64_t>(value) <= INT64_MAX;
            if (fits) index = static_cast<int64_t>(value);
        }
        return TENGINE_OK;
    });
    return index;
}

int run_one_hot(KernelContext& context)
{
    const tensor* indices = context.input(0);
    const tensor* output = context.output(0);
    const int parameter = context.param<one_hot_param>().axis;
    const int axis = parameter < 0 ? parameter + output->dim_num : parameter;
    const int64_t depth = output->dims[axis];
    const int64_t inner = multiply_dims(output, axis + 1, output->dim_num);
    if (output->elem_num == 0) return TENGINE_OK;
    return dispatch_moved_size(output->elem_size, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* values = static_cast<const T*>(context.input(2)->data);
        T* to = static_cast<T*>(output->data);
        std::fill_n(to, output->elem_num, values[0]);
        for (int64_t i = 0; i < indices->elem_num; ++i) {
            int64_t index = read_any_index(indices, i);
            if (index < -depth || index >= depth) continue;
            if (index < 0) index += depth;
            to[((i / inner) * depth + index) * inner + i % inner] = values[1];
        }
        return TENGINE_OK;
    });
}

constexpr Kernel select_rows[] = {
    {"Compress", "reference", nullptr, run_compress},
    {"NonZero", "reference", nullptr, run_non_zero},
    {"Unique", "reference", nullptr, run_unique},
    {"OneHot", "reference", nullptr, run_one_hot},
};

}  // namespace

extern const KernelTable select_reference;
const KernelTable select_reference = make_table<select_rows>();

}  // namespace tengine::cpu
