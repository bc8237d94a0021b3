// SPDX-License-Identifier: Apache-2.0
// Pools of quantised tensors: MaxPool, QLinearAveragePool and QLinearGlobalAveragePool. ACL's own
// means truncate where they should round, and round again to the scale of the result. So they are
// depthwise convolutions with equal weights, which add exactly and round once.
#include <arm_compute/runtime/NEON/functions/NEDepthwiseConvolutionLayer.h>

#include "base/float_to_index.h"
#include "device/acl/operator/image.h"
#include "device/acl/operator/pool.h"
#include "device/acl/operator/quantized.h"
#include "device/acl/operator_table.h"
#include "operator/onnx/pool_param.h"

namespace tengine::acl {
namespace {

// The weight of such a convolution, as large as both int8 and uint8 allow: larger accumulators are
// shifted further, so that ACL's second rounding seldom matters.
int find_weight(double factor)
{
    return static_cast<int>(float_to_index(factor / kLeastFactor, 1, INT8_MAX));
}

// Inputs: x, its scale and zero point, those of y.
bool add_mean(Builder& builder, const ImageWindow& window)
{
    Quantization x, y;
    if (!read_quantization(builder, 1, &x) || !read_quantization(builder, 3, &y)) return false;
    const tensor& input = *builder.source(0);
    const tensor& output = *builder.target();
    const int64_t values = int64_t{window.x.kernel} * window.y.kernel;
    const double factor = x.scale / (double{y.scale} * static_cast<double>(values));
    const int weight = find_weight(factor);
    if (!check_factor(builder, factor / weight, static_cast<double>(values) * UINT8_MAX * weight))
        return false;
    const auto channels = static_cast<size_t>(input.dims[1]);
    const TensorShape shape(static_cast<size_t>(window.x.kernel),
                            static_cast<size_t>(window.y.kernel), channels);
    const Quantization by = {1 / static_cast<float>(weight * values), 0};
    const TensorInfo weights = quantized_info(make_info(shape, DataType::U8), input.data_type, by);
    return builder.add<arm_compute::NEDepthwiseConvolutionLayer>(
        builder.input(0, quantized_info(image_info(input), input.data_type, x)),
        builder.constant(weights,
                         std::vector<uint8_t>(weights.total_size(), static_cast<uint8_t>(weight))),
        static_cast<ITensor*>(nullptr),
        builder.output(0, quantized_info(image_info(output), output.data_type, y)),
        to_pad_stride(window), 1U, ActivationLayerInfo(), arm_compute::Size2D(1, 1));
}

// Whether all windows have the same number of values.
bool is_even(const window_axis& axis, bool counts_padding)
{
    const int end = (axis.output - 1) * axis.stride + axis.kernel - axis.input - axis.pad_begin;
    return counts_padding ? end <= axis.pad_end : end <= 0 && axis.pad_begin == 0;
}

bool build_average_pool(Builder& builder)
{
    window window;
    if (resolve_pool_window(&builder.of(), &window) != TENGINE_OK)
        return builder.refuse(IR_REASON_ATTRIBUTE, "", "", "%s", tengine_error_message());
    ImageWindow image;
    if (!read_image_window(builder, window, &image)) return false;
    const bool counts_padding = get_ir_node_int(&builder.of(), "count_include_pad", 0) != 0;
    for (const window_axis& axis : {image.x, image.y}) {
        if (axis.dilation != 1) return builder.refuse_value("dilations", axis.dilation, "1");
        if (!is_even(axis, counts_padding))
            return builder.refuse(IR_REASON_ATTRIBUTE, "pads", "",
                                  "windows at the edge have fewer values; ACL rounds means "
                                  "correctly only for windows of one size");
    }
    return add_mean(builder, image);
}

// One window as large as the image.
bool build_global_average_pool(Builder& builder)
{
    const tensor& x = *builder.source(0);
    if (x.dim_num != 3 && x.dim_num != 4) return builder.refuse_value("rank", x.dim_num, "3 or 4");
    const TensorShape shape = image_info(x).tensor_shape();
    const auto whole = [](size_t size) {
        const int length = static_cast<int>(size);
        return window_axis{length, 1, length, 1, 1, 0, 0};
    };
    return add_mean(builder, {whole(shape[0]), whole(shape[1])});
}

// ACL reads the zero point in the padding.
bool build_max_pool(Builder& builder)
{
    const tensor& x = *builder.source(0);
    const tensor& y = *builder.target();
    const Quantization plain = {1, x.data_type == TENGINE_DT_INT8 ? INT8_MIN : 0};
    return add_window_pool(builder, arm_compute::PoolingType::MAX,
                           quantized_info(image_info(x), x.data_type, plain),
                           quantized_info(image_info(y), y.data_type, plain));
}

constexpr Operator kQuantizedPoolRows[] = {
    {"com.microsoft.QLinearAveragePool", kBytes, build_average_pool},
    {"com.microsoft.QLinearGlobalAveragePool", kBytes, build_global_average_pool},
    {"MaxPool", kBytes, build_max_pool},
};

}  // namespace

extern const OperatorTable quantized_pool_operators;
const OperatorTable quantized_pool_operators = make_table(kQuantizedPoolRows);

}  // namespace tengine::acl
