// SPDX-License-Identifier: Apache-2.0
// Transpose, DepthToSpace and SpaceToDepth: a permutation of the tensor's own dimensions, or of
// those of a view with separate block axes.
#include <cstring>

#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/vector/small_elements.h"
#include "device/cpu/shared/strided_copy.h"
#include "operator/onnx/transpose_param.h"

namespace tengine::cpu {
namespace {

// Permutes: dimension i of the output is dimension perm[i] of `dims`, the input's dense view.
void permute(KernelContext& context, const int dims[], const int perm[], int rank)
{
    const tensor* output = context.output(0);
    if (output->elem_num == 0) return;
    int target_dims[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < rank; ++i)
        target_dims[i] = dims[perm[i]];
    int64_t from[MAX_SHAPE_DIM_NUM];
    int64_t to[MAX_SHAPE_DIM_NUM];
    fill_dense_strides(dims, rank, from);
    fill_dense_strides(target_dims, rank, to);
    StridedCopy copy;
    for (int i = 0; i < rank; ++i)
        copy.add(target_dims[i], from[perm[i]], to[i]);
    copy.run(context.pool, output->elem_size, context.input(0)->data, output->data);
}

int run_transpose(KernelContext& context)
{
    const tensor* input = context.input(0);
    const op_ints& given = context.param<transpose_param>().perm;
    int perm[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < input->dim_num; ++i)
        perm[i] = given.num ? static_cast<int>(given.values[i]) : input->dim_num - 1 - i;
    permute(context, input->dims, perm, input->dim_num);
    return TENGINE_OK;
}

int run_depth_to_space(KernelContext& context)
{
    const auto& param = context.param<block_param>();
    const tensor* input = context.input(0);
    const int block = param.blocksize;
    const int depth = input->dims[1] / (block * block);
    const int n = input->dims[0], h = input->dims[2], w = input->dims[3];
    if (std::strcmp(param.mode, "CRD") == 0) {
        const int dims[] = {n, depth, block, block, h, w};
        const int perm[] = {0, 1, 4, 2, 5, 3};
        permute(context, dims, perm, 6);
    } else {
        const int dims[] = {n, block, block, depth, h, w};
        const int perm[] = {0, 3, 4, 1, 5, 2};
        permute(context, dims, perm, 6);
    }
    return TENGINE_OK;
}

int run_space_to_depth(KernelContext& context)
{
    const int block = context.param<block_param>().blocksize;
    const tensor* input = context.input(0);
    const int dims[] = {input->dims[0], input->dims[1],         input->dims[2] / block,
                        block,          input->dims[3] / block, block};
    const int perm[] = {0, 3, 5, 1, 2, 4};
    permute(context, dims, perm, 6);
    return TENGINE_OK;
}

constexpr Kernel transpose_rows[] = {
    {"Transpose", "reference", nullptr, run_unpacked<run_transpose>, prepare_unpacked},
    {"DepthToSpace", "reference", nullptr, run_depth_to_space},
    {"SpaceToDepth", "reference", nullptr, run_space_to_depth},
};

}  // namespace

extern const KernelTable transpose_reference;
const KernelTable transpose_reference = make_table<transpose_rows>();

}  // namespace tengine::cpu
