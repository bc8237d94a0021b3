// SPDX-License-Identifier: Apache-2.0
// LiteRT's enumerators, with its numbers. Part of litert.hpp.
#pragma once

#include <cstdint>

typedef enum
{
    kLiteRtStatusOk = 0,
    kLiteRtStatusErrorInvalidArgument = 1,
    kLiteRtStatusErrorMemoryAllocationFailure = 2,
    kLiteRtStatusErrorRuntimeFailure = 3,
    kLiteRtStatusErrorMissingInputTensor = 4,
    kLiteRtStatusErrorUnsupported = 5,
    kLiteRtStatusErrorNotFound = 6,
    kLiteRtStatusErrorTimeoutExpired = 7,
    kLiteRtStatusErrorWrongVersion = 8,
    kLiteRtStatusErrorUnknown = 9,
    kLiteRtStatusErrorAlreadyExists = 10,
    kLiteRtStatusCancelled = 100,
    kLiteRtStatusErrorFileIO = 500,
    kLiteRtStatusErrorInvalidFlatbuffer = 501,
    kLiteRtStatusErrorDynamicLoading = 502,
    kLiteRtStatusErrorSerialization = 503,
    kLiteRtStatusErrorCompilation = 504,
    kLiteRtStatusErrorIndexOOB = 1000,
    kLiteRtStatusErrorInvalidIrType = 1001,
    kLiteRtStatusErrorInvalidGraphInvariant = 1002,
    kLiteRtStatusErrorGraphModification = 1003,
    kLiteRtStatusErrorInvalidToolConfig = 1500,
    kLiteRtStatusLegalizeNoMatch = 2000,
    kLiteRtStatusErrorInvalidLegalization = 2001,
    kLiteRtStatusPatternNoMatch = 3000,
    kLiteRtStatusInvalidTransformation = 3001,
    kLiteRtStatusErrorUnsupportedRuntimeVersion = 4000,
    kLiteRtStatusErrorUnsupportedCompilerVersion = 4001,
    kLiteRtStatusErrorIncompatibleByteCodeVersion = 4002,
    kLiteRtStatusErrorUnsupportedOpShapeInferer = 5000,
    kLiteRtStatusErrorShapeInferenceFailed = 5001,
} LiteRtStatus;

typedef enum
{
    kLiteRtHwAcceleratorNone = 0,
    kLiteRtHwAcceleratorCpu = 1,
    kLiteRtHwAcceleratorGpu = 2,
    kLiteRtHwAcceleratorNpu = 4,
} LiteRtHwAccelerators;
typedef int LiteRtHwAcceleratorSet;

typedef enum
{
    kLiteRtElementTypeNone = 0,
    kLiteRtElementTypeFloat32 = 1,
    kLiteRtElementTypeInt32 = 2,
    kLiteRtElementTypeUInt8 = 3,
    kLiteRtElementTypeInt64 = 4,
    kLiteRtElementTypeTfString = 5,
    kLiteRtElementTypeBool = 6,
    kLiteRtElementTypeInt16 = 7,
    kLiteRtElementTypeComplex64 = 8,
    kLiteRtElementTypeInt8 = 9,
    kLiteRtElementTypeFloat16 = 10,
    kLiteRtElementTypeFloat64 = 11,
    kLiteRtElementTypeComplex128 = 12,
    kLiteRtElementTypeUInt64 = 13,
    kLiteRtElementTypeTfResource = 14,
    kLiteRtElementTypeTfVariant = 15,
    kLiteRtElementTypeUInt32 = 16,
    kLiteRtElementTypeUInt16 = 17,
    kLiteRtElementTypeInt4 = 18,
    kLiteRtElementTypeBFloat16 = 19,
    kLiteRtElementTypeInt2 = 20,
    kLiteRtElementTypeUInt4 = 21,
    kLiteRtElementTypeFloat8E4M3FN = 22,
    kLiteRtElementTypeFloat8E5M2 = 23,
} LiteRtElementType;

typedef enum
{
    kLiteRtRankedTensorType = 0,
    kLiteRtUnrankedTensorType = 1,
} LiteRtTensorTypeId;

typedef enum
{
    kLiteRtQuantizationNone = 0,
    kLiteRtQuantizationPerTensor = 1,
    kLiteRtQuantizationPerChannel = 2,
    kLiteRtQuantizationBlockWise = 3,  // does not occur
} LiteRtQuantizationTypeId;

// All of TFLite's operators that have a counterpart in ONNX; op_code.hpp lists those that occur.
typedef enum
{
    kLiteRtOpCodeTflAdd = 0,
    kLiteRtOpCodeTflAveragePool2d = 1,
    kLiteRtOpCodeTflConcatenation = 2,
    kLiteRtOpCodeTflConv2d = 3,
    kLiteRtOpCodeTflDepthwiseConv2d = 4,
    kLiteRtOpCodeTflDepthToSpace = 5,
    kLiteRtOpCodeTflDequantize = 6,
    kLiteRtOpCodeTflEmbeddingLookup = 7,
    kLiteRtOpCodeTflFloor = 8,
    kLiteRtOpCodeTflFullyConnected = 9,
    kLiteRtOpCodeTflL2Normalization = 11,
    kLiteRtOpCodeTflLocalResponseNormalization = 13,
    kLiteRtOpCodeTflLogistic = 14,
    kLiteRtOpCodeTflMaxPool2d = 17,
    kLiteRtOpCodeTflMul = 18,
    kLiteRtOpCodeTflRelu = 19,
    kLiteRtOpCodeTflReluN1To1 = 20,
    kLiteRtOpCodeTflRelu6 = 21,
    kLiteRtOpCodeTflReshape = 22,
    kLiteRtOpCodeTflResizeBilinear = 23,
    kLiteRtOpCodeTflSoftmax = 25,
    kLiteRtOpCodeTflSpaceToDepth = 26,
    kLiteRtOpCodeTflTanh = 28,
    kLiteRtOpCodeTflCustom = 32,
    kLiteRtOpCodeTflPad = 34,
    kLiteRtOpCodeTflGather = 36,
    kLiteRtOpCodeTflTranspose = 39,
    kLiteRtOpCodeTflMean = 40,
    kLiteRtOpCodeTflSub = 41,
    kLiteRtOpCodeTflDiv = 42,
    kLiteRtOpCodeTflSqueeze = 43,
    kLiteRtOpCodeTflUnidirectionalSequenceLstm = 44,
    kLiteRtOpCodeTflStridedSlice = 45,
    kLiteRtOpCodeTflExp = 47,
    kLiteRtOpCodeTflTopkV2 = 48,
    kLiteRtOpCodeTflSplit = 49,
    kLiteRtOpCodeTflLogSoftmax = 50,
    kLiteRtOpCodeTflCast = 53,
    kLiteRtOpCodeTflPrelu = 54,
    kLiteRtOpCodeTflMaximum = 55,
    kLiteRtOpCodeTflArgMax = 56,
    kLiteRtOpCodeTflMinimum = 57,
    kLiteRtOpCodeTflLess = 58,
    kLiteRtOpCodeTflNeg = 59,
    kLiteRtOpCodeTflPadv2 = 60,
    kLiteRtOpCodeTflGreater = 61,
    kLiteRtOpCodeTflGreaterEqual = 62,
    kLiteRtOpCodeTflLessEqual = 63,
    kLiteRtOpCodeTflSelect = 64,
    kLiteRtOpCodeTflSlice = 65,
    kLiteRtOpCodeTflSin = 66,
    kLiteRtOpCodeTflTransposeConv = 67,
    kLiteRtOpCodeTflTile = 69,
    kLiteRtOpCodeTflExpandDims = 70,
    kLiteRtOpCodeTflEqual = 71,
    kLiteRtOpCodeTflNotEqual = 72,
    kLiteRtOpCodeTflLog = 73,
    kLiteRtOpCodeTflSum = 74,
    kLiteRtOpCodeTflSqrt = 75,
    kLiteRtOpCodeTflRsqrt = 76,
    kLiteRtOpCodeTflShape = 77,
    kLiteRtOpCodeTflPow = 78,
    kLiteRtOpCodeTflArgMin = 79,
    kLiteRtOpCodeTflReduceProd = 81,
    kLiteRtOpCodeTflReduceMax = 82,
    kLiteRtOpCodeTflPack = 83,
    kLiteRtOpCodeTflLogicalOr = 84,
    kLiteRtOpCodeTflOneHot = 85,
    kLiteRtOpCodeTflLogicalAnd = 86,
    kLiteRtOpCodeTflLogicalNot = 87,
    kLiteRtOpCodeTflUnpack = 88,
    kLiteRtOpCodeTflReduceMin = 89,
    kLiteRtOpCodeTflFloorDiv = 90,
    kLiteRtOpCodeTflReduceAny = 91,
    kLiteRtOpCodeTflSquare = 92,
    kLiteRtOpCodeTflFill = 94,
    kLiteRtOpCodeTflFloorMod = 95,
    kLiteRtOpCodeTflRange = 96,
    kLiteRtOpCodeTflResizeNearestNeighbor = 97,
    kLiteRtOpCodeTflLeakyRelu = 98,
    kLiteRtOpCodeTflSquaredDifference = 99,
    kLiteRtOpCodeTflMirrorPad = 100,
    kLiteRtOpCodeTflAbs = 101,
    kLiteRtOpCodeTflSplitV = 102,
    kLiteRtOpCodeTflCeil = 104,
    kLiteRtOpCodeTflReverseV2 = 105,
    kLiteRtOpCodeTflAddN = 106,
    kLiteRtOpCodeTflGatherNd = 107,
    kLiteRtOpCodeTflCos = 108,
    kLiteRtOpCodeTflWhere = 109,
    kLiteRtOpCodeTflElu = 111,
    kLiteRtOpCodeTflQuantize = 114,
    kLiteRtOpCodeTflRound = 116,
    kLiteRtOpCodeTflHardSwish = 117,
    kLiteRtOpCodeTflIf = 118,
    kLiteRtOpCodeTflWhile = 119,
    kLiteRtOpCodeTflNonMaxSuppressionV4 = 120,
    kLiteRtOpCodeTflNonMaxSuppressionV5 = 121,
    kLiteRtOpCodeTflScatterNd = 122,
    kLiteRtOpCodeTflSelectV2 = 123,
    kLiteRtOpCodeTflBatchMatmul = 126,
    kLiteRtOpCodeTflCumsum = 128,
    kLiteRtOpCodeTflBroadcastTo = 130,
    kLiteRtOpCodeTflConv3d = 132,
    kLiteRtOpCodeTflReduceAll = 140,
    kLiteRtOpCodeTflGelu = 150,
    kLiteRtOpCodeTflDynamicUpdateSlice = 151,
    kLiteRtOpCodeTflRelu0To1 = 152,
    kLiteRtOpCodeTflSign = 158,
    kLiteRtOpCodeShloComposite = 206,
} LiteRtOpCode;

namespace litert {

// Options are uint32_t, in C++ too.
enum ActivationFunctionType : uint32_t
{
    kActivationFunctionTypeNone = 0,
    kActivationFunctionTypeRelu = 1,
    kActivationFunctionTypeReluN1To1 = 2,
    kActivationFunctionTypeRelu6 = 3,
    kActivationFunctionTypeTanh = 4,
    kActivationFunctionTypeSignBit = 5,
};

enum PaddingType : uint32_t
{
    kPaddingSame = 0,
    kPaddingValid = 1,
};

enum MirrorPadModeType : uint32_t
{
    kMirrorPadModeReflect = 0,
    kMirrorPadModeSymmetric = 1,
};

}  // namespace litert
