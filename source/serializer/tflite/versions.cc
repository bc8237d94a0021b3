// SPDX-License-Identifier: Apache-2.0
// The versions of operators: programs refuse those above the ones that they know.
#include <algorithm>

#include "graph/graph.h"
#include "operator/infer.h"
#include "serializer/tflite/numbers.h"
#include "serializer/tflite/writing.h"

namespace tengine::tflite {
namespace {

// Version 1 where a type is not said to need a later one.
struct Versions
{
    int16_t code;
    int8_t first;  // of any type
    int8_t of_int8;
    int8_t of_int16;
};

constexpr Versions kVersions[] = {
    {0, 1, 2, 3},    // ADD
    {1, 1, 2, 3},    // AVERAGE_POOL_2D
    {2, 1, 2, 3},    // CONCATENATION
    {5, 1, 2, 2},    // DEPTH_TO_SPACE
    {14, 1, 2, 3},   // LOGISTIC
    {17, 1, 2, 3},   // MAX_POOL_2D
    {18, 1, 2, 4},   // MUL
    {19, 1, 2, 3},   // RELU
    {21, 1, 2, 3},   // RELU6
    {23, 1, 2, 4},   // RESIZE_BILINEAR
    {25, 1, 2, 3},   // SOFTMAX
    {26, 1, 2, 2},   // SPACE_TO_DEPTH
    {28, 1, 2, 3},   // TANH
    {34, 1, 2, 3},   // PAD
    {36, 1, 2, 4},   // GATHER
    {39, 1, 2, 4},   // TRANSPOSE
    {40, 1, 2, 3},   // MEAN
    {41, 1, 2, 5},   // SUB
    {43, 1, 2, 2},   // SQUEEZE
    {45, 1, 2, 4},   // STRIDED_SLICE
    {49, 1, 2, 4},   // SPLIT
    {50, 1, 2, 2},   // LOG_SOFTMAX
    {55, 1, 2, 4},   // MAXIMUM
    {56, 1, 2, 2},   // ARG_MAX
    {57, 1, 2, 4},   // MINIMUM
    {60, 1, 2, 4},   // PADV2
    {65, 1, 2, 4},   // SLICE
    {67, 1, 2, 4},   // TRANSPOSE_CONV
    {74, 1, 2, 3},   // SUM
    {82, 1, 2, 3},   // REDUCE_MAX
    {83, 1, 2, 2},   // PACK
    {88, 1, 2, 2},   // UNPACK
    {89, 1, 2, 3},   // REDUCE_MIN
    {97, 1, 2, 4},   // RESIZE_NEAREST_NEIGHBOR
    {98, 1, 2, 2},   // LEAKY_RELU
    {101, 1, 2, 2},  // ABS
    {102, 1, 2, 2},  // SPLIT_V
    {117, 1, 1, 1},  // HARD_SWISH
    {126, 1, 2, 3},  // BATCH_MATMUL
    {130, 2, 2, 2},  // BROADCAST_TO
};

constexpr int kDequantize = 6;
constexpr int kResizeBilinear = 23;
constexpr int kGather = 36;
constexpr int kTranspose = 39;
constexpr int kResizeNearest = 97;

int type_of(const struct node& node, int input)
{
    const struct tensor* tensor = get_ir_node_input(&node, input);
    return tensor ? tensor->data_type : TENGINE_DT_UNKNOWN;
}

// CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED by the types of the input and of the weights.
struct WeightedVersions
{
    int8_t of_float;
    int8_t of_float_int8;  // int8 weights
    int8_t per_axis;       // with scales for each channel
    int8_t of_int8;
    int8_t of_int16;
};

int find_weighted_version(const struct node& node, const WeightedVersions& versions)
{
    const struct tensor* weights = get_ir_node_input(&node, 1);
    switch (type_of(node, 0)) {
        case TENGINE_DT_INT8:
            return versions.of_int8;
        case TENGINE_DT_INT16:
            return versions.of_int16;
        default:
            if (type_of(node, 1) != TENGINE_DT_INT8) return versions.of_float;
            return weights->quant_param_num > 1 ? versions.per_axis : versions.of_float_int8;
    }
}

int find_table_version(const struct node& node, int code)
{
    const int type = type_of(node, code == kTransposeConv ? 2 : 0);
    for (const Versions& versions : kVersions) {
        if (versions.code != code) continue;
        return type == TENGINE_DT_INT8    ? versions.of_int8
               : type == TENGINE_DT_INT16 ? versions.of_int16
                                          : versions.first;
    }
    return 1;
}

int find_conv_version(const struct node& node)
{
    const struct tensor *input = get_ir_node_input(&node, 0), *filter = get_ir_node_input(&node, 1);
    const bool is_grouped = input && filter && input->dim_num == 4 && filter->dim_num == 4 &&
                            input->dims[3] != filter->dims[3];
    return is_grouped ? 6 : find_weighted_version(node, {1, 2, 5, 3, 4});
}

int find_depthwise_version(const struct node& node)
{
    const int version = find_weighted_version(node, {1, 4, 6, 3, 5});
    const bool is_dilated =
        get_ir_node_int(&node, "dilation_w", 1) > 1 || get_ir_node_int(&node, "dilation_h", 1) > 1;
    return version == 1 && is_dilated ? 2 : version;
}

int find_full_version(const struct node& node)
{
    const int version = find_weighted_version(node, {1, 3, 12, 4, 7});
    if (version < 5 && get_ir_node_int(&node, "keep_num_dims", 0) != 0) return 5;
    const struct tensor* weights = get_ir_node_input(&node, 1);
    const bool is_computed = weights && weights->tensor_type != TENSOR_TYPE_CONST;
    const bool has_bias = get_ir_node_input(&node, 2) != nullptr;
    return version < 6 && (is_computed || !has_bias) ? 6 : version;
}

int find_dequantize_version(const struct node& node)
{
    const struct tensor* input = get_ir_node_input(&node, 0);
    if (input && input->quant_param_num > 1) return 5;
    const int type = type_of(node, 0);
    return type == TENGINE_DT_FP16 || type == TENGINE_DT_INT16 ? 3
           : type == TENGINE_DT_INT8                           ? 2
                                                               : 1;
}

}  // namespace

int find_version(const struct node& node, int code)
{
    const int version = find_table_version(node, code);
    const struct tensor *input = get_ir_node_input(&node, 0),
                        *output = get_ir_node_output(&node, 0);
    switch (code) {
        case kConv2d:
            return find_conv_version(node);
        case kDepthwiseConv2d:
            return find_depthwise_version(node);
        case kFullyConnected:
            return find_full_version(node);
        case kDequantize:
            return find_dequantize_version(node);
        case kResizeBilinear:
        case kResizeNearest:
            return get_ir_node_int(&node, "half_pixel_centers", 0) != 0 ? std::max(version, 3)
                                                                        : version;
        case kGather:
            return get_ir_node_int(&node, "batch_dims", 0) != 0 ? 5 : version;
        case kTranspose:
            return std::max(version, input && input->dim_num > 5   ? 6
                                     : input && input->dim_num > 4 ? 4
                                                                   : 1);
        case kTransposeConv:
            return get_ir_node_input(&node, 3) ? std::max(version, 3) : version;
        case kQuantize:
            return (input && input->quant_param_num > 0) ||
                           (output && output->data_type == TENGINE_DT_INT16)
                       ? 2
                       : 1;
        default:
            return version;
    }
}

}  // namespace tengine::tflite
