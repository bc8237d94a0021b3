// SPDX-License-Identifier: Apache-2.0
// The order in which implementations are asked, as data. A file in kernel/ gets its place here.
#include "device/cpu/implementations.h"

#include "device/cpu/kernel_table.h"

namespace tengine::cpu {
namespace {

constexpr Implementations rows[] = {
    {"Add", {"add.simd", "reference"}},
    {"AveragePool", {"average_pool.pixels", "reference"}},
    {"BatchNormalization", {"batch_norm.simd", "reference"}},
    {"Clip", {"clip.simd", "reference"}},
    {"Conv",
     {"conv.depthwise_pixels", "conv.winograd", "conv.pixels", "conv.depthwise_simd",
      "conv.im2col_fp16_fhm", "conv.im2col_fp16_neon", "conv.im2col_gemm", "reference"}},
    {"ConvTranspose", {"conv_transpose.gemm_col2im", "reference"}},
    {"Div", {"div.simd", "reference"}},
    {"Erf", {"erf.simd", "reference"}},
    {"GRU", {"gru.pixels", "reference"}},
    {"Gemm", {"gemm.pixels", "gemm.product", "reference"}},
    {"GlobalAveragePool", {"global_average_pool.pixels", "reference"}},
    {"GlobalMaxPool", {"global_max_pool.pixels", "reference"}},
    {"HardSigmoid", {"hard_sigmoid.simd", "reference"}},
    {"HardSwish", {"hard_swish.simd", "reference"}},
    {"LSTM", {"lstm.pixels", "reference"}},
    {"LayerNormalization", {"layer_norm.simd", "reference"}},
    {"LeakyRelu", {"leaky_relu.simd", "reference"}},
    {"MatMul", {"matmul.pixels", "matmul.product", "reference"}},
    {"MaxPool", {"max_pool.pixels", "reference"}},
    {"Mul", {"mul.simd", "reference"}},
    {"QLinearConv", {"conv.im2col_i8mm", "conv.im2col_dotprod", "conv.im2col_pairs", "reference"}},
    {"RNN", {"rnn.pixels", "reference"}},
    {"Relu", {"relu.simd", "reference"}},
    {"Resize", {"reference.nearest", "reference"}},
    {"Sigmoid", {"sigmoid.simd", "reference"}},
    {"Softmax", {"softmax.simd", "reference"}},
    {"Sub", {"sub.simd", "reference"}},
    {"Tanh", {"tanh.simd", "reference"}},
};

}  // namespace

const ImplementationList implementations = {SelectedRows<rows>::list.data(),
                                            SelectedRows<rows>::list.size()};

}  // namespace tengine::cpu
