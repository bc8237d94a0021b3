// SPDX-License-Identifier: Apache-2.0
// Matrix products: a matrix or a stack of rows times a constant matrix.
#include "device/tpu/compiler/read_product.h"
#include "operator/onnx/gemm_param.h"
#include "operator/onnx/qlinear_param.h"

namespace tengine::tpu {
namespace {

// A matrix `weight`, k x n, or n x k when transposed. An input that is a flattened image is read as
// the image: the product is then a convolution whose window is all of it.
bool read_matrix(const NodeReader& reader, int weight_index, bool transposed, ProductLayer* layer)
{
    const tensor* weight = reader.input(weight_index);
    const tensor* input = reader.input(0);
    if (!reader.constant(weight_index, "the second matrix")) return false;
    const int rank = weight->dim_num;
    if (rank < 2 || weight->elem_num != int64_t{weight->dims[rank - 1]} * weight->dims[rank - 2])
        return reader.refuse(IR_REASON_SHAPE, weight->name, "",
                             "it has %lld elements and rank %d, expected one constant matrix",
                             static_cast<long long>(weight->elem_num), rank);
    if (input->dim_num == 4 || input->dim_num < 1)
        return reader.refuse(IR_REASON_SHAPE, input->name, "", "rank %d is not supported",
                             input->dim_num);
    const int k = weight->dims[transposed ? rank - 1 : rank - 2];
    const int n = weight->dims[transposed ? rank - 2 : rank - 1];
    const int64_t stride_k = transposed ? 1 : n;
    layer->weights.data = weight->data;
    layer->weights.data_type = weight->data_type;
    layer->weights.stays = weight->free_host_mem == 0;
    layer->weights.stride_output = transposed ? k : 1;
    layer->weights.stride_c = stride_k;
    layer->output = reader.network.ref(*reader.output());
    layer->output.shape = layer->output.shape.flattened();
    const tensor* image = reader.network.unflattened(*input);
    if (image && get_ir_tensor_bytes(image) / static_cast<size_t>(image->dims[0]) * 2 <=
                     static_cast<size_t>(reader.network.config().unified_buffer_bytes)) {
        layer->inputs = {reader.network.ref(*image)};
        const Shape& shape = layer->inputs[0].shape;
        layer->y = {shape.h, 1, shape.h, 1, 1, 0, 0};
        layer->x = {shape.w, 1, shape.w, 1, 1, 0, 0};
        layer->weights.stride_x = stride_k;
        layer->weights.stride_y = stride_k * shape.w;
        layer->weights.stride_c = stride_k * shape.w * shape.h;
        layer->output.shape = {shape.n, 1, 1, n};
        return true;
    }
    layer->inputs = {reader.network.ref(*input)};
    layer->inputs[0].shape = layer->inputs[0].shape.flattened();
    layer->y = {layer->output.shape.h, layer->output.shape.h, 1, 1, 1, 0, 0};
    return true;
}

}  // namespace

bool read_qgemm(const NodeReader& reader)
{
    const auto* param = static_cast<const qgemm_param*>(reader.of.op.param_mem);
    auto layer = std::make_unique<ProductLayer>(reader.network.config());
    if (param->transA)
        return reader.refuse(IR_REASON_ATTRIBUTE, "transA", "1", "A must not be transposed");
    if (!check_weights(reader, 3, reader.output()->dims[1]) || !require_bytes(reader, {0, 3}) ||
        !read_matrix(reader, 3, param->transB != 0, layer.get()))
        return false;
    layer->weights.zero_points = zeros_of(reader.input(5));
    return finish_bytes(reader, {0, 3, 7, 6, static_cast<double>(param->alpha)}, std::move(layer));
}

bool read_qlinear_matmul(const NodeReader& reader)
{
    auto layer = std::make_unique<ProductLayer>(reader.network.config());
    const tensor* weight = reader.input(3);
    if (weight->dim_num < 2)
        return reader.refuse(IR_REASON_SHAPE, weight->name, "", "a vector is not supported");
    if (!check_weights(reader, 3, weight->dims[weight->dim_num - 1]) ||
        !require_bytes(reader, {0, 3}) || !read_matrix(reader, 3, false, layer.get()))
        return false;
    layer->weights.zero_points = zeros_of(reader.input(5));
    return finish_bytes(reader, {0, 3, 6, reader.of.input_num}, std::move(layer));
}

bool read_gemm(const NodeReader& reader)
{
    const auto* param = static_cast<const gemm_param*>(reader.of.op.param_mem);
    auto layer = std::make_unique<ProductLayer>(reader.network.config());
    if (!require_bf16(reader)) return false;
    if (param->transA || param->alpha != 1 || (param->beta != 1 && reader.input(2)))
        return reader.refuse(IR_REASON_ATTRIBUTE, param->transA ? "transA" : "alpha", "",
                             "expected transA 0, alpha 1 and beta 1");
    if (!read_matrix(reader, 1, param->transB != 0, layer.get())) return false;
    return finish_float(reader, 2, std::move(layer));
}

bool read_matmul(const NodeReader& reader)
{
    auto layer = std::make_unique<ProductLayer>(reader.network.config());
    if (!require_bf16(reader) || !read_matrix(reader, 1, false, layer.get())) return false;
    return finish_float(reader, reader.of.input_num, std::move(layer));
}

}  // namespace tengine::tpu
