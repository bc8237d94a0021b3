// SPDX-License-Identifier: Apache-2.0
// The order in which implementations are asked, as data. A file in kernel/ gets its place here.
#include "device/cpu/implementations.h"

#include "device/cpu/kernel_table.h"

namespace tengine::cpu {
namespace {

constexpr Implementations rows[] = {
    {"Abs", {"abs.simd", "reference"}},
    {"Add", {"add.simd", "reference"}},
    {"AveragePool", {"average_pool.pixels", "reference"}},
    {"BatchNormalization", {"batch_norm.simd", "reference"}},
    {"Ceil", {"ceil.simd", "reference"}},
    {"Clip", {"clip.simd", "reference"}},
    {"Conv",
     {"conv.depthwise_pixels", "conv.winograd_6x6", "conv.winograd", "conv.pixels",
      "conv.depthwise_simd", "conv.im2col_fp16_fhm", "conv.im2col_fp16_neon", "conv.im2col_gemm",
      "reference"}},
    {"ConvTranspose", {"conv_transpose.pixels", "conv_transpose.gemm_col2im", "reference"}},
    {"Div", {"div.simd", "reference"}},
    {"Elu", {"elu.simd", "reference"}},
    {"Erf", {"erf.simd", "reference"}},
    {"Exp", {"exp.simd", "reference"}},
    {"Floor", {"floor.simd", "reference"}},
    {"GRU", {"gru.pixels", "reference"}},
    {"Gelu", {"gelu.simd", "reference"}},
    {"Gemm", {"gemm.pixels", "gemm.product", "reference"}},
    {"GlobalAveragePool", {"global_average_pool.pixels", "reference"}},
    {"GlobalMaxPool", {"global_max_pool.pixels", "reference"}},
    {"HardSigmoid", {"hard_sigmoid.simd", "reference"}},
    {"HardSwish", {"hard_swish.simd", "reference"}},
    {"LSTM", {"lstm.pixels", "reference"}},
    {"LayerNormalization", {"layer_norm.simd", "reference"}},
    {"LeakyRelu", {"leaky_relu.simd", "reference"}},
    {"Log", {"log.simd", "reference"}},
    {"MatMul", {"matmul.pixels", "matmul.product", "reference"}},
    {"Max", {"max.simd", "reference"}},
    {"MaxPool", {"max_pool.pixels", "reference"}},
    {"Min", {"min.simd", "reference"}},
    {"Mish", {"mish.simd", "reference"}},
    {"Mul", {"mul.simd", "reference"}},
    {"Neg", {"neg.simd", "reference"}},
    {"PRelu", {"prelu.simd", "reference"}},
    {"Pow", {"pow.simd", "reference"}},
    {"QLinearConv",
     {"conv.byte_pixels", "conv.im2col_i8mm", "conv.im2col_dotprod", "conv.im2col_pairs",
      "reference"}},
    {"QLinearMatMul", {"matmul.byte_pixels", "matmul.byte_stacks", "reference"}},
    {"QLinearConv", {"conv.im2col_i8mm", "conv.im2col_dotprod", "conv.im2col_pairs", "reference"}},
    {"RMSNormalization", {"rms_norm.simd", "reference"}},
    {"RNN", {"rnn.pixels", "reference"}},
    {"Reciprocal", {"reciprocal.simd", "reference"}},
    {"ReduceL1", {"reduce_l1.pixels", "reduce_l1.simd", "reference"}},
    {"ReduceL2", {"reduce_l2.pixels", "reduce_l2.simd", "reference"}},
    {"ReduceMax", {"reduce_max.pixels", "reduce_max.simd", "reference"}},
    {"ReduceMean", {"reduce_mean.pixels", "reduce_mean.simd", "reference"}},
    {"ReduceMin", {"reduce_min.pixels", "reduce_min.simd", "reference"}},
    {"ReduceSum", {"reduce_sum.pixels", "reduce_sum.simd", "reference"}},
    {"ReduceSumSquare", {"reduce_sum_square.pixels", "reduce_sum_square.simd", "reference"}},
    {"Relu", {"relu.simd", "reference"}},
    {"Resize", {"reference.nearest", "reference"}},
    {"RotaryEmbedding", {"rotary.simd", "reference"}},
    {"Round", {"round.simd", "reference"}},
    {"Selu", {"selu.simd", "reference"}},
    {"Sigmoid", {"sigmoid.simd", "reference"}},
    {"SimplifiedLayerNormalization", {"rms_norm.simd", "reference"}},
    {"Softmax", {"softmax.simd", "reference"}},
    {"Softplus", {"softplus.simd", "reference"}},
    {"Sqrt", {"sqrt.simd", "reference"}},
    {"Sub", {"sub.simd", "reference"}},
    {"Sum", {"sum.simd", "reference"}},
    {"Tanh", {"tanh.simd", "reference"}},
    {"com.microsoft.QGemm", {"gemm.byte_pixels", "reference"}},
    {"com.microsoft.MatMulNBits",
     {"matmul_nbits.vnni", "matmul_nbits.avx2", "matmul_nbits.floats", "reference"}},
    {"com.microsoft.RotaryEmbedding", {"rotary.simd", "reference"}},
    {"com.microsoft.SkipLayerNormalization", {"skip_norm.simd", "reference"}},
    {"com.microsoft.SkipSimplifiedLayerNormalization", {"skip_norm.simd", "reference"}},
    {"com.microsoft.GroupQueryAttention", {"group_query.simd", "reference"}},
};

}  // namespace

const ImplementationList implementations = {SelectedRows<rows>::list.data(),
                                            SelectedRows<rows>::list.size()};

}  // namespace tengine::cpu
