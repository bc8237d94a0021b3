// SPDX-License-Identifier: Apache-2.0
// MaxUnpool: values return to the positions where MaxPool found them, the rest is zero.
//
// Indices refer to the shape that kernel, strides and pads imply. If the input output_shape
// requests another one, coordinates stay and the shape around them changes.
#include <cstring>

#include "device/cpu/kernel_table.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/pool_param.h"

namespace tengine::cpu {
namespace {

// Returns the position in `output` of index `index` of the implied shape; -1 if it is outside
// either.
int64_t find_position(const tensor* output, const int64_t implied[], int64_t index)
{
    int64_t position = 0;
    int64_t stride = 1;
    if (index < 0) return -1;
    for (int i = output->dim_num - 1; i >= 0; --i) {
        const int64_t coordinate = index % implied[i];
        if (coordinate >= output->dims[i]) return -1;
        index /= implied[i];
        position += coordinate * stride;
        stride *= output->dims[i];
    }
    return index == 0 ? position : -1;
}

int run_max_unpool(KernelContext& context)
{
    const tensor* input = context.input(0);
    const int64_t* indices = context.input(1)->i64;
    tensor* output = context.output(0);
    window shape;
    TENGINE_RETURN_IF_ERROR(resolve_unpool_window(context.node, &shape));
    int64_t implied[MAX_SHAPE_DIM_NUM] = {input->dims[0], input->dims[1]};
    for (int i = 0; i < shape.axis_num; ++i)
        implied[i + 2] = shape.axes[i].output;

    std::memset(output->data, 0, get_ir_tensor_bytes(output));
    return dispatch_size(output->elem_size, [&](auto type) {
        using T = typename decltype(type)::type;
        for (int64_t i = 0; i < input->elem_num; ++i) {
            const int64_t position = find_position(output, implied, indices[i]);
            if (position < 0)
                return fail_node(context.node, TENGINE_ERANGE,
                                 "index %lld at position %lld is outside the output",
                                 static_cast<long long>(indices[i]), static_cast<long long>(i));
            static_cast<T*>(output->data)[position] = static_cast<const T*>(input->data)[i];
        }
        return static_cast<int>(TENGINE_OK);
    });
}

constexpr Kernel unpool_rows[] = {
    {"MaxUnpool", "reference", nullptr, run_max_unpool},
};

}  // namespace

extern const KernelTable unpool_reference;
const KernelTable unpool_reference = make_table<unpool_rows>();

}  // namespace tengine::cpu
