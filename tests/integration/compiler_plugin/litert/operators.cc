// SPDX-License-Identifier: Apache-2.0
// A compiler plug-in of LiteRT that takes no node, and refuses each operator with its description
// in LiteRT's interface: "LeakyRelu 98 of 1 alpha 0.25", with the number of the code and of inputs,
// or "Custom Celu".
#include <cstdarg>
#include <cstdio>

#include "litert/c/litert_model.h"
#include "litert/c/litert_op_code.h"
#include "litert/c/litert_op_options.h"
#include "litert/cc/litert_model.h"
#include "litert/vendors/c/litert_compiler_plugin.h"

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
#define TFL_CODES(CODE) \
    CODE(Add, 0) CODE(AveragePool2d, 1) CODE(Concatenation, 2) CODE(Conv2d, 3) \
    CODE(DepthwiseConv2d, 4) CODE(DepthToSpace, 5) CODE(Dequantize, 6) \
    CODE(EmbeddingLookup, 7) CODE(Floor, 8) CODE(FullyConnected, 9) CODE(L2Normalization, 11) \
    CODE(LocalResponseNormalization, 13) CODE(Logistic, 14) CODE(MaxPool2d, 17) CODE(Mul, 18) \
    CODE(Relu, 19) CODE(ReluN1To1, 20) CODE(Relu6, 21) CODE(Reshape, 22) \
    CODE(ResizeBilinear, 23) CODE(Softmax, 25) CODE(SpaceToDepth, 26) CODE(Tanh, 28) \
    CODE(Custom, 32) CODE(Pad, 34) CODE(Gather, 36) CODE(Transpose, 39) CODE(Mean, 40) \
    CODE(Sub, 41) CODE(Div, 42) CODE(Squeeze, 43) CODE(UnidirectionalSequenceLstm, 44) \
    CODE(StridedSlice, 45) CODE(Exp, 47) CODE(TopkV2, 48) CODE(Split, 49) CODE(LogSoftmax, 50) \
    CODE(Cast, 53) CODE(Prelu, 54) CODE(Maximum, 55) CODE(ArgMax, 56) CODE(Minimum, 57) \
    CODE(Less, 58) CODE(Neg, 59) CODE(Padv2, 60) CODE(Greater, 61) CODE(GreaterEqual, 62) \
    CODE(LessEqual, 63) CODE(Select, 64) CODE(Slice, 65) CODE(Sin, 66) CODE(TransposeConv, 67) \
    CODE(Tile, 69) CODE(ExpandDims, 70) CODE(Equal, 71) CODE(NotEqual, 72) CODE(Log, 73) \
    CODE(Sum, 74) CODE(Sqrt, 75) CODE(Rsqrt, 76) CODE(Shape, 77) CODE(Pow, 78) \
    CODE(ArgMin, 79) CODE(ReduceProd, 81) CODE(ReduceMax, 82) CODE(Pack, 83) \
    CODE(LogicalOr, 84) CODE(OneHot, 85) CODE(LogicalAnd, 86) CODE(LogicalNot, 87) \
    CODE(Unpack, 88) CODE(ReduceMin, 89) CODE(FloorDiv, 90) CODE(ReduceAny, 91) \
    CODE(Square, 92) CODE(Fill, 94) CODE(FloorMod, 95) CODE(Range, 96) \
    CODE(ResizeNearestNeighbor, 97) CODE(LeakyRelu, 98) CODE(SquaredDifference, 99) \
    CODE(MirrorPad, 100) CODE(Abs, 101) CODE(SplitV, 102) CODE(Ceil, 104) CODE(ReverseV2, 105) \
    CODE(AddN, 106) CODE(GatherNd, 107) CODE(Cos, 108) CODE(Where, 109) CODE(Elu, 111) \
    CODE(Quantize, 114) CODE(Round, 116) CODE(HardSwish, 117) CODE(If, 118) CODE(While, 119) \
    CODE(NonMaxSuppressionV4, 120) CODE(NonMaxSuppressionV5, 121) CODE(ScatterNd, 122) \
    CODE(SelectV2, 123) CODE(BatchMatmul, 126) CODE(Cumsum, 128) CODE(BroadcastTo, 130) \
    CODE(Conv3d, 132) CODE(ReduceAll, 140) CODE(Gelu, 150) CODE(DynamicUpdateSlice, 151) \
    CODE(Relu0To1, 152) CODE(Sign, 158)
// clang-format on

const char* NameOf(LiteRtOpCode code)
{
    switch (code) {
#define CASE(name, number)                                 \
    case kLiteRtOpCodeTfl##name:                           \
        static_assert(kLiteRtOpCodeTfl##name == (number)); \
        return #name;
        TFL_CODES(CASE)
        case kLiteRtOpCodeShloComposite:
            static_assert(kLiteRtOpCodeShloComposite == 206);
            return "Composite";
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

void Write(const litert::Op& op)
{
    text.clear();
    if (op.Is(kLiteRtOpCodeTflCustom)) {
        Write("Custom %s", op.CustomCode()->c_str());
    } else {
        Write("%s %d of %zu", NameOf(op.Code()), static_cast<int>(op.Code()), op.Inputs().size());
        WriteOptions(op.Get());
    }
}

}  // namespace

LiteRtStatus LiteRtCompilerPluginPartition(LiteRtCompilerPlugin, const char*,
                                           LiteRtSubgraph subgraph, LiteRtOpList selected_ops)
{
    for (const litert::Op& op : litert::Subgraph(subgraph).Ops()) {
        Write(op);
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
