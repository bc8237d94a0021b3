// SPDX-License-Identifier: Apache-2.0
// A compiler plug-in of LiteRT that takes no node, and refuses each operator with its description
// in LiteRT's interface: "LeakyRelu 98 of 1 alpha 0.25", with the number of the code and of inputs,
// or "Custom Celu". Those of a .tflite are logged.
#include <cstdarg>
#include <cstdio>

#include "litert/c/litert_model.h"
#include "litert/c/litert_op_code.h"
#include "litert/c/litert_op_options.h"
#include "litert/cc/litert_model.h"
#include "litert/vendors/c/litert_compiler_plugin.h"
#include "tengine/log.h"

struct LiteRtCompilerPluginT
{
};

const char* LiteRtGetCompilerPluginSocManufacturer()
{
    return "Operators";
}

LiteRtStatus LiteRtCreateCompilerPlugin(LiteRtCompilerPlugin* compiler_plugin,
                                        LiteRtEnvironmentOptions, LiteRtOptions)
{
    *compiler_plugin = new LiteRtCompilerPluginT;
    return kLiteRtStatusOk;
}

void LiteRtDestroyCompilerPlugin(LiteRtCompilerPlugin compiler_plugin)
{
    delete compiler_plugin;
}

LiteRtStatus LiteRtGetCompilerPluginSupportedHardware(LiteRtCompilerPlugin,
                                                      LiteRtHwAccelerators* supported_hardware)
{
    *supported_hardware = kLiteRtHwAcceleratorGpu;
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetNumCompilerPluginSupportedSocModels(LiteRtCompilerPlugin,
                                                          LiteRtParamIndex* num_models)
{
    *num_models = 0;
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetCompilerPluginSupportedSocModel(LiteRtCompilerPlugin, LiteRtParamIndex,
                                                      const char**)
{
    return kLiteRtStatusErrorIndexOOB;
}

namespace {

// All codes of TFLite's operators that the interface has here, with the numbers of LiteRT's.
// clang-format off
#define CODES(CODE) \
    CODE(TflAdd, 0) CODE(TflAveragePool2d, 1) CODE(TflConcatenation, 2) CODE(TflConv2d, 3) \
    CODE(TflDepthwiseConv2d, 4) CODE(TflDepthToSpace, 5) CODE(TflDequantize, 6) \
    CODE(TflEmbeddingLookup, 7) CODE(TflFloor, 8) CODE(TflFullyConnected, 9) \
    CODE(TflHashtableLookup, 10) CODE(TflL2Normalization, 11) CODE(TflL2Pool2d, 12) \
    CODE(TflLocalResponseNormalization, 13) CODE(TflLogistic, 14) CODE(TflLshProjection, 15) \
    CODE(TflLstm, 16) CODE(TflMaxPool2d, 17) CODE(TflMul, 18) CODE(TflRelu, 19) \
    CODE(TflReluN1To1, 20) CODE(TflRelu6, 21) CODE(TflReshape, 22) \
    CODE(TflResizeBilinear, 23) CODE(TflRnn, 24) CODE(TflSoftmax, 25) \
    CODE(TflSpaceToDepth, 26) CODE(TflSvdf, 27) CODE(TflTanh, 28) \
    CODE(TflConcatEmbeddings, 29) CODE(TflSkipGram, 30) CODE(TflCall, 31) CODE(TflCustom, 32) \
    CODE(TflEmbeddingLookupSparse, 33) CODE(TflPad, 34) \
    CODE(TflUnidirectionalSequenceRnn, 35) CODE(TflGather, 36) CODE(TflBatchToSpaceNd, 37) \
    CODE(TflSpaceToBatchNd, 38) CODE(TflTranspose, 39) CODE(TflMean, 40) CODE(TflSub, 41) \
    CODE(TflDiv, 42) CODE(TflSqueeze, 43) CODE(TflUnidirectionalSequenceLstm, 44) \
    CODE(TflStridedSlice, 45) CODE(TflBidirectionalSequenceRnn, 46) CODE(TflExp, 47) \
    CODE(TflTopkV2, 48) CODE(TflSplit, 49) CODE(TflLogSoftmax, 50) CODE(TflDelegate, 51) \
    CODE(TflBidirectionalSequenceLstm, 52) CODE(TflCast, 53) CODE(TflPrelu, 54) \
    CODE(TflMaximum, 55) CODE(TflArgMax, 56) CODE(TflMinimum, 57) CODE(TflLess, 58) \
    CODE(TflNeg, 59) CODE(TflPadv2, 60) CODE(TflGreater, 61) CODE(TflGreaterEqual, 62) \
    CODE(TflLessEqual, 63) CODE(TflSelect, 64) CODE(TflSlice, 65) CODE(TflSin, 66) \
    CODE(TflTransposeConv, 67) CODE(TflSparseToDense, 68) CODE(TflTile, 69) \
    CODE(TflExpandDims, 70) CODE(TflEqual, 71) CODE(TflNotEqual, 72) CODE(TflLog, 73) \
    CODE(TflSum, 74) CODE(TflSqrt, 75) CODE(TflRsqrt, 76) CODE(TflShape, 77) CODE(TflPow, 78) \
    CODE(TflArgMin, 79) CODE(TflFakeQuant, 80) CODE(TflReduceProd, 81) CODE(TflReduceMax, 82) \
    CODE(TflPack, 83) CODE(TflLogicalOr, 84) CODE(TflOneHot, 85) CODE(TflLogicalAnd, 86) \
    CODE(TflLogicalNot, 87) CODE(TflUnpack, 88) CODE(TflReduceMin, 89) CODE(TflFloorDiv, 90) \
    CODE(TflReduceAny, 91) CODE(TflSquare, 92) CODE(TflZerosLike, 93) CODE(TflFill, 94) \
    CODE(TflFloorMod, 95) CODE(TflRange, 96) CODE(TflResizeNearestNeighbor, 97) \
    CODE(TflLeakyRelu, 98) CODE(TflSquaredDifference, 99) CODE(TflMirrorPad, 100) \
    CODE(TflAbs, 101) CODE(TflSplitV, 102) CODE(TflUnique, 103) CODE(TflCeil, 104) \
    CODE(TflReverseV2, 105) CODE(TflAddN, 106) CODE(TflGatherNd, 107) CODE(TflCos, 108) \
    CODE(TflWhere, 109) CODE(TflRank, 110) CODE(TflElu, 111) CODE(TflReverseSequence, 112) \
    CODE(TflMatrixDiag, 113) CODE(TflQuantize, 114) CODE(TflMatrixSetDiag, 115) \
    CODE(TflRound, 116) CODE(TflHardSwish, 117) CODE(TflIf, 118) CODE(TflWhile, 119) \
    CODE(TflNonMaxSuppressionV4, 120) CODE(TflNonMaxSuppressionV5, 121) \
    CODE(TflScatterNd, 122) CODE(TflSelectV2, 123) CODE(TflDensify, 124) \
    CODE(TflSegmentSum, 125) CODE(TflBatchMatmul, 126) CODE(TflCumsum, 128) \
    CODE(TflCallOnce, 129) CODE(TflBroadcastTo, 130) CODE(TflRfft2d, 131) \
    CODE(TflConv3d, 132) CODE(TflImag, 133) CODE(TflReal, 134) CODE(TflComplexAbs, 135) \
    CODE(TflHashtable, 136) CODE(TflHashtableFind, 137) CODE(TflHashtableImport, 138) \
    CODE(TflHashtableSize, 139) CODE(TflReduceAll, 140) CODE(TflConv3dTranspose, 141) \
    CODE(TflVarHandle, 142) CODE(TflReadVariable, 143) CODE(TflAssignVariable, 144) \
    CODE(TflBroadcastArgs, 145) CODE(TflRandomStandardNormal, 146) CODE(TflBucketize, 147) \
    CODE(TflRandomUniform, 148) CODE(TflMultinomial, 149) CODE(TflGelu, 150) \
    CODE(TflDynamicUpdateSlice, 151) CODE(TflRelu0To1, 152) CODE(TflUnsortedSegmentProd, 153) \
    CODE(TflUnsortedSegmentMax, 154) CODE(TflUnsortedSegmentSum, 155) CODE(TflAtan2, 156) \
    CODE(TflUnsortedSegmentMin, 157) CODE(TflSign, 158) CODE(TflBitcast, 159) \
    CODE(TflBitwiseXor, 160) CODE(TflRightShift, 161) CODE(ShloLogistic, 162) \
    CODE(ShloAdd, 163) CODE(ShloDivide, 164) CODE(ShloMultiply, 165) CODE(ShloMaximum, 166) \
    CODE(ShloReshape, 167) CODE(ShloClamp, 168) CODE(ShloConcatenate, 169) \
    CODE(ShloBroadcastInDim, 170) CODE(ShloConvolution, 171) CODE(ShloSlice, 172) \
    CODE(ShloCustomCall, 173) CODE(ShloReduce, 174) CODE(ShloAbs, 175) CODE(ShloAnd, 176) \
    CODE(ShloCosine, 177) CODE(ShloExponential, 178) CODE(ShloFloor, 179) CODE(ShloLog, 180) \
    CODE(ShloMinimum, 181) CODE(ShloNegate, 182) CODE(ShloOr, 183) CODE(ShloPower, 184) \
    CODE(ShloRemainder, 185) CODE(ShloRsqrt, 186) CODE(ShloSelect, 187) \
    CODE(ShloSubtract, 188) CODE(ShloTanh, 189) CODE(ShloScatter, 190) CODE(ShloCompare, 191) \
    CODE(ShloConvert, 192) CODE(ShloDynamicSlice, 193) CODE(ShloDynamicUpdateSlice, 194) \
    CODE(ShloPad, 195) CODE(ShloIota, 196) CODE(ShloGeneral, 197) CODE(ShloWindow, 198) \
    CODE(ShloSort, 199) CODE(ShloWhile, 200) CODE(ShloGather, 201) CODE(ShloTranspose, 202) \
    CODE(TflDilate, 203) CODE(ShloRngBitGenerator, 204) CODE(TflReduceWindow, 205) \
    CODE(ShloComposite, 206)
// clang-format on

const char* NameOf(LiteRtOpCode code)
{
    switch (code) {
#define CASE(name, number)                              \
    case kLiteRtOpCode##name:                           \
        static_assert(kLiteRtOpCode##name == (number)); \
        return #name;
        CODES(CASE)
    }
    return "unknown";
}

// Numbers that nothing else here uses.
static_assert(kLiteRtStatusErrorUnsupportedOpShapeInferer == 5000);
static_assert(kLiteRtStatusErrorShapeInferenceFailed == 5001);
static_assert(kLiteRtElementTypeFloat8E4M3FN == 22 && kLiteRtElementTypeFloat8E5M2 == 23);
static_assert(static_cast<int>(litert::ElementType::UInt64) == 13);
static_assert(static_cast<int>(litert::ElementType::UInt32) == 16);
static_assert(static_cast<int>(litert::ElementType::UInt16) == 17);
static_assert(litert::kActivationFunctionTypeRelu6 == 3 &&
              litert::kActivationFunctionTypeSignBit == 5);
static_assert(litert::kPaddingSame == 0 && litert::kPaddingValid == 1);
static_assert(litert::kMirrorPadModeReflect == 0 && litert::kMirrorPadModeSymmetric == 1);
static_assert(sizeof(LiteRtLayout) == 68 && sizeof(LiteRtRankedTensorType) == 72);

std::string text;

void Write(const char* format, ...) TENGINE_PRINTF(1, 2);
void Write(const char* format, ...)
{
    char part[64];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(part, sizeof part, format, arguments);
    va_end(arguments);
    text += part;
}

// Reads an option, which operators of other codes lack.
template <class Value>
void WriteOption(LiteRtOp op, const char* format, LiteRtStatus (*function)(LiteRtOp, Value*))
{
    Value value = {};
    const LiteRtStatus status = function(op, &value);
    if (status == kLiteRtStatusOk)
        Write(format, value);
    else if (status != kLiteRtStatusErrorInvalidArgument)
        Write(" status %d", static_cast<int>(status));
}

void WriteOptions(LiteRtOp op)
{
    WriteOption(op, " activation %u", LiteRtGetAddFusedActivationOption);
    WriteOption(op, " activation %u", LiteRtGetSubFusedActivationOption);
    WriteOption(op, " activation %u", LiteRtGetMulFusedActivationOption);
    WriteOption(op, " activation %u", LiteRtGetDivFusedActivationOption);
    WriteOption(op, " activation %u", LiteRtGetConcatenationFusedActivationOption);
    WriteOption(op, " axis %d", LiteRtGetConcatenationAxisOption);
    WriteOption(op, " activation %u", LiteRtGetFullyConnectedFusedActivationOption);
    WriteOption(op, " format %u", LiteRtGetFullyConnectedWeightsFormatOption);
    WriteOption(op, " dims kept %d", LiteRtGetFullyConnectedKeepNumDimsOption);
    WriteOption(op, " bias type %u", LiteRtFullyConnectedGetQuantizedBiasTypeOption);
    WriteOption(op, " asymmetric %d", LiteRtGetFullyConnectedAsymmetricQuantizeInputOption);
    WriteOption(op, " adj %d", LiteRtGetBatchMatmulAdjXOption);
    WriteOption(op, " %d", LiteRtGetBatchMatmulAdjYOption);
    WriteOption(op, " asymmetric %d", LiteRtGetBatchMatmulAsymmetricQuantizeInputOption);
    WriteOption(op, " exclusive %d", LiteRtGetCumsumExclusiveOption);
    WriteOption(op, " reverse %d", LiteRtGetCumsumReverseOption);
    WriteOption(op, " approximate %d", LiteRtGetGeluApproximateOption);
    WriteOption(op, " alpha %g", LiteRtGetLeakyReluAlphaOption);
    WriteOption(op, " beta %g", LiteRtGetSoftmaxBetaOption);
}

template <class Function>
void WriteList(LiteRtOp op, const Function& function)
{
    const int32_t* values = nullptr;
    int32_t size = 0;
    if (function(op, &values, &size) != kLiteRtStatusOk) return;
    Write(" list");
    for (int32_t i = 0; i < size; ++i)
        Write(" %d", values[i]);
}

void WriteOptionsOfConvolution(LiteRtOp op)
{
    WriteOption(op, " padding %u", LiteRtGetConv2dPaddingOption);
    WriteOption(op, " stride %d", LiteRtGetConv2dStrideWOption);
    WriteOption(op, " x %d", LiteRtGetConv2dStrideHOption);
    WriteOption(op, " activation %u", LiteRtGetConv2dFusedActivationOption);
    WriteOption(op, " dilation %d", LiteRtGetConv2dDilationWOption);
    WriteOption(op, " x %d", LiteRtGetConv2dDilationHOption);
    WriteOption(op, " padding %u", LiteRtGetDepthwiseConv2dPaddingOption);
    WriteOption(op, " stride %d", LiteRtGetDepthwiseConv2dStrideWOption);
    WriteOption(op, " x %d", LiteRtGetDepthwiseConv2dStrideHOption);
    WriteOption(op, " activation %u", LiteRtGetDepthwiseConv2dFusedActivationOption);
    WriteOption(op, " dilation %d", LiteRtGetDepthwiseConv2dDilationWOption);
    WriteOption(op, " x %d", LiteRtGetDepthwiseConv2dDilationHOption);
    WriteOption(op, " multiplier %d", LiteRtGetDepthwiseConv2dDepthMultiplierOption);
    WriteOption(op, " padding %u", LiteRtGetConv3dPaddingOption);
    WriteOption(op, " stride %d", LiteRtGetConv3dStrideDOption);
    WriteOption(op, " stride %d", LiteRtGetConv3dStrideWOption);
    WriteOption(op, " x %d", LiteRtGetConv3dStrideHOption);
    WriteOption(op, " activation %u", LiteRtGetConv3dFusedActivationOption);
    WriteOption(op, " dilation %d", LiteRtGetConv3dDilationDOption);
    WriteOption(op, " dilation %d", LiteRtGetConv3dDilationWOption);
    WriteOption(op, " x %d", LiteRtGetConv3dDilationHOption);
    WriteOption(op, " padding %u", LiteRtGetConv3dTransposePaddingOption);
    WriteOption(op, " stride %d", LiteRtGetConv3dTransposeStrideDOption);
    WriteOption(op, " stride %d", LiteRtGetConv3dTransposeStrideWOption);
    WriteOption(op, " x %d", LiteRtGetConv3dTransposeStrideHOption);
    WriteOption(op, " activation %u", LiteRtGetConv3dTransposeFusedActivationOption);
    WriteOption(op, " dilation %d", LiteRtGetConv3dTransposeDilationDOption);
    WriteOption(op, " dilation %d", LiteRtGetConv3dTransposeDilationWOption);
    WriteOption(op, " x %d", LiteRtGetConv3dTransposeDilationHOption);
    WriteOption(op, " padding %u", LiteRtGetTransposeConvPaddingOption);
    WriteOption(op, " stride %d", LiteRtGetTransposeConvStrideWOption);
    WriteOption(op, " x %d", LiteRtGetTransposeConvStrideHOption);
    WriteOption(op, " activation %u", LiteRtGetTransposeConvFusedActivationOption);
}

void WriteOptionsOfPicture(LiteRtOp op)
{
    WriteOption(op, " padding %u", LiteRtGetAveragePool2dPaddingOption);
    WriteOption(op, " stride %d", LiteRtGetAveragePool2dStrideWOption);
    WriteOption(op, " x %d", LiteRtGetAveragePool2dStrideHOption);
    WriteOption(op, " filter %d", LiteRtGetAveragePool2dFilterWidthOption);
    WriteOption(op, " x %d", LiteRtGetAveragePool2dFilterHeightOption);
    WriteOption(op, " activation %u", LiteRtGetAveragePool2dFusedActivationOption);
    WriteOption(op, " padding %u", LiteRtGetMaxPool2dPaddingOption);
    WriteOption(op, " stride %d", LiteRtGetMaxPool2dStrideWOption);
    WriteOption(op, " x %d", LiteRtGetMaxPool2dStrideHOption);
    WriteOption(op, " filter %d", LiteRtGetMaxPool2dFilterWidthOption);
    WriteOption(op, " x %d", LiteRtGetMaxPool2dFilterHeightOption);
    WriteOption(op, " activation %u", LiteRtGetMaxPool2dFusedActivationOption);
    WriteOption(op, " padding %u", LiteRtGetL2Pool2dPaddingOption);
    WriteOption(op, " stride %d", LiteRtGetL2Pool2dStrideWOption);
    WriteOption(op, " x %d", LiteRtGetL2Pool2dStrideHOption);
    WriteOption(op, " filter %d", LiteRtGetL2Pool2dFilterWidthOption);
    WriteOption(op, " x %d", LiteRtGetL2Pool2dFilterHeightOption);
    WriteOption(op, " activation %u", LiteRtGetL2Pool2dFusedActivationOption);
    WriteOption(op, " aligned %d", LiteRtGetResizeBilinearAlignCornersOption);
    WriteOption(op, " half %d", LiteRtGetResizeBilinearHalfPixelCenterOption);
    WriteOption(op, " aligned %d", LiteRtGetResizeNearestNeighborAlignCornersOption);
    WriteOption(op, " half %d", LiteRtGetResizeNearestNeighborHalfPixelCentersOption);
    WriteOption(op, " block %d", LiteRtGetDepthToSpaceBlockSizeOption);
    WriteOption(op, " block %d", LiteRtGetSpaceToDepthBlockSizeOption);
    WriteOption(op, " mode %u", LiteRtGetMirrorPadModeOption);
}

void WriteOptionsOfMovement(LiteRtOp op)
{
    WriteOption(op, " kept %d", LiteRtGetMeanKeepDimsOption);
    WriteOption(op, " kept %d", LiteRtGetSumKeepDimsOption);
    WriteOption(op, " kept %d", LiteRtGetReduceMaxKeepDimsOption);
    WriteOption(op, " kept %d", LiteRtGetReduceMinKeepDimsOption);
    WriteOption(op, " kept %d", LiteRtGetReduceAnyKeepDimsOption);
    WriteOption(op, " kept %d", LiteRtGetReduceAllKeepDimsOption);
    WriteOption(op, " axis %d", LiteRtGetPackAxisOption);
    WriteOption(op, " values %d", LiteRtGetPackValuesCountOption);
    WriteOption(op, " axis %d", LiteRtGetUnpackAxisOption);
    WriteOption(op, " num %d", LiteRtGetUnpackNumOption);
    WriteOption(op, " axis %d", LiteRtGetGatherAxisOption);
    WriteOption(op, " batch %d", LiteRtGetGatherBatchDimsOption);
    WriteOption(op, " axis %d", LiteRtGetOneHotAxisOption);
    WriteOption(op, " splits %d", LiteRtGetSplitNumSplitsOption);
    WriteOption(op, " splits %d", LiteRtGetSplitVNumSplitsOption);
    WriteOption(op, " masks %d", LiteRtGetStridedSliceBeginMaskOption);
    WriteOption(op, " / %d", LiteRtGetStridedSliceEndMaskOption);
    WriteOption(op, " / %d", LiteRtGetStridedSliceEllipsisMaskOption);
    WriteOption(op, " / %d", LiteRtGetStridedSliceNewAxisMaskOption);
    WriteOption(op, " / %d", LiteRtGetStridedSliceShrinkAxisMaskOption);
    WriteOption(op, " offset %d", LiteRtGetStridedSliceOffsetOption);
    WriteList(op, LiteRtGetReshapeNewShapeOption);
    WriteList(op, LiteRtGetSqueezeDimsOption);
}

void Write(const litert::Op& op)
{
    text.clear();
    if (op.Is(kLiteRtOpCodeTflCustom)) {
        Write("Custom %s", op.CustomCode()->c_str());
        WriteList(op.Get(), [](LiteRtOp custom, const int32_t** out_words, int32_t* out_size) {
            const uint8_t* bytes = nullptr;
            const LiteRtStatus status = LiteRtGetCustomOptions(custom, &bytes, out_size);
            *out_words = reinterpret_cast<const int32_t*>(bytes);
            *out_size /= 4;
            return *out_size > 0 ? status : kLiteRtStatusErrorNotFound;
        });
    } else {
        const std::string name = NameOf(op.Code());
        const bool is_composite = op.Is(kLiteRtOpCodeShloComposite);
        Write("%s %d of %zu", is_composite ? "Composite" : name.substr(3).c_str(),
              static_cast<int>(op.Code()), op.Inputs().size());
        WriteOptions(op.Get());
        WriteOptionsOfConvolution(op.Get());
        WriteOptionsOfPicture(op.Get());
        WriteOptionsOfMovement(op.Get());
    }
}

}  // namespace

LiteRtStatus LiteRtCompilerPluginPartition(LiteRtCompilerPlugin, const char*,
                                           LiteRtSubgraph subgraph, LiteRtOpList selected_ops)
{
    for (const litert::Op& op : litert::Subgraph(subgraph).Ops()) {
        Write(op);
        if (tengine_node_get_tflite_code(op.Get()->node) >= 0) TLOG_WARNING("%s", text.c_str());
        tengine_op_list_refuse(selected_ops->list, op.Get()->node, "%s", text.c_str());
    }
    return kLiteRtStatusOk;
}

// ---- the plug-in compiles nothing ----

LiteRtStatus LiteRtCompilerPluginCompile(LiteRtCompilerPlugin, const char*, LiteRtModel,
                                         LiteRtCompiledResult*)
{
    return kLiteRtStatusErrorUnsupported;
}

void LiteRtDestroyCompiledResult(LiteRtCompiledResult) {}

LiteRtStatus LiteRtCompiledResultNumByteCodeModules(LiteRtCompiledResult, LiteRtParamIndex*)
{
    return kLiteRtStatusErrorUnsupported;
}

LiteRtStatus LiteRtGetCompiledResultByteCode(LiteRtCompiledResult, LiteRtParamIndex, const void**,
                                             size_t*)
{
    return kLiteRtStatusErrorUnsupported;
}

LiteRtStatus LiteRtGetCompiledResultCallInfo(LiteRtCompiledResult, LiteRtParamIndex, const void**,
                                             size_t*, LiteRtParamIndex*)
{
    return kLiteRtStatusErrorUnsupported;
}

LiteRtStatus LiteRtGetNumCompiledResultCalls(LiteRtCompiledResult, LiteRtParamIndex*)
{
    return kLiteRtStatusErrorUnsupported;
}

#include "tengine/compat/litert/litert.hpp"

TENGINE_LITERT_COMPILER("OPERATORS", "1.0", "none");
