// SPDX-License-Identifier: Apache-2.0
// What our execution provider and the programs that test it use of the C interface of ONNX Runtime
// (https://onnxruntime.ai), version 24 of its API: names, types, values and positions as there,
// every word of our own. Headers of the same name come with the releases of ONNX Runtime; sources
// that compile with this one compile with those (cmake/dependencies.cmake, TENGINE_ORT_HEADERS).
//
// The tables are arrays of function pointers to which each version of the API adds at the end. What
// is not used here is an array unused_<first position>_<last>. A table is never made by a program:
// the runtime hands out pointers to its own, which is longer.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORT_API_VERSION 24

#ifdef _WIN32
#define ORT_API_CALL __stdcall
#define ORT_EXPORT
#define ORTCHAR_T wchar_t
#else
#define ORT_API_CALL
#define ORT_EXPORT __attribute__((visibility("default")))
#define ORTCHAR_T char
#endif

#ifdef __cplusplus
#define NO_EXCEPTION noexcept
extern "C" {
#else
#define NO_EXCEPTION
#endif

// A function pointer whose result is a status: NULL or an error, which the caller releases.
#ifdef __GNUC__
#define ORT_STATUS_CALL(name, ...) \
    OrtStatus*(ORT_API_CALL * name)(__VA_ARGS__)NO_EXCEPTION __attribute__((warn_unused_result))
#else
#define ORT_STATUS_CALL(name, ...) OrtStatus*(ORT_API_CALL * name)(__VA_ARGS__)NO_EXCEPTION
#endif
// One whose result is a value.
#define ORT_VALUE_CALL(type, name, ...) type(ORT_API_CALL* name)(__VA_ARGS__) NO_EXCEPTION
// One that releases an object; NULL is allowed.
#define ORT_RELEASE(object) void(ORT_API_CALL * Release##object)(Ort##object*)

// ---- values -----------------------------------------------------------------------------------
typedef enum OrtErrorCode
{
    ORT_OK,
    ORT_FAIL,
    ORT_INVALID_ARGUMENT,
    ORT_NO_SUCHFILE,
    ORT_NO_MODEL,
    ORT_ENGINE_ERROR,
    ORT_RUNTIME_EXCEPTION,
    ORT_INVALID_PROTOBUF,
    ORT_MODEL_LOADED,
    ORT_NOT_IMPLEMENTED,
    ORT_INVALID_GRAPH,
    ORT_EP_FAIL,
    ORT_MODEL_LOAD_CANCELED,
    ORT_MODEL_REQUIRES_COMPILATION,
    ORT_NOT_FOUND
} OrtErrorCode;

typedef enum OrtLoggingLevel
{
    ORT_LOGGING_LEVEL_VERBOSE,
    ORT_LOGGING_LEVEL_INFO,
    ORT_LOGGING_LEVEL_WARNING,
    ORT_LOGGING_LEVEL_ERROR,
    ORT_LOGGING_LEVEL_FATAL
} OrtLoggingLevel;

// The numbers of ONNX.
typedef enum ONNXTensorElementDataType
{
    ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FN,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FNUZ,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2FNUZ,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT4,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_INT4,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT4E2M1
} ONNXTensorElementDataType;

typedef enum ONNXType
{
    ONNX_TYPE_UNKNOWN,
    ONNX_TYPE_TENSOR,
    ONNX_TYPE_SEQUENCE,
    ONNX_TYPE_MAP,
    ONNX_TYPE_OPAQUE,
    ONNX_TYPE_SPARSETENSOR,
    ONNX_TYPE_OPTIONAL
} ONNXType;

typedef enum OrtOpAttrType
{
    ORT_OP_ATTR_UNDEFINED,
    ORT_OP_ATTR_INT,
    ORT_OP_ATTR_INTS,
    ORT_OP_ATTR_FLOAT,
    ORT_OP_ATTR_FLOATS,
    ORT_OP_ATTR_STRING,
    ORT_OP_ATTR_STRINGS,
    ORT_OP_ATTR_GRAPH,
    ORT_OP_ATTR_TENSOR
} OrtOpAttrType;

typedef enum GraphOptimizationLevel
{
    ORT_DISABLE_ALL = 0,
    ORT_ENABLE_BASIC = 1,
    ORT_ENABLE_EXTENDED = 2,
    ORT_ENABLE_LAYOUT = 3,
    ORT_ENABLE_ALL = 99
} GraphOptimizationLevel;

typedef enum OrtAllocatorType
{
    OrtInvalidAllocator = -1,
    OrtDeviceAllocator = 0,
    OrtArenaAllocator = 1,
    OrtReadOnlyAllocator = 2
} OrtAllocatorType;

typedef enum OrtMemType
{
    OrtMemTypeCPUInput = -2,
    OrtMemTypeCPUOutput = -1,
    OrtMemTypeCPU = OrtMemTypeCPUOutput,
    OrtMemTypeDefault = 0
} OrtMemType;

typedef enum OrtHardwareDeviceType
{
    OrtHardwareDeviceType_CPU,
    OrtHardwareDeviceType_GPU,
    OrtHardwareDeviceType_NPU
} OrtHardwareDeviceType;

// For an application that lets the runtime choose devices.
typedef enum OrtExecutionProviderDevicePolicy
{
    OrtExecutionProviderDevicePolicy_DEFAULT,
    OrtExecutionProviderDevicePolicy_PREFER_CPU,
    OrtExecutionProviderDevicePolicy_PREFER_NPU,
    OrtExecutionProviderDevicePolicy_PREFER_GPU,
    OrtExecutionProviderDevicePolicy_MAX_PERFORMANCE,
    OrtExecutionProviderDevicePolicy_MAX_EFFICIENCY,
    OrtExecutionProviderDevicePolicy_MIN_OVERALL_POWER
} OrtExecutionProviderDevicePolicy;

// Why a device cannot be used: bits.
typedef enum OrtDeviceEpIncompatibilityReason
{
    OrtDeviceEpIncompatibility_NONE = 0,
    OrtDeviceEpIncompatibility_DRIVER_INCOMPATIBLE = 1 << 0,
    OrtDeviceEpIncompatibility_DEVICE_INCOMPATIBLE = 1 << 1,
    OrtDeviceEpIncompatibility_MISSING_DEPENDENCY = 1 << 2,
    OrtDeviceEpIncompatibility_UNKNOWN = -2147483647 - 1  // the sign bit
} OrtDeviceEpIncompatibilityReason;

// What a factory says of a model that was compiled before.
typedef enum OrtCompiledModelCompatibility
{
    OrtCompiledModelCompatibility_EP_NOT_APPLICABLE,
    OrtCompiledModelCompatibility_EP_SUPPORTED_OPTIMAL,
    OrtCompiledModelCompatibility_EP_SUPPORTED_PREFER_RECOMPILATION,
    OrtCompiledModelCompatibility_EP_UNSUPPORTED
} OrtCompiledModelCompatibility;

typedef enum OrtEpDataLayout
{
    OrtEpDataLayout_NCHW,
    OrtEpDataLayout_NHWC,
    OrtEpDataLayout_Default = OrtEpDataLayout_NCHW
} OrtEpDataLayout;

// ---- objects of the runtime -------------------------------------------------------------------
typedef struct OrtAllocator OrtAllocator;
typedef struct OrtApiBase OrtApiBase;
typedef struct OrtApi OrtApi;
typedef struct OrtCompileApi OrtCompileApi;
typedef struct OrtCustomOpDomain OrtCustomOpDomain;
typedef struct OrtDataTransferImpl OrtDataTransferImpl;
typedef struct OrtDeviceEpIncompatibilityDetails OrtDeviceEpIncompatibilityDetails;
typedef struct OrtEnv OrtEnv;
typedef struct OrtEp OrtEp;
typedef struct OrtEpApi OrtEpApi;
typedef struct OrtEpAssignedNode OrtEpAssignedNode;
typedef struct OrtEpAssignedSubgraph OrtEpAssignedSubgraph;
typedef struct OrtEpDevice OrtEpDevice;
typedef struct OrtEpFactory OrtEpFactory;
typedef struct OrtEpGraphSupportInfo OrtEpGraphSupportInfo;
typedef struct OrtExternalInitializerInfo OrtExternalInitializerInfo;
typedef struct OrtExternalResourceImporterImpl OrtExternalResourceImporterImpl;
typedef struct OrtGraph OrtGraph;
typedef struct OrtHardwareDevice OrtHardwareDevice;
typedef struct OrtKernelContext OrtKernelContext;
typedef struct OrtKernelRegistry OrtKernelRegistry;
typedef struct OrtKeyValuePairs OrtKeyValuePairs;
typedef struct OrtLogger OrtLogger;
typedef struct OrtMemoryDevice OrtMemoryDevice;
typedef struct OrtMemoryInfo OrtMemoryInfo;
typedef struct OrtModel OrtModel;
typedef struct OrtModelCompilationOptions OrtModelCompilationOptions;
typedef struct OrtModelEditorApi OrtModelEditorApi;
typedef struct OrtModelMetadata OrtModelMetadata;
typedef struct OrtNode OrtNode;
typedef struct OrtNodeComputeContext OrtNodeComputeContext;
typedef struct OrtNodeComputeInfo OrtNodeComputeInfo;
typedef struct OrtNodeFusionOptions OrtNodeFusionOptions;
typedef struct OrtOpAttr OrtOpAttr;
typedef struct OrtRunOptions OrtRunOptions;
typedef struct OrtSession OrtSession;
typedef struct OrtSessionOptions OrtSessionOptions;
typedef struct OrtStatus OrtStatus;
typedef struct OrtSyncStreamImpl OrtSyncStreamImpl;
typedef struct OrtTensorTypeAndShapeInfo OrtTensorTypeAndShapeInfo;
typedef struct OrtTypeInfo OrtTypeInfo;
typedef struct OrtValue OrtValue;
typedef struct OrtValueInfo OrtValueInfo;

typedef void(ORT_API_CALL* OrtLoggingFunction)(void* param, OrtLoggingLevel severity,
                                               const char* category, const char* log_id,
                                               const char* code_location, const char* message);

// ---- tables of the runtime --------------------------------------------------------------------
struct OrtApiBase
{
    // NULL from a runtime that is older than the version.
    const OrtApi*(ORT_API_CALL* GetApi)(uint32_t version)NO_EXCEPTION;
    const char*(ORT_API_CALL* GetVersionString)(void)NO_EXCEPTION;
};

// The function that libonnxruntime exports.
ORT_EXPORT const OrtApiBase* ORT_API_CALL OrtGetApiBase(void) NO_EXCEPTION;

// What everyone asks the runtime for.
struct OrtApi
{
    OrtStatus*(ORT_API_CALL* CreateStatus)(OrtErrorCode, const char* message)NO_EXCEPTION;
    OrtErrorCode(ORT_API_CALL* GetErrorCode)(const OrtStatus*) NO_EXCEPTION;
    const char*(ORT_API_CALL* GetErrorMessage)(const OrtStatus*)NO_EXCEPTION;
    ORT_STATUS_CALL(CreateEnv, OrtLoggingLevel, const char* log_id, OrtEnv**);
    ORT_STATUS_CALL(CreateEnvWithCustomLogger, OrtLoggingFunction, void* logger_param,
                    OrtLoggingLevel, const char* log_id, OrtEnv**);
    void* unused_5_6[2];
    ORT_STATUS_CALL(CreateSession, const OrtEnv*, const ORTCHAR_T* path, const OrtSessionOptions*,
                    OrtSession**);
    ORT_STATUS_CALL(CreateSessionFromArray, const OrtEnv*, const void* data, size_t size,
                    const OrtSessionOptions*, OrtSession**);
    ORT_STATUS_CALL(Run, OrtSession*, const OrtRunOptions*, const char* const* input_names,
                    const OrtValue* const* inputs, size_t input_count,
                    const char* const* output_names, size_t output_count, OrtValue** outputs);
    ORT_STATUS_CALL(CreateSessionOptions, OrtSessionOptions**);
    void* unused_11_21[11];
    ORT_STATUS_CALL(SetSessionLogSeverityLevel, OrtSessionOptions*, int level);
    ORT_STATUS_CALL(SetSessionGraphOptimizationLevel, OrtSessionOptions*, GraphOptimizationLevel);
    ORT_STATUS_CALL(SetIntraOpNumThreads, OrtSessionOptions*, int count);
    void* unused_25_29[5];
    ORT_STATUS_CALL(SessionGetInputCount, const OrtSession*, size_t*);
    ORT_STATUS_CALL(SessionGetOutputCount, const OrtSession*, size_t*);
    void* unused_32[1];
    ORT_STATUS_CALL(SessionGetInputTypeInfo, const OrtSession*, size_t index, OrtTypeInfo**);
    ORT_STATUS_CALL(SessionGetOutputTypeInfo, const OrtSession*, size_t index, OrtTypeInfo**);
    void* unused_35[1];
    ORT_STATUS_CALL(SessionGetInputName, const OrtSession*, size_t index, OrtAllocator*,
                    char** value);
    ORT_STATUS_CALL(SessionGetOutputName, const OrtSession*, size_t index, OrtAllocator*,
                    char** value);
    void* unused_38_47[10];
    ORT_STATUS_CALL(CreateTensorAsOrtValue, OrtAllocator*, const int64_t* shape, size_t rank,
                    ONNXTensorElementDataType, OrtValue**);
    ORT_STATUS_CALL(CreateTensorWithDataAsOrtValue, const OrtMemoryInfo*, void* data, size_t size,
                    const int64_t* shape, size_t rank, ONNXTensorElementDataType, OrtValue**);
    ORT_STATUS_CALL(IsTensor, const OrtValue*, int*);
    ORT_STATUS_CALL(GetTensorMutableData, OrtValue*, void**);
    ORT_STATUS_CALL(FillStringTensor, OrtValue*, const char* const* s, size_t count);
    void* unused_53_54[2];
    ORT_STATUS_CALL(CastTypeInfoToTensorInfo, const OrtTypeInfo*,
                    const OrtTensorTypeAndShapeInfo**);
    ORT_STATUS_CALL(GetOnnxTypeFromTypeInfo, const OrtTypeInfo*, enum ONNXType*);
    void* unused_57_59[3];
    ORT_STATUS_CALL(GetTensorElementType, const OrtTensorTypeAndShapeInfo*,
                    enum ONNXTensorElementDataType*);
    ORT_STATUS_CALL(GetDimensionsCount, const OrtTensorTypeAndShapeInfo*, size_t*);
    ORT_STATUS_CALL(GetDimensions, const OrtTensorTypeAndShapeInfo*, int64_t* dims, size_t rank);
    ORT_STATUS_CALL(GetSymbolicDimensions, const OrtTensorTypeAndShapeInfo*, const char* names[],
                    size_t count);
    ORT_STATUS_CALL(GetTensorShapeElementCount, const OrtTensorTypeAndShapeInfo*, size_t*);
    ORT_STATUS_CALL(GetTensorTypeAndShape, const OrtValue*, OrtTensorTypeAndShapeInfo**);
    void* unused_66[1];
    ORT_STATUS_CALL(GetValueType, const OrtValue*, enum ONNXType*);
    void* unused_68[1];
    ORT_STATUS_CALL(CreateCpuMemoryInfo, enum OrtAllocatorType, enum OrtMemType, OrtMemoryInfo**);
    void* unused_70_75[6];
    ORT_STATUS_CALL(AllocatorFree, OrtAllocator*, void* p);
    void* unused_77[1];
    ORT_STATUS_CALL(GetAllocatorWithDefaultOptions, OrtAllocator**);
    void* unused_79[1];
    ORT_STATUS_CALL(GetValue, const OrtValue*, int index, OrtAllocator*, OrtValue**);
    ORT_STATUS_CALL(GetValueCount, const OrtValue*, size_t*);
    ORT_STATUS_CALL(CreateValue, const OrtValue* const*, size_t count, enum ONNXType, OrtValue**);
    void* unused_83_87[5];
    ORT_STATUS_CALL(KernelContext_GetInputCount, const OrtKernelContext*, size_t*);
    ORT_STATUS_CALL(KernelContext_GetOutputCount, const OrtKernelContext*, size_t*);
    ORT_STATUS_CALL(KernelContext_GetInput, const OrtKernelContext*, size_t index,
                    const OrtValue**);
    ORT_STATUS_CALL(KernelContext_GetOutput, OrtKernelContext*, size_t index, const int64_t* dims,
                    size_t rank, OrtValue**);
    ORT_RELEASE(Env);
    ORT_RELEASE(Status);
    ORT_RELEASE(MemoryInfo);
    ORT_RELEASE(Session);
    ORT_RELEASE(Value);
    ORT_RELEASE(RunOptions);
    ORT_RELEASE(TypeInfo);
    ORT_RELEASE(TensorTypeAndShapeInfo);
    ORT_RELEASE(SessionOptions);
    void* unused_101_123[23];
    ORT_STATUS_CALL(AddFreeDimensionOverrideByName, OrtSessionOptions*, const char* name,
                    int64_t value);
    void* unused_125_126[2];
    ORT_STATUS_CALL(GetStringTensorElementLength, const OrtValue*, size_t index, size_t*);
    ORT_STATUS_CALL(GetStringTensorElement, const OrtValue*, size_t count, size_t index, void* s);
    void* unused_129[1];
    ORT_STATUS_CALL(AddSessionConfigEntry, OrtSessionOptions*, const char* key, const char* value);
    void* unused_131_191[61];
    ORT_STATUS_CALL(HasValue, const OrtValue*, int*);
    void* unused_193_210[18];
    ORT_STATUS_CALL(CreateOpAttr, const char* name, const void* data, int len, OrtOpAttrType,
                    OrtOpAttr**);
    ORT_RELEASE(OpAttr);
    void* unused_213_245[33];
    ORT_STATUS_CALL(KernelContext_GetLogger, const OrtKernelContext*, const OrtLogger**);
    ORT_STATUS_CALL(Logger_LogMessage, const OrtLogger*, OrtLoggingLevel, const char* message,
                    const ORTCHAR_T* file, int line, const char* function);
    ORT_STATUS_CALL(Logger_GetLoggingSeverityLevel, const OrtLogger*, OrtLoggingLevel*);
    void* unused_249_271[23];
    ORT_STATUS_CALL(ReadOpAttr, const OrtOpAttr*, OrtOpAttrType, void* data, size_t len, size_t*);
    void* unused_273[1];
    ORT_STATUS_CALL(KernelContext_ParallelFor, const OrtKernelContext*, void (*fn)(void*, size_t),
                    size_t count, size_t batch_count, void* data);
    void* unused_275_276[2];
    ORT_STATUS_CALL(KernelContext_GetScratchBuffer, const OrtKernelContext*, const OrtMemoryInfo*,
                    size_t size, void**);
    void* unused_278_284[7];
    ORT_RELEASE(ValueInfo);
    ORT_RELEASE(Node);
    ORT_RELEASE(Graph);
    ORT_RELEASE(Model);
    ORT_STATUS_CALL(GetValueInfoName, const OrtValueInfo*, const char** name);
    ORT_STATUS_CALL(GetValueInfoTypeInfo, const OrtValueInfo*, const OrtTypeInfo**);
    const OrtModelEditorApi*(ORT_API_CALL* GetModelEditorApi)(void);
    void* unused_292_293[2];
    const OrtCompileApi*(ORT_API_CALL* GetCompileApi)(void);
    void(ORT_API_CALL* CreateKeyValuePairs)(OrtKeyValuePairs**);
    void(ORT_API_CALL* AddKeyValuePair)(OrtKeyValuePairs*, const char* key, const char* value);
    const char*(ORT_API_CALL* GetKeyValue)(const OrtKeyValuePairs*, const char* key);
    void(ORT_API_CALL* GetKeyValuePairs)(const OrtKeyValuePairs*, const char* const** keys,
                                         const char* const** values, size_t* count);
    void(ORT_API_CALL* RemoveKeyValuePair)(OrtKeyValuePairs*, const char* key);
    ORT_RELEASE(KeyValuePairs);
    ORT_STATUS_CALL(RegisterExecutionProviderLibrary, OrtEnv*, const char* name,
                    const ORTCHAR_T* path);
    ORT_STATUS_CALL(UnregisterExecutionProviderLibrary, OrtEnv*, const char* name);
    ORT_STATUS_CALL(GetEpDevices, const OrtEnv*, const OrtEpDevice* const** devices,
                    size_t* device_count);
    ORT_STATUS_CALL(SessionOptionsAppendExecutionProvider_V2, OrtSessionOptions*, OrtEnv*,
                    const OrtEpDevice* const*, size_t device_count, const char* const* keys,
                    const char* const* values, size_t option_count);
    ORT_STATUS_CALL(SessionOptionsSetEpSelectionPolicy, OrtSessionOptions*,
                    OrtExecutionProviderDevicePolicy);
    void* unused_306[1];
    OrtHardwareDeviceType(ORT_API_CALL* HardwareDevice_Type)(const OrtHardwareDevice*);
    uint32_t(ORT_API_CALL* HardwareDevice_VendorId)(const OrtHardwareDevice*);
    const char*(ORT_API_CALL* HardwareDevice_Vendor)(const OrtHardwareDevice*);
    uint32_t(ORT_API_CALL* HardwareDevice_DeviceId)(const OrtHardwareDevice*);
    const OrtKeyValuePairs*(ORT_API_CALL* HardwareDevice_Metadata)(const OrtHardwareDevice*);
    const char*(ORT_API_CALL* EpDevice_EpName)(const OrtEpDevice*);
    const char*(ORT_API_CALL* EpDevice_EpVendor)(const OrtEpDevice*);
    const OrtKeyValuePairs*(ORT_API_CALL* EpDevice_EpMetadata)(const OrtEpDevice*);
    const OrtKeyValuePairs*(ORT_API_CALL* EpDevice_EpOptions)(const OrtEpDevice*);
    const OrtHardwareDevice*(ORT_API_CALL* EpDevice_Device)(const OrtEpDevice*);
    const OrtEpApi*(ORT_API_CALL* GetEpApi)(void);
    ORT_STATUS_CALL(GetTensorSizeInBytes, const OrtValue*, size_t* size);
    void* unused_319_322[4];
    ORT_STATUS_CALL(ValueInfo_GetValueProducer, const OrtValueInfo*, const OrtNode**,
                    size_t* output_index);
    ORT_STATUS_CALL(ValueInfo_GetValueNumConsumers, const OrtValueInfo*, size_t* count);
    ORT_STATUS_CALL(ValueInfo_GetValueConsumers, const OrtValueInfo*, const OrtNode** nodes,
                    int64_t* input_indices, size_t count);
    ORT_STATUS_CALL(ValueInfo_GetInitializerValue, const OrtValueInfo*, const OrtValue**);
    ORT_STATUS_CALL(ValueInfo_GetExternalInitializerInfo, const OrtValueInfo*,
                    OrtExternalInitializerInfo**);
    ORT_STATUS_CALL(ValueInfo_IsRequiredGraphInput, const OrtValueInfo*, bool* result);
    ORT_STATUS_CALL(ValueInfo_IsOptionalGraphInput, const OrtValueInfo*, bool* result);
    ORT_STATUS_CALL(ValueInfo_IsGraphOutput, const OrtValueInfo*, bool* result);
    ORT_STATUS_CALL(ValueInfo_IsConstantInitializer, const OrtValueInfo*, bool* result);
    ORT_STATUS_CALL(ValueInfo_IsFromOuterScope, const OrtValueInfo*, bool* result);
    ORT_STATUS_CALL(Graph_GetName, const OrtGraph*, const char** name);
    ORT_STATUS_CALL(Graph_GetModelPath, const OrtGraph*, const ORTCHAR_T** path);
    ORT_STATUS_CALL(Graph_GetOnnxIRVersion, const OrtGraph*, int64_t* version);
    ORT_STATUS_CALL(Graph_GetNumOperatorSets, const OrtGraph*, size_t* count);
    ORT_STATUS_CALL(Graph_GetOperatorSets, const OrtGraph*, const char** domains, int64_t* versions,
                    size_t count);
    ORT_STATUS_CALL(Graph_GetNumInputs, const OrtGraph*, size_t* count);
    ORT_STATUS_CALL(Graph_GetInputs, const OrtGraph*, const OrtValueInfo** inputs, size_t count);
    ORT_STATUS_CALL(Graph_GetNumOutputs, const OrtGraph*, size_t* count);
    ORT_STATUS_CALL(Graph_GetOutputs, const OrtGraph*, const OrtValueInfo** outputs, size_t count);
    ORT_STATUS_CALL(Graph_GetNumInitializers, const OrtGraph*, size_t* count);
    ORT_STATUS_CALL(Graph_GetInitializers, const OrtGraph*, const OrtValueInfo** initializers,
                    size_t count);
    ORT_STATUS_CALL(Graph_GetNumNodes, const OrtGraph*, size_t* count);
    ORT_STATUS_CALL(Graph_GetNodes, const OrtGraph*, const OrtNode** nodes, size_t count);
    ORT_STATUS_CALL(Graph_GetParentNode, const OrtGraph*, const OrtNode**);
    ORT_STATUS_CALL(Graph_GetGraphView, const OrtGraph*, const OrtNode** nodes, size_t count,
                    OrtGraph**);
    ORT_STATUS_CALL(Node_GetId, const OrtNode*, size_t* id);
    ORT_STATUS_CALL(Node_GetName, const OrtNode*, const char** name);
    ORT_STATUS_CALL(Node_GetOperatorType, const OrtNode*, const char** type);
    ORT_STATUS_CALL(Node_GetDomain, const OrtNode*, const char** domain);
    ORT_STATUS_CALL(Node_GetSinceVersion, const OrtNode*, int* version);
    ORT_STATUS_CALL(Node_GetNumInputs, const OrtNode*, size_t* count);
    ORT_STATUS_CALL(Node_GetInputs, const OrtNode*, const OrtValueInfo** inputs, size_t count);
    ORT_STATUS_CALL(Node_GetNumOutputs, const OrtNode*, size_t* count);
    ORT_STATUS_CALL(Node_GetOutputs, const OrtNode*, const OrtValueInfo** outputs, size_t count);
    ORT_STATUS_CALL(Node_GetNumImplicitInputs, const OrtNode*, size_t* count);
    ORT_STATUS_CALL(Node_GetImplicitInputs, const OrtNode*, const OrtValueInfo** inputs,
                    size_t count);
    ORT_STATUS_CALL(Node_GetNumAttributes, const OrtNode*, size_t* count);
    ORT_STATUS_CALL(Node_GetAttributes, const OrtNode*, const OrtOpAttr** attributes, size_t count);
    ORT_STATUS_CALL(Node_GetAttributeByName, const OrtNode*, const char* name, const OrtOpAttr**);
    ORT_STATUS_CALL(OpAttr_GetTensorAttributeAsOrtValue, const OrtOpAttr*, OrtValue**);
    ORT_STATUS_CALL(OpAttr_GetType, const OrtOpAttr*, OrtOpAttrType*);
    ORT_STATUS_CALL(OpAttr_GetName, const OrtOpAttr*, const char** name);
    ORT_STATUS_CALL(Node_GetNumSubgraphs, const OrtNode*, size_t* count);
    ORT_STATUS_CALL(Node_GetSubgraphs, const OrtNode*, const OrtGraph** subgraphs, size_t count,
                    const char** names);
    ORT_STATUS_CALL(Node_GetGraph, const OrtNode*, const OrtGraph**);
    ORT_STATUS_CALL(Node_GetEpName, const OrtNode*, const char**);
    ORT_RELEASE(ExternalInitializerInfo);
    ORT_VALUE_CALL(const ORTCHAR_T*, ExternalInitializerInfo_GetFilePath,
                   const OrtExternalInitializerInfo*);
    ORT_VALUE_CALL(int64_t, ExternalInitializerInfo_GetFileOffset,
                   const OrtExternalInitializerInfo*);
    ORT_VALUE_CALL(size_t, ExternalInitializerInfo_GetByteSize, const OrtExternalInitializerInfo*);
    void* unused_373_377[5];
    ORT_STATUS_CALL(GetTensorData, const OrtValue*, const void**);
    ORT_STATUS_CALL(GetSessionOptionsConfigEntries, const OrtSessionOptions*, OrtKeyValuePairs**);
    void* unused_380_386[7];
    ORT_STATUS_CALL(Graph_GetModelMetadata, const OrtGraph*, OrtModelMetadata**);
    ORT_STATUS_CALL(GetModelCompatibilityForEpDevices, const OrtEpDevice* const*,
                    size_t device_count, const char* info, OrtCompiledModelCompatibility*);
    void* unused_389[1];
    ORT_VALUE_CALL(bool, TensorTypeAndShape_HasShape, const OrtTensorTypeAndShapeInfo*);
    void* unused_391_406[16];
    ORT_STATUS_CALL(Session_GetEpGraphAssignmentInfo, const OrtSession*,
                    const OrtEpAssignedSubgraph* const** subgraphs, size_t* count);
    ORT_STATUS_CALL(EpAssignedSubgraph_GetEpName, const OrtEpAssignedSubgraph*, const char**);
    ORT_STATUS_CALL(EpAssignedSubgraph_GetNodes, const OrtEpAssignedSubgraph*,
                    const OrtEpAssignedNode* const** nodes, size_t* count);
    ORT_STATUS_CALL(EpAssignedNode_GetName, const OrtEpAssignedNode*, const char**);
    ORT_STATUS_CALL(EpAssignedNode_GetDomain, const OrtEpAssignedNode*, const char**);
    ORT_STATUS_CALL(EpAssignedNode_GetOperatorType, const OrtEpAssignedNode*, const char**);
    void* unused_413[1];
    ORT_STATUS_CALL(GetTensorElementTypeAndShapeDataReference, const OrtValue*,
                    ONNXTensorElementDataType*, const int64_t** dims, size_t* rank);
};

// Makes graphs.
struct OrtModelEditorApi
{
    void* unused_0_5[6];
    ORT_STATUS_CALL(CreateNode, const char* type, const char* domain, const char* name,
                    const char* const* input_names, size_t input_count,
                    const char* const* output_names, size_t output_count, OrtOpAttr** attributes,
                    size_t attribute_count, OrtNode**);
};

// Makes a file with compiled parts of one without.
struct OrtCompileApi
{
    ORT_RELEASE(ModelCompilationOptions);
    ORT_STATUS_CALL(CreateModelCompilationOptionsFromSessionOptions, const OrtEnv*,
                    const OrtSessionOptions*, OrtModelCompilationOptions**);
    ORT_STATUS_CALL(ModelCompilationOptions_SetInputModelPath, OrtModelCompilationOptions*,
                    const ORTCHAR_T* path);
    void* unused_3[1];
    ORT_STATUS_CALL(ModelCompilationOptions_SetOutputModelPath, OrtModelCompilationOptions*,
                    const ORTCHAR_T* path);
    void* unused_5_6[2];
    ORT_STATUS_CALL(ModelCompilationOptions_SetEpContextEmbedMode, OrtModelCompilationOptions*,
                    bool embed);
    ORT_STATUS_CALL(CompileModel, const OrtEnv*, const OrtModelCompilationOptions*);
    ORT_STATUS_CALL(ModelCompilationOptions_SetFlags, OrtModelCompilationOptions*, uint32_t flags);
};

// What a provider asks the runtime for.
struct OrtEpApi
{
    ORT_STATUS_CALL(CreateEpDevice, OrtEpFactory*, const OrtHardwareDevice*,
                    const OrtKeyValuePairs*, const OrtKeyValuePairs*, OrtEpDevice**);
    ORT_RELEASE(EpDevice);
    ORT_STATUS_CALL(EpGraphSupportInfo_AddNodesToFuse, OrtEpGraphSupportInfo*,
                    const OrtNode* const* nodes, size_t count, const OrtNodeFusionOptions*);
    ORT_STATUS_CALL(EpGraphSupportInfo_AddSingleNode, OrtEpGraphSupportInfo*, const OrtNode*);
    ORT_VALUE_CALL(const char*, NodeComputeContext_NodeName, const OrtNodeComputeContext*);
    void* unused_5_15[11];
    ORT_STATUS_CALL(CreateHardwareDevice, OrtHardwareDeviceType, uint32_t vendor_id,
                    uint32_t device_id, const char* vendor_name, const OrtKeyValuePairs*,
                    OrtHardwareDevice**);
    ORT_RELEASE(HardwareDevice);
    void* unused_18_43[26];
    ORT_STATUS_CALL(DeviceEpIncompatibilityDetails_SetDetails, OrtDeviceEpIncompatibilityDetails*,
                    uint32_t reasons, int32_t error_code, const char* notes);
    void* unused_45_48[4];
    ORT_STATUS_CALL(GetEnvConfigEntries, OrtKeyValuePairs**);
};

// ---- tables of a provider ---------------------------------------------------------------------
// Filled by the provider: zeroed first, then ort_version_supported = ORT_API_VERSION. The runtime
// leaves alone what is newer than that. "Optional" may be NULL; NULL elsewhere ends the process.

struct OrtNodeFusionOptions
{
    uint32_t ort_version_supported;
    bool drop_constant_initializers;  // constants are no inputs of the fused node
};

// What runs a fused node.
struct OrtNodeComputeInfo
{
    uint32_t ort_version_supported;
    OrtStatus*(ORT_API_CALL* CreateState)(OrtNodeComputeInfo*, OrtNodeComputeContext*,
                                          void** state);
    OrtStatus*(ORT_API_CALL* Compute)(OrtNodeComputeInfo*, void* state, OrtKernelContext*);
    void(ORT_API_CALL* ReleaseState)(OrtNodeComputeInfo*, void* state);
};

// What a session has of a provider.
struct OrtEp
{
    uint32_t ort_version_supported;
    ORT_VALUE_CALL(const char*, GetName, const OrtEp*);
    ORT_STATUS_CALL(GetCapability, OrtEp*, const OrtGraph*, OrtEpGraphSupportInfo*);
    // Of each graph a compute info and, when they are asked for, a node EPContext.
    ORT_STATUS_CALL(Compile, OrtEp*, const OrtGraph** graphs, const OrtNode** fused_nodes,
                    size_t count, OrtNodeComputeInfo** infos, OrtNode** context_nodes);
    ORT_VALUE_CALL(void, ReleaseNodeComputeInfos, OrtEp*, OrtNodeComputeInfo** infos, size_t count);
    // All that follow are optional.
    ORT_STATUS_CALL(GetPreferredDataLayout, OrtEp*, OrtEpDataLayout*);
    ORT_STATUS_CALL(ShouldConvertDataLayoutForOp, OrtEp*, const char* domain,
                    const char* operator_type, OrtEpDataLayout, int* convert);
    ORT_STATUS_CALL(SetDynamicOptions, OrtEp*, const char* const* keys, const char* const* values,
                    size_t count);
    ORT_STATUS_CALL(OnRunStart, OrtEp*, const OrtRunOptions*);
    ORT_STATUS_CALL(OnRunEnd, OrtEp*, const OrtRunOptions*, bool sync_stream);
    ORT_STATUS_CALL(CreateAllocator, OrtEp*, const OrtMemoryInfo*, OrtAllocator**);
    ORT_STATUS_CALL(CreateSyncStreamForDevice, OrtEp*, const OrtMemoryDevice*, OrtSyncStreamImpl**);
    ORT_VALUE_CALL(const char*, GetCompiledModelCompatibilityInfo, OrtEp*, const OrtGraph*);
    ORT_STATUS_CALL(GetKernelRegistry, OrtEp*, const OrtKernelRegistry**);
    // Absent: runs of a session may overlap.
    ORT_STATUS_CALL(IsConcurrentRunSupported, OrtEp*, bool* supported);
};

// What a library of a provider has of it.
struct OrtEpFactory
{
    uint32_t ort_version_supported;
    ORT_VALUE_CALL(const char*, GetName, const OrtEpFactory*);
    ORT_VALUE_CALL(const char*, GetVendor, const OrtEpFactory*);
    // Fills an array of the runtime's, which then owns what is in it.
    ORT_STATUS_CALL(GetSupportedDevices, OrtEpFactory*, const OrtHardwareDevice* const* hardware,
                    size_t hardware_count, OrtEpDevice** devices, size_t capacity,
                    size_t* device_count);
    ORT_STATUS_CALL(CreateEp, OrtEpFactory*, const OrtHardwareDevice* const* hardware,
                    const OrtKeyValuePairs* const* metadata, size_t count, const OrtSessionOptions*,
                    const OrtLogger*, OrtEp**);
    ORT_VALUE_CALL(void, ReleaseEp, OrtEpFactory*, struct OrtEp*);
    ORT_VALUE_CALL(uint32_t, GetVendorId, const OrtEpFactory*);  // optional
    ORT_VALUE_CALL(const char*, GetVersion, const OrtEpFactory*);
    // (optional)
    ORT_STATUS_CALL(ValidateCompiledModelCompatibilityInfo, OrtEpFactory*,
                    const OrtHardwareDevice* const* hardware, size_t count, const char* info,
                    OrtCompiledModelCompatibility*);
    ORT_STATUS_CALL(CreateAllocator, OrtEpFactory*, const OrtMemoryInfo*,
                    const OrtKeyValuePairs* options, OrtAllocator**);      // optional
    ORT_VALUE_CALL(void, ReleaseAllocator, OrtEpFactory*, OrtAllocator*);  // optional
    ORT_STATUS_CALL(CreateDataTransfer, OrtEpFactory*, OrtDataTransferImpl**);
    // All that follow are optional.
    ORT_VALUE_CALL(bool, IsStreamAware, const OrtEpFactory*);
    ORT_STATUS_CALL(CreateSyncStreamForDevice, OrtEpFactory*, const OrtMemoryDevice*,
                    const OrtKeyValuePairs* options, OrtSyncStreamImpl**);
    ORT_STATUS_CALL(GetHardwareDeviceIncompatibilityDetails, OrtEpFactory*,
                    const OrtHardwareDevice*, OrtDeviceEpIncompatibilityDetails*);
    ORT_STATUS_CALL(CreateExternalResourceImporterForDevice, OrtEpFactory*, const OrtEpDevice*,
                    OrtExternalResourceImporterImpl**);
    ORT_STATUS_CALL(GetNumCustomOpDomains, OrtEpFactory*, size_t* count);
    ORT_STATUS_CALL(GetCustomOpDomains, OrtEpFactory*, OrtCustomOpDomain** domains, size_t count);
};

// The functions that the library of a provider exports: CreateEpFactories and ReleaseEpFactory.
typedef OrtStatus* (*CreateEpApiFactoriesFn)(const char* registered_name, const OrtApiBase*,
                                             const OrtLogger*, OrtEpFactory** factories,
                                             size_t capacity, size_t* count);
typedef OrtStatus* (*ReleaseEpApiFactoryFn)(OrtEpFactory*);

#undef ORT_STATUS_CALL
#undef ORT_VALUE_CALL
#undef ORT_RELEASE

#ifdef __cplusplus
}
#endif
