// SPDX-License-Identifier: Apache-2.0
// The operators of operator/onnx/gather_ops.c. Indices are checked before any element is written.
#include <algorithm>
#include <cstring>

#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/movement/index_input.h"
#include "device/cpu/reference/vector/wide_element.h"
#include "device/cpu/shared/strided_copy.h"
#include "operator/onnx/gather_param.h"

namespace tengine::cpu {
namespace {

// The least number of bytes that is worth a thread.
constexpr int64_t kGrain = 65536;

int run_gather(KernelContext& context)
{
    const tensor* data = context.input(0);
    const tensor* indices = context.input(1);
    const tensor* output = context.output(0);
    const int parameter = context.param<gather_param>().axis;
    const int axis = parameter < 0 ? parameter + data->dim_num : parameter;
    const int64_t size = data->dims[axis];
    TENGINE_RETURN_IF_ERROR(check_indices(context.node, indices, size));
    if (output->elem_num == 0) return TENGINE_OK;
    const int64_t row = multiply_dims(data, axis + 1, data->dim_num) * data->elem_size;
    const int64_t row_num = multiply_dims(data, 0, axis) * indices->elem_num;
    parallel_for(context.pool, row_num, std::max<int64_t>(kGrain / row, 1),
                 [&](int64_t begin, int64_t end, int) {
                     int64_t outer = begin / indices->elem_num;
                     int64_t position = begin % indices->elem_num;
                     for (int64_t i = begin; i < end; ++i) {
                         const int64_t index = read_index(indices, position, size);
                         std::memcpy(output->u8 + i * row, data->u8 + (outer * size + index) * row,
                                     static_cast<size_t>(row));
                         if (++position == indices->elem_num) {
                             position = 0;
                             ++outer;
                         }
                     }
                 });
    return TENGINE_OK;
}

// ---- GatherElements, ScatterElements ----

// Calls body(offset in data, position in indices) for every index of indices: the offset has the
// coordinates of the position, with the coordinate along `axis` replaced by the index.
template <class Body>
void for_each_place(const tensor* data, const tensor* indices, int axis, const Body& body)
{
    int64_t strides[MAX_SHAPE_DIM_NUM];
    fill_dense_strides(data->dims, data->dim_num, strides);
    const int last = data->dim_num - 1;
    const int64_t row_size = indices->dims[last];
    const int64_t last_stride = last == axis ? 0 : 1;
    int index[MAX_SHAPE_DIM_NUM] = {};
    for (int64_t begin = 0; begin < indices->elem_num; begin += row_size) {
        int64_t base = 0;
        for (int i = 0; i < last; ++i)
            if (i != axis) base += index[i] * strides[i];
        for (int64_t i = 0; i < row_size; ++i) {
            const int64_t chosen = read_index(indices, begin + i, data->dims[axis]);
            body(base + i * last_stride + chosen * strides[axis], begin + i);
        }
        for (int i = last - 1; i >= 0 && ++index[i] == indices->dims[i]; --i)
            index[i] = 0;
    }
}

int run_gather_elements(KernelContext& context)
{
    const tensor* data = context.input(0);
    const tensor* indices = context.input(1);
    const int parameter = context.param<gather_param>().axis;
    const int axis = parameter < 0 ? parameter + data->dim_num : parameter;
    TENGINE_RETURN_IF_ERROR(check_indices(context.node, indices, data->dims[axis]));
    return dispatch_moved_size(data->elem_size, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* from = static_cast<const T*>(data->data);
        T* to = static_cast<T*>(context.output(0)->data);
        for_each_place(data, indices, axis,
                       [&](int64_t offset, int64_t position) { to[position] = from[offset]; });
        return TENGINE_OK;
    });
}

// Integers are combined as unsigned, which wraps; signed arithmetic would overflow.
template <class T>
using reduce_t = std::conditional_t<is_float<T>, compute_t<T>, uint64_t>;

struct Assign
{
    template <class T>
    static T combine(T, T update)
    {
        return update;
    }
};
struct Add
{
    template <class T>
    static T combine(T old, T update)
    {
        return static_cast<T>(static_cast<reduce_t<T>>(old) + static_cast<reduce_t<T>>(update));
    }
};
struct Multiply
{
    template <class T>
    static T combine(T old, T update)
    {
        return static_cast<T>(static_cast<reduce_t<T>>(old) * static_cast<reduce_t<T>>(update));
    }
};
struct Minimum
{
    template <class T>
    static T combine(T old, T update)
    {
        return update < old ? update : old;
    }
};
struct Maximum
{
    template <class T>
    static T combine(T old, T update)
    {
        return update > old ? update : old;
    }
};

// Calls body(operation, Type) for the node's reduction and the data's type.
template <class Body>
int dispatch_reduction(const KernelContext& context, const Body& body)
{
    const char* reduction = context.param<scatter_param>().reduction;
    const tensor* data = context.input(0);
    if (std::strcmp(reduction, "none") == 0)
        return dispatch_moved_size(data->elem_size,
                                   [&](auto type) { return body(Assign{}, type); });
    return dispatch_type(NumberTypes{}, data->data_type, [&](auto type) {
        if (std::strcmp(reduction, "add") == 0) return body(Add{}, type);
        if (std::strcmp(reduction, "mul") == 0) return body(Multiply{}, type);
        if (std::strcmp(reduction, "min") == 0) return body(Minimum{}, type);
        return body(Maximum{}, type);
    });
}

void copy_data(const KernelContext& context)
{
    const tensor* data = context.input(0);
    if (data->elem_num > 0)
        std::memcpy(context.output(0)->data, data->data, get_ir_tensor_bytes(data));
}

int run_scatter_elements(KernelContext& context)
{
    const tensor* data = context.input(0);
    const tensor* indices = context.input(1);
    const int parameter = context.param<scatter_param>().axis;
    const int axis = parameter < 0 ? parameter + data->dim_num : parameter;
    TENGINE_RETURN_IF_ERROR(check_indices(context.node, indices, data->dims[axis]));
    copy_data(context);
    return dispatch_reduction(context, [&](auto operation, auto type) {
        using T = typename decltype(type)::type;
        const T* updates = static_cast<const T*>(context.input(2)->data);
        T* to = static_cast<T*>(context.output(0)->data);
        for_each_place(data, indices, axis, [&](int64_t offset, int64_t position) {
            to[offset] = operation.combine(to[offset], updates[position]);
        });
        return TENGINE_OK;
    });
}

// ---- GatherND, ScatterND ----

// The index tuples of an indices tensor, as offsets into data.
struct Tuples
{
    const tensor* data;
    const tensor* indices;
    int batch_dims;
    int length;
    int64_t num;
    int64_t num_per_batch;
    int64_t strides[MAX_SHAPE_DIM_NUM];

    Tuples(const tensor* data_tensor, const tensor* indices_tensor, int batch_dim_num)
        : data(data_tensor), indices(indices_tensor), batch_dims(batch_dim_num)
    {
        const int last = indices->dim_num - 1;
        length = indices->dims[last];
        num = indices->elem_num / length;
        num_per_batch = multiply_dims(indices, batch_dims, last);
        fill_dense_strides(data->dims, data->dim_num, strides);
    }
    // Returns the number of elements that one tuple selects.
    int64_t slice() const { return strides[batch_dims + length - 1]; }

    int check(const node* node) const
    {
        for (int64_t i = 0; i < indices->elem_num; ++i) {
            const int axis = batch_dims + static_cast<int>(i % length);
            TENGINE_RETURN_IF_ERROR(check_index(node, indices, i, data->dims[axis]));
        }
        return TENGINE_OK;
    }
    int64_t offset(int64_t tuple) const
    {
        int64_t sum = 0;
        if (batch_dims > 0) sum = tuple / num_per_batch * strides[batch_dims - 1];
        for (int i = 0; i < length; ++i) {
            const int axis = batch_dims + i;
            sum += read_index(indices, tuple * length + i, data->dims[axis]) * strides[axis];
        }
        return sum;
    }
};

int run_gather_nd(KernelContext& context)
{
    const tensor* data = context.input(0);
    const tensor* output = context.output(0);
    const Tuples tuples(data, context.input(1), context.param<gather_nd_param>().batch_dims);
    TENGINE_RETURN_IF_ERROR(tuples.check(context.node));
    if (output->elem_num == 0) return TENGINE_OK;
    const int64_t row = tuples.slice() * data->elem_size;
    parallel_for(context.pool, tuples.num, std::max<int64_t>(kGrain / row, 1),
                 [&](int64_t begin, int64_t end, int) {
                     for (int64_t i = begin; i < end; ++i)
                         std::memcpy(output->u8 + i * row,
                                     data->u8 + tuples.offset(i) * data->elem_size,
                                     static_cast<size_t>(row));
                 });
    return TENGINE_OK;
}

int run_scatter_nd(KernelContext& context)
{
    const Tuples tuples(context.input(0), context.input(1), 0);
    TENGINE_RETURN_IF_ERROR(tuples.check(context.node));
    copy_data(context);
    return dispatch_reduction(context, [&](auto operation, auto type) {
        using T = typename decltype(type)::type;
        const T* updates = static_cast<const T*>(context.input(2)->data);
        T* output = static_cast<T*>(context.output(0)->data);
        const int64_t slice = tuples.slice();
        for (int64_t i = 0; i < tuples.num; ++i) {
            T* to = output + tuples.offset(i);
            for (int64_t k = 0; k < slice; ++k)
                to[k] = operation.combine(to[k], updates[i * slice + k]);
        }
        return TENGINE_OK;
    });
}

constexpr Kernel gather_rows[] = {
    {.op = "Gather", .name = "reference", .run = run_gather, .unaligned_input = 0},
    {.op = "GatherElements", .name = "reference", .run = run_gather_elements},
    {.op = "GatherND", .name = "reference", .run = run_gather_nd},
    {.op = "ScatterElements", .name = "reference", .run = run_scatter_elements},
    {.op = "ScatterND", .name = "reference", .run = run_scatter_nd},
};

}  // namespace

extern const KernelTable gather_reference;
const KernelTable gather_reference = make_table<gather_rows>();

}  // namespace tengine::cpu
