// SPDX-License-Identifier: Apache-2.0
// LiteRT's C functions that read the options of operators which only a .tflite has. Part of
// litert.hpp.
#pragma once

#include "tengine/compat/litert/op_code.hpp"
#include "tengine/compat/litert/options.hpp"

TENGINE_LITERT_BEGIN

// All fail with kLiteRtStatusErrorInvalidArgument for an operator of another code.

inline LiteRtStatus LiteRtGetConv2dPaddingOption(LiteRtOp op, uint32_t* out_padding)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflConv2d, out_padding, "padding");
}
inline LiteRtStatus LiteRtGetConv2dStrideWOption(LiteRtOp op, int32_t* out_stride)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflConv2d, out_stride, "stride_w");
}
inline LiteRtStatus LiteRtGetConv2dStrideHOption(LiteRtOp op, int32_t* out_stride)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflConv2d, out_stride, "stride_h");
}
inline LiteRtStatus LiteRtGetConv2dFusedActivationOption(LiteRtOp op, uint32_t* out_activation)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflConv2d, out_activation, "activation");
}
inline LiteRtStatus LiteRtGetConv2dDilationWOption(LiteRtOp op, int32_t* out_dilation)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflConv2d, out_dilation, "dilation_w");
}
inline LiteRtStatus LiteRtGetConv2dDilationHOption(LiteRtOp op, int32_t* out_dilation)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflConv2d, out_dilation, "dilation_h");
}
inline LiteRtStatus LiteRtGetDepthwiseConv2dPaddingOption(LiteRtOp op, uint32_t* out_padding)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflDepthwiseConv2d, out_padding,
                                          "padding");
}
inline LiteRtStatus LiteRtGetDepthwiseConv2dStrideWOption(LiteRtOp op, int32_t* out_stride)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflDepthwiseConv2d, out_stride,
                                          "stride_w");
}
inline LiteRtStatus LiteRtGetDepthwiseConv2dStrideHOption(LiteRtOp op, int32_t* out_stride)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflDepthwiseConv2d, out_stride,
                                          "stride_h");
}
inline LiteRtStatus LiteRtGetDepthwiseConv2dFusedActivationOption(LiteRtOp op,
                                                                  uint32_t* out_activation)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflDepthwiseConv2d, out_activation,
                                          "activation");
}
inline LiteRtStatus LiteRtGetDepthwiseConv2dDilationWOption(LiteRtOp op, int32_t* out_dilation)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflDepthwiseConv2d, out_dilation,
                                          "dilation_w");
}
inline LiteRtStatus LiteRtGetDepthwiseConv2dDilationHOption(LiteRtOp op, int32_t* out_dilation)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflDepthwiseConv2d, out_dilation,
                                          "dilation_h");
}
// The number of results of a channel, which the shapes give.
inline LiteRtStatus LiteRtGetDepthwiseConv2dDepthMultiplierOption(LiteRtOp op, int32_t* out_number)
{
    if (op->code != kLiteRtOpCodeTflDepthwiseConv2d) return kLiteRtStatusErrorInvalidArgument;
    const struct tensor* input = get_ir_node_input(op->node, 0);
    const struct tensor* output = get_ir_node_output(op->node, 0);
    const bool is_known = tengine_litert::has_rank(input, 4, 4) &&
                          tengine_litert::has_rank(output, 4, 4) && input->dims[3] > 0;
    *out_number = is_known ? output->dims[3] / input->dims[3] : 1;
    return kLiteRtStatusOk;
}
inline LiteRtStatus LiteRtGetConv3dPaddingOption(LiteRtOp op, uint32_t* out_padding)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflConv3d, out_padding, "padding");
}
inline LiteRtStatus LiteRtGetConv3dStrideDOption(LiteRtOp op, int32_t* out_stride)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflConv3d, out_stride, "stride_d");
}
inline LiteRtStatus LiteRtGetConv3dStrideWOption(LiteRtOp op, int32_t* out_stride)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflConv3d, out_stride, "stride_w");
}
inline LiteRtStatus LiteRtGetConv3dStrideHOption(LiteRtOp op, int32_t* out_stride)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflConv3d, out_stride, "stride_h");
}
inline LiteRtStatus LiteRtGetConv3dFusedActivationOption(LiteRtOp op, uint32_t* out_activation)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflConv3d, out_activation, "activation");
}
inline LiteRtStatus LiteRtGetConv3dDilationDOption(LiteRtOp op, int32_t* out_dilation)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflConv3d, out_dilation, "dilation_d");
}
inline LiteRtStatus LiteRtGetConv3dDilationWOption(LiteRtOp op, int32_t* out_dilation)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflConv3d, out_dilation, "dilation_w");
}
inline LiteRtStatus LiteRtGetConv3dDilationHOption(LiteRtOp op, int32_t* out_dilation)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflConv3d, out_dilation, "dilation_h");
}
inline LiteRtStatus LiteRtGetConv3dTransposePaddingOption(LiteRtOp op, uint32_t* out_padding)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflConv3dTranspose, out_padding,
                                          "padding");
}
inline LiteRtStatus LiteRtGetConv3dTransposeStrideDOption(LiteRtOp op, int32_t* out_stride)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflConv3dTranspose, out_stride,
                                          "stride_d");
}
inline LiteRtStatus LiteRtGetConv3dTransposeStrideWOption(LiteRtOp op, int32_t* out_stride)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflConv3dTranspose, out_stride,
                                          "stride_w");
}
inline LiteRtStatus LiteRtGetConv3dTransposeStrideHOption(LiteRtOp op, int32_t* out_stride)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflConv3dTranspose, out_stride,
                                          "stride_h");
}
inline LiteRtStatus LiteRtGetConv3dTransposeFusedActivationOption(LiteRtOp op,
                                                                  uint32_t* out_activation)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflConv3dTranspose, out_activation,
                                          "activation");
}
inline LiteRtStatus LiteRtGetConv3dTransposeDilationDOption(LiteRtOp op, int32_t* out_dilation)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflConv3dTranspose, out_dilation,
                                          "dilation_d");
}
inline LiteRtStatus LiteRtGetConv3dTransposeDilationWOption(LiteRtOp op, int32_t* out_dilation)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflConv3dTranspose, out_dilation,
                                          "dilation_w");
}
inline LiteRtStatus LiteRtGetConv3dTransposeDilationHOption(LiteRtOp op, int32_t* out_dilation)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflConv3dTranspose, out_dilation,
                                          "dilation_h");
}
inline LiteRtStatus LiteRtGetTransposeConvPaddingOption(LiteRtOp op, uint32_t* out_padding)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflTransposeConv, out_padding,
                                          "padding");
}
inline LiteRtStatus LiteRtGetTransposeConvStrideWOption(LiteRtOp op, int32_t* out_stride)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflTransposeConv, out_stride,
                                          "stride_w");
}
inline LiteRtStatus LiteRtGetTransposeConvStrideHOption(LiteRtOp op, int32_t* out_stride)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflTransposeConv, out_stride,
                                          "stride_h");
}
inline LiteRtStatus LiteRtGetTransposeConvFusedActivationOption(LiteRtOp op,
                                                                uint32_t* out_activation)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflTransposeConv, out_activation,
                                          "activation");
}
inline LiteRtStatus LiteRtGetAveragePool2dPaddingOption(LiteRtOp op, uint32_t* out_padding)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflAveragePool2d, out_padding,
                                          "padding");
}
inline LiteRtStatus LiteRtGetAveragePool2dStrideWOption(LiteRtOp op, int32_t* out_stride)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflAveragePool2d, out_stride,
                                          "stride_w");
}
inline LiteRtStatus LiteRtGetAveragePool2dStrideHOption(LiteRtOp op, int32_t* out_stride)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflAveragePool2d, out_stride,
                                          "stride_h");
}
inline LiteRtStatus LiteRtGetAveragePool2dFilterWidthOption(LiteRtOp op, int32_t* out_width)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflAveragePool2d, out_width, "filter_w");
}
inline LiteRtStatus LiteRtGetAveragePool2dFilterHeightOption(LiteRtOp op, int32_t* out_height)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflAveragePool2d, out_height,
                                          "filter_h");
}
inline LiteRtStatus LiteRtGetAveragePool2dFusedActivationOption(LiteRtOp op,
                                                                uint32_t* out_activation)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflAveragePool2d, out_activation,
                                          "activation");
}
inline LiteRtStatus LiteRtGetMaxPool2dPaddingOption(LiteRtOp op, uint32_t* out_padding)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflMaxPool2d, out_padding, "padding");
}
inline LiteRtStatus LiteRtGetMaxPool2dStrideWOption(LiteRtOp op, int32_t* out_stride)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflMaxPool2d, out_stride, "stride_w");
}
inline LiteRtStatus LiteRtGetMaxPool2dStrideHOption(LiteRtOp op, int32_t* out_stride)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflMaxPool2d, out_stride, "stride_h");
}
inline LiteRtStatus LiteRtGetMaxPool2dFilterWidthOption(LiteRtOp op, int32_t* out_width)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflMaxPool2d, out_width, "filter_w");
}
inline LiteRtStatus LiteRtGetMaxPool2dFilterHeightOption(LiteRtOp op, int32_t* out_height)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflMaxPool2d, out_height, "filter_h");
}
inline LiteRtStatus LiteRtGetMaxPool2dFusedActivationOption(LiteRtOp op, uint32_t* out_activation)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflMaxPool2d, out_activation,
                                          "activation");
}
inline LiteRtStatus LiteRtGetL2Pool2dPaddingOption(LiteRtOp op, uint32_t* out_padding)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflL2Pool2d, out_padding, "padding");
}
inline LiteRtStatus LiteRtGetL2Pool2dStrideWOption(LiteRtOp op, int32_t* out_stride)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflL2Pool2d, out_stride, "stride_w");
}
inline LiteRtStatus LiteRtGetL2Pool2dStrideHOption(LiteRtOp op, int32_t* out_stride)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflL2Pool2d, out_stride, "stride_h");
}
inline LiteRtStatus LiteRtGetL2Pool2dFilterWidthOption(LiteRtOp op, int32_t* out_width)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflL2Pool2d, out_width, "filter_w");
}
inline LiteRtStatus LiteRtGetL2Pool2dFilterHeightOption(LiteRtOp op, int32_t* out_height)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflL2Pool2d, out_height, "filter_h");
}
inline LiteRtStatus LiteRtGetL2Pool2dFusedActivationOption(LiteRtOp op, uint32_t* out_activation)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflL2Pool2d, out_activation,
                                          "activation");
}
inline LiteRtStatus LiteRtGetResizeBilinearAlignCornersOption(LiteRtOp op, bool* out_is_aligned)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflResizeBilinear, out_is_aligned,
                                          "align_corners");
}
inline LiteRtStatus LiteRtGetResizeBilinearHalfPixelCenterOption(LiteRtOp op, bool* out_is_half)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflResizeBilinear, out_is_half,
                                          "half_pixel_centers");
}
inline LiteRtStatus LiteRtGetResizeNearestNeighborAlignCornersOption(LiteRtOp op,
                                                                     bool* out_is_aligned)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflResizeNearestNeighbor, out_is_aligned,
                                          "align_corners");
}
inline LiteRtStatus LiteRtGetResizeNearestNeighborHalfPixelCentersOption(LiteRtOp op,
                                                                         bool* out_is_half)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflResizeNearestNeighbor, out_is_half,
                                          "half_pixel_centers");
}
inline LiteRtStatus LiteRtGetDepthToSpaceBlockSizeOption(LiteRtOp op, int32_t* out_size)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflDepthToSpace, out_size, "block_size");
}
inline LiteRtStatus LiteRtGetSpaceToDepthBlockSizeOption(LiteRtOp op, int32_t* out_size)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflSpaceToDepth, out_size, "block_size");
}
inline LiteRtStatus LiteRtGetMirrorPadModeOption(LiteRtOp op, uint32_t* out_mode)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflMirrorPad, out_mode, "mode");
}
inline LiteRtStatus LiteRtGetMeanKeepDimsOption(LiteRtOp op, bool* out_are_kept)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflMean, out_are_kept, "keep_dims");
}
inline LiteRtStatus LiteRtGetSumKeepDimsOption(LiteRtOp op, bool* out_are_kept)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflSum, out_are_kept, "keep_dims");
}
inline LiteRtStatus LiteRtGetReduceMaxKeepDimsOption(LiteRtOp op, bool* out_are_kept)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflReduceMax, out_are_kept, "keep_dims");
}
inline LiteRtStatus LiteRtGetReduceMinKeepDimsOption(LiteRtOp op, bool* out_are_kept)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflReduceMin, out_are_kept, "keep_dims");
}
inline LiteRtStatus LiteRtGetReduceAnyKeepDimsOption(LiteRtOp op, bool* out_are_kept)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflReduceAny, out_are_kept, "keep_dims");
}
inline LiteRtStatus LiteRtGetReduceAllKeepDimsOption(LiteRtOp op, bool* out_are_kept)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflReduceAll, out_are_kept, "keep_dims");
}
inline LiteRtStatus LiteRtGetPackAxisOption(LiteRtOp op, int32_t* out_axis)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflPack, out_axis, "axis");
}
inline LiteRtStatus LiteRtGetPackValuesCountOption(LiteRtOp op, int32_t* out_number)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflPack, out_number, "values_count");
}
inline LiteRtStatus LiteRtGetUnpackAxisOption(LiteRtOp op, int32_t* out_axis)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflUnpack, out_axis, "axis");
}
inline LiteRtStatus LiteRtGetUnpackNumOption(LiteRtOp op, int32_t* out_number)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflUnpack, out_number, "num");
}
inline LiteRtStatus LiteRtGetGatherAxisOption(LiteRtOp op, int32_t* out_axis)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflGather, out_axis, "axis");
}
inline LiteRtStatus LiteRtGetGatherBatchDimsOption(LiteRtOp op, int32_t* out_number)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflGather, out_number, "batch_dims");
}
inline LiteRtStatus LiteRtGetOneHotAxisOption(LiteRtOp op, int32_t* out_axis)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflOneHot, out_axis, "axis");
}
inline LiteRtStatus LiteRtGetSplitNumSplitsOption(LiteRtOp op, int32_t* out_number)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflSplit, out_number, "num_splits");
}
inline LiteRtStatus LiteRtGetSplitVNumSplitsOption(LiteRtOp op, int32_t* out_number)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflSplitV, out_number, "num_splits");
}
inline LiteRtStatus LiteRtGetStridedSliceBeginMaskOption(LiteRtOp op, int32_t* out_mask)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflStridedSlice, out_mask, "begin_mask");
}
inline LiteRtStatus LiteRtGetStridedSliceEndMaskOption(LiteRtOp op, int32_t* out_mask)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflStridedSlice, out_mask, "end_mask");
}
inline LiteRtStatus LiteRtGetStridedSliceEllipsisMaskOption(LiteRtOp op, int32_t* out_mask)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflStridedSlice, out_mask,
                                          "ellipsis_mask");
}
inline LiteRtStatus LiteRtGetStridedSliceNewAxisMaskOption(LiteRtOp op, int32_t* out_mask)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflStridedSlice, out_mask,
                                          "new_axis_mask");
}
inline LiteRtStatus LiteRtGetStridedSliceShrinkAxisMaskOption(LiteRtOp op, int32_t* out_mask)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflStridedSlice, out_mask,
                                          "shrink_axis_mask");
}
inline LiteRtStatus LiteRtGetStridedSliceOffsetOption(LiteRtOp op, bool* out_is_offset)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflStridedSlice, out_is_offset,
                                          "offset");
}
// No list, of 0 elements, where the shape is an input.
inline LiteRtStatus LiteRtGetReshapeNewShapeOption(LiteRtOp op, const int32_t** out_shape,
                                                   int32_t* out_size)
{
    return tengine_litert::give_list(op, kLiteRtOpCodeTflReshape, "new_shape", out_shape, out_size);
}
inline LiteRtStatus LiteRtGetSqueezeDimsOption(LiteRtOp op, const int32_t** out_dims,
                                               int32_t* out_size)
{
    return tengine_litert::give_list(op, kLiteRtOpCodeTflSqueeze, "squeeze_dims", out_dims,
                                     out_size);
}

TENGINE_LITERT_END
