// SPDX-License-Identifier: Apache-2.0
// LiteRT's numbers, handles, and the functions that a compiler plug-in defines. Part of litert.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tengine/compiler_plugin.h"

#define LITERT_CAPI_EXPORT extern "C" TENGINE_API

// What all releases of this generation say of their interface.
#define LITERT_API_VERSION_MAJOR 0
#define LITERT_API_VERSION_MINOR 1
#define LITERT_API_VERSION_PATCH 0

// ---- numbers ----

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

// Operators whose meaning does not depend on the order of an image's dimensions, which is NHWC in
// LiteRT and NCHW here: others are kLiteRtOpCodeTflCustom, with ONNX's name as their custom code.
typedef enum
{
    kLiteRtOpCodeTflAdd = 0,
    kLiteRtOpCodeTflFloor = 8,
    kLiteRtOpCodeTflLogistic = 14,
    kLiteRtOpCodeTflMul = 18,
    kLiteRtOpCodeTflRelu = 19,
    kLiteRtOpCodeTflTanh = 28,
    kLiteRtOpCodeTflCustom = 32,
    kLiteRtOpCodeTflSub = 41,
    kLiteRtOpCodeTflDiv = 42,
    kLiteRtOpCodeTflExp = 47,
    kLiteRtOpCodeTflMaximum = 55,
    kLiteRtOpCodeTflMinimum = 57,
    kLiteRtOpCodeTflNeg = 59,
    kLiteRtOpCodeTflSin = 66,
    kLiteRtOpCodeTflLog = 73,
    kLiteRtOpCodeTflSqrt = 75,
    kLiteRtOpCodeTflPow = 78,
    kLiteRtOpCodeTflAbs = 101,
    kLiteRtOpCodeTflCeil = 104,
    kLiteRtOpCodeTflCos = 108,
    kLiteRtOpCodeTflRound = 116,
    kLiteRtOpCodeTflHardSwish = 117,
    kLiteRtOpCodeTflBatchMatmul = 126,
    kLiteRtOpCodeTflSign = 158,
    kLiteRtOpCodeShloComposite = 206,  // RMSNormalization, as "odml.rms_norm"
} LiteRtOpCode;

typedef size_t LiteRtParamIndex;

typedef struct
{
    int major, minor, patch;
} LiteRtApiVersion;

typedef struct
{
    unsigned int rank : 7;
    bool has_strides : 1;
    int32_t dimensions[8];  // < 0: not known yet
    uint32_t strides[8];
} LiteRtLayout;

typedef struct
{
    LiteRtElementType element_type;
    LiteRtLayout layout;
} LiteRtRankedTensorType;

typedef struct
{
    LiteRtElementType element_type;
} LiteRtUnrankedTensorType;

typedef struct
{
    float scale;
    int64_t zero_point;
} LiteRtQuantizationPerTensor;

typedef struct
{
    int32_t quantized_dimension;
    uint64_t num_channels;
    float* scales;
    int64_t* zero_points;
} LiteRtQuantizationPerChannel;

// ---- handles ----
// Graphs as a plug-in sees them: made for a call, and gone after it.

struct LiteRtSubgraphT;

struct LiteRtTensorT
{
    const struct tensor* tensor;
    LiteRtSubgraphT* subgraph;
    std::vector<float> scales;  // of LiteRtGetPerChannelQuantization
    std::vector<int64_t> zero_points;
};

struct LiteRtOpT
{
    const struct node* node;
    LiteRtOpCode code;
    std::vector<LiteRtTensorT*> inputs;  // without absent ones at the end
    std::vector<LiteRtTensorT*> outputs;
};

struct LiteRtSubgraphT
{
    const struct graph* graph = nullptr;
    std::deque<LiteRtTensorT> tensors;
    std::deque<LiteRtOpT> ops;
    std::vector<LiteRtTensorT*> inputs;
    std::vector<LiteRtTensorT*> outputs;
    std::unordered_map<const struct tensor*, LiteRtTensorT*> handle_of;
    std::unordered_map<const struct node*, LiteRtOpT*> op_of;
};

struct LiteRtModelT
{
    std::deque<LiteRtSubgraphT> subgraphs;
};

struct LiteRtOpListT
{
    tengine_op_list_t* list;
};

struct LiteRtCompilerPluginT;  // the plug-in's own
struct LiteRtCompiledResultT;  // the same
struct LiteRtEnvironmentOptionsT;
struct LiteRtOptionsT;

typedef LiteRtTensorT* LiteRtTensor;
typedef LiteRtTensorT* LiteRtWeights;
typedef LiteRtOpT* LiteRtOp;
typedef LiteRtSubgraphT* LiteRtSubgraph;
typedef LiteRtModelT* LiteRtModel;
typedef LiteRtOpListT* LiteRtOpList;
typedef LiteRtCompilerPluginT* LiteRtCompilerPlugin;
typedef LiteRtCompiledResultT* LiteRtCompiledResult;
typedef LiteRtEnvironmentOptionsT* LiteRtEnvironmentOptions;  // NULL here
typedef LiteRtOptionsT* LiteRtOptions;                        // NULL here

typedef struct
{
    LiteRtTensor scales;
    LiteRtTensor zero_points;
    int32_t block_size;
} LiteRtQuantizationBlockWise;

// Rewriting a graph before it is partitioned: registered, but never applied here.
struct LiteRtBuilderT;
typedef LiteRtBuilderT* LiteRtBuilder;
typedef LiteRtStatus (*LiteRtPatternFn)(LiteRtBuilder builder, LiteRtOp op);
typedef struct
{
    LiteRtPatternFn pattern;
    const char* name;
    size_t benefit;
} LiteRtTransformation;

// ---- what the plug-in defines ----

LITERT_CAPI_EXPORT const char* LiteRtGetCompilerPluginSocManufacturer();
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateCompilerPlugin(LiteRtCompilerPlugin* out_plugin,
                                                           LiteRtEnvironmentOptions environment,
                                                           LiteRtOptions options);
LITERT_CAPI_EXPORT void LiteRtDestroyCompilerPlugin(LiteRtCompilerPlugin plugin);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetCompilerPluginSupportedHardware(
    LiteRtCompilerPlugin plugin, LiteRtHwAccelerators* out_hardware);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetNumCompilerPluginSupportedSocModels(
    LiteRtCompilerPlugin plugin, LiteRtParamIndex* out_num);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetCompilerPluginSupportedSocModel(
    LiteRtCompilerPlugin plugin, LiteRtParamIndex index, const char** out_soc_model);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCompilerPluginPartition(LiteRtCompilerPlugin plugin,
                                                              const char* soc_model,
                                                              LiteRtSubgraph subgraph,
                                                              LiteRtOpList selected_ops);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCompilerPluginCompile(LiteRtCompilerPlugin plugin,
                                                            const char* soc_model,
                                                            LiteRtModel partitions,
                                                            LiteRtCompiledResult* out_result);
LITERT_CAPI_EXPORT void LiteRtDestroyCompiledResult(LiteRtCompiledResult result);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCompiledResultNumByteCodeModules(LiteRtCompiledResult result,
                                                                       LiteRtParamIndex* out_num);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetCompiledResultByteCode(LiteRtCompiledResult result,
                                                                LiteRtParamIndex index,
                                                                const void** out_bytes,
                                                                size_t* out_size);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetCompiledResultCallInfo(LiteRtCompiledResult result,
                                                                LiteRtParamIndex call,
                                                                const void** out_bytes,
                                                                size_t* out_size,
                                                                LiteRtParamIndex* out_module);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetNumCompiledResultCalls(LiteRtCompiledResult result,
                                                                LiteRtParamIndex* out_num);

// What it may define beside: called where they are there.
#define TENGINE_LITERT_OPTIONAL __attribute__((weak))
// Before anything else: another version than that above is refused.
LITERT_CAPI_EXPORT TENGINE_LITERT_OPTIONAL LiteRtStatus
LiteRtGetCompilerPluginVersion(LiteRtApiVersion* out_version);
// In place of the text of TENGINE_LITERT_COMPILER, unless it is empty.
LITERT_CAPI_EXPORT TENGINE_LITERT_OPTIONAL LiteRtStatus
LiteRtGetCompilerPluginSDKVersion(LiteRtCompilerPlugin plugin, const char** out_sdk_version);
// Before each partition; a failure leaves all operators to other devices.
LITERT_CAPI_EXPORT TENGINE_LITERT_OPTIONAL LiteRtStatus
LiteRtCompilerPluginCheckCompilerCompatibility(LiteRtApiVersion version,
                                               LiteRtCompilerPlugin plugin,
                                               LiteRtEnvironmentOptions environment,
                                               LiteRtOptions options, const char* soc_model);
// Asked for once: what is registered is named in a warning, and not applied.
LITERT_CAPI_EXPORT TENGINE_LITERT_OPTIONAL LiteRtStatus
LiteRtCompilerPluginRegisterAllTransformations(LiteRtCompilerPlugin plugin,
                                               LiteRtTransformation** out_transformations,
                                               LiteRtParamIndex* out_num);
