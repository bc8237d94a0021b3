// SPDX-License-Identifier: Apache-2.0
// LiteRT's handles and structures, and the functions that a compiler plug-in defines. Part of
// litert.hpp.
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

#include "tengine/compat/litert/numbers.hpp"
#include "tengine/compiler_plugin.h"

#define LITERT_CAPI_EXPORT extern "C" TENGINE_API

// Around functions of the shim. With default visibility the statics in them would be one for all
// plug-ins of a process (STB_GNU_UNIQUE), and LiteRT's own library would come before them.
#define TENGINE_LITERT_BEGIN _Pragma("GCC visibility push(hidden)")
#define TENGINE_LITERT_END _Pragma("GCC visibility pop")

// All releases of this generation say this of their interface.
#define LITERT_API_VERSION_MAJOR 0
#define LITERT_API_VERSION_MINOR 1
#define LITERT_API_VERSION_PATCH 0

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

#define LITERT_DEFINE_HANDLE(name) \
    typedef struct name##T* name;  \
    typedef const struct name##T* name##Const

LITERT_DEFINE_HANDLE(LiteRtTensor);
LITERT_DEFINE_HANDLE(LiteRtOp);
LITERT_DEFINE_HANDLE(LiteRtSubgraph);
LITERT_DEFINE_HANDLE(LiteRtModel);
LITERT_DEFINE_HANDLE(LiteRtOpList);
LITERT_DEFINE_HANDLE(LiteRtBuilder);
LITERT_DEFINE_HANDLE(LiteRtCompilerPlugin);      // the plug-in's own
LITERT_DEFINE_HANDLE(LiteRtCompiledResult);      // the same
LITERT_DEFINE_HANDLE(LiteRtEnvironmentOptions);  // NULL here
LITERT_DEFINE_HANDLE(LiteRtOptions);             // NULL here
typedef LiteRtTensor LiteRtWeights;

struct LiteRtTensorT
{
    const struct tensor* tensor;
    LiteRtSubgraph subgraph;
    std::vector<float> scales;  // of LiteRtGetPerChannelQuantization
    std::vector<int64_t> zero_points;
};

struct LiteRtOpT
{
    const struct node* node;
    LiteRtOpCode code;
    std::vector<LiteRtTensor> inputs;  // without absent ones at the end
    std::vector<LiteRtTensor> outputs;
    std::vector<int32_t> dims;  // of LiteRtGetReshapeNewShapeOption and LiteRtGetSqueezeDimsOption
};

struct LiteRtSubgraphT
{
    const struct graph* graph = nullptr;
    std::deque<LiteRtTensorT> tensors;
    std::deque<LiteRtOpT> ops;
    std::vector<LiteRtTensor> inputs;
    std::vector<LiteRtTensor> outputs;
    std::unordered_map<const struct tensor*, LiteRtTensor> handle_of;
};

struct LiteRtModelT
{
    std::deque<LiteRtSubgraphT> subgraphs;
};

struct LiteRtOpListT
{
    tengine_op_list_t* list;
};

typedef struct
{
    LiteRtTensor scales;
    LiteRtTensor zero_points;
    int32_t block_size;
} LiteRtQuantizationBlockWise;

typedef struct
{
    LiteRtOp op;
    LiteRtParamIndex op_output_index;
} LiteRtTensorDefiningOp;

// Rewriting a graph before it is partitioned: registered, but never applied here.
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

// Further functions that it may define: called if they exist.
#define TENGINE_LITERT_OPTIONAL __attribute__((weak))
// Called first: another version than that above is refused.
LITERT_CAPI_EXPORT TENGINE_LITERT_OPTIONAL LiteRtStatus
LiteRtGetCompilerPluginVersion(LiteRtApiVersion* out_version);
// In place of the string of TENGINE_LITERT_COMPILER, unless it is empty.
LITERT_CAPI_EXPORT TENGINE_LITERT_OPTIONAL LiteRtStatus
LiteRtGetCompilerPluginSDKVersion(LiteRtCompilerPlugin plugin, const char** out_sdk_version);
// Before each partition; a failure leaves all operators to other devices.
LITERT_CAPI_EXPORT TENGINE_LITERT_OPTIONAL LiteRtStatus
LiteRtCompilerPluginCheckCompilerCompatibility(LiteRtApiVersion version,
                                               LiteRtCompilerPlugin plugin,
                                               LiteRtEnvironmentOptions environment,
                                               LiteRtOptions options, const char* soc_model);
// Called once: a warning names the registered transformations, which are not applied.
LITERT_CAPI_EXPORT TENGINE_LITERT_OPTIONAL LiteRtStatus
LiteRtCompilerPluginRegisterAllTransformations(LiteRtCompilerPlugin plugin,
                                               LiteRtTransformation** out_transformations,
                                               LiteRtParamIndex* out_num);
