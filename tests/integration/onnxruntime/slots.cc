// SPDX-License-Identifier: Apache-2.0
// The indices of the functions in ONNX Runtime's tables, and its constants, as numbers of the
// interface. They apply to the part of the header in 3rdparty and to ONNX Runtime's own
// (TENGINE_ORT_HEADERS), and this file does not compile if they are wrong.
#include <cstddef>

#include "onnxruntime_c_api.h"

namespace tengine::ort_host {
namespace {

// Tables of the runtime have only pointers; those of a provider begin with a version.
#define SLOT(table, member, position) \
    static_assert(offsetof(table, member) == (position) * sizeof(void*), #member)
#define ENTRY(table, member, position) \
    static_assert(offsetof(table, member) == (1 + (position)) * sizeof(void*), #member)

SLOT(OrtApi, CreateStatus, 0);
SLOT(OrtApi, GetErrorCode, 1);
SLOT(OrtApi, GetErrorMessage, 2);
SLOT(OrtApi, CreateEnv, 3);
SLOT(OrtApi, CreateEnvWithCustomLogger, 4);
SLOT(OrtApi, CreateSession, 7);
SLOT(OrtApi, CreateSessionFromArray, 8);
SLOT(OrtApi, Run, 9);
SLOT(OrtApi, CreateSessionOptions, 10);
SLOT(OrtApi, SetSessionLogSeverityLevel, 22);
SLOT(OrtApi, SetSessionGraphOptimizationLevel, 23);
SLOT(OrtApi, SetIntraOpNumThreads, 24);
SLOT(OrtApi, SessionGetInputCount, 30);
SLOT(OrtApi, SessionGetOutputCount, 31);
SLOT(OrtApi, SessionGetInputTypeInfo, 33);
SLOT(OrtApi, SessionGetOutputTypeInfo, 34);
SLOT(OrtApi, SessionGetInputName, 36);
SLOT(OrtApi, SessionGetOutputName, 37);
SLOT(OrtApi, CreateTensorAsOrtValue, 48);
SLOT(OrtApi, CreateTensorWithDataAsOrtValue, 49);
SLOT(OrtApi, IsTensor, 50);
SLOT(OrtApi, GetTensorMutableData, 51);
SLOT(OrtApi, FillStringTensor, 52);
SLOT(OrtApi, CastTypeInfoToTensorInfo, 55);
SLOT(OrtApi, GetOnnxTypeFromTypeInfo, 56);
SLOT(OrtApi, GetTensorElementType, 60);
SLOT(OrtApi, GetDimensionsCount, 61);
SLOT(OrtApi, GetDimensions, 62);
SLOT(OrtApi, GetSymbolicDimensions, 63);
SLOT(OrtApi, GetTensorShapeElementCount, 64);
SLOT(OrtApi, GetTensorTypeAndShape, 65);
SLOT(OrtApi, GetValueType, 67);
SLOT(OrtApi, CreateCpuMemoryInfo, 69);
SLOT(OrtApi, AllocatorFree, 76);
SLOT(OrtApi, GetAllocatorWithDefaultOptions, 78);
SLOT(OrtApi, GetValue, 80);
SLOT(OrtApi, GetValueCount, 81);
SLOT(OrtApi, CreateValue, 82);
SLOT(OrtApi, KernelContext_GetInputCount, 88);
SLOT(OrtApi, KernelContext_GetOutputCount, 89);
SLOT(OrtApi, KernelContext_GetInput, 90);
SLOT(OrtApi, KernelContext_GetOutput, 91);
SLOT(OrtApi, ReleaseEnv, 92);
SLOT(OrtApi, ReleaseStatus, 93);
SLOT(OrtApi, ReleaseMemoryInfo, 94);
SLOT(OrtApi, ReleaseSession, 95);
SLOT(OrtApi, ReleaseValue, 96);
SLOT(OrtApi, ReleaseRunOptions, 97);
SLOT(OrtApi, ReleaseTypeInfo, 98);
SLOT(OrtApi, ReleaseTensorTypeAndShapeInfo, 99);
SLOT(OrtApi, ReleaseSessionOptions, 100);
SLOT(OrtApi, AddFreeDimensionOverrideByName, 124);
SLOT(OrtApi, GetStringTensorElementLength, 127);
SLOT(OrtApi, GetStringTensorElement, 128);
SLOT(OrtApi, AddSessionConfigEntry, 130);
SLOT(OrtApi, HasValue, 192);
SLOT(OrtApi, CreateOpAttr, 211);
SLOT(OrtApi, ReleaseOpAttr, 212);
SLOT(OrtApi, KernelContext_GetLogger, 246);
SLOT(OrtApi, Logger_LogMessage, 247);
SLOT(OrtApi, Logger_GetLoggingSeverityLevel, 248);
SLOT(OrtApi, ReadOpAttr, 272);
SLOT(OrtApi, KernelContext_ParallelFor, 274);
SLOT(OrtApi, KernelContext_GetScratchBuffer, 277);
SLOT(OrtApi, ReleaseValueInfo, 285);
SLOT(OrtApi, ReleaseNode, 286);
SLOT(OrtApi, ReleaseGraph, 287);
SLOT(OrtApi, ReleaseModel, 288);
SLOT(OrtApi, GetValueInfoName, 289);
SLOT(OrtApi, GetValueInfoTypeInfo, 290);
SLOT(OrtApi, GetModelEditorApi, 291);
SLOT(OrtApi, GetCompileApi, 294);
SLOT(OrtApi, CreateKeyValuePairs, 295);
SLOT(OrtApi, AddKeyValuePair, 296);
SLOT(OrtApi, GetKeyValue, 297);
SLOT(OrtApi, GetKeyValuePairs, 298);
SLOT(OrtApi, RemoveKeyValuePair, 299);
SLOT(OrtApi, ReleaseKeyValuePairs, 300);
SLOT(OrtApi, RegisterExecutionProviderLibrary, 301);
SLOT(OrtApi, UnregisterExecutionProviderLibrary, 302);
SLOT(OrtApi, GetEpDevices, 303);
SLOT(OrtApi, SessionOptionsAppendExecutionProvider_V2, 304);
SLOT(OrtApi, SessionOptionsSetEpSelectionPolicy, 305);
SLOT(OrtApi, HardwareDevice_Type, 307);
SLOT(OrtApi, HardwareDevice_VendorId, 308);
SLOT(OrtApi, HardwareDevice_Vendor, 309);
SLOT(OrtApi, HardwareDevice_DeviceId, 310);
SLOT(OrtApi, HardwareDevice_Metadata, 311);
SLOT(OrtApi, EpDevice_EpName, 312);
SLOT(OrtApi, EpDevice_EpVendor, 313);
SLOT(OrtApi, EpDevice_EpMetadata, 314);
SLOT(OrtApi, EpDevice_EpOptions, 315);
SLOT(OrtApi, EpDevice_Device, 316);
SLOT(OrtApi, GetEpApi, 317);
SLOT(OrtApi, GetTensorSizeInBytes, 318);
SLOT(OrtApi, ValueInfo_GetValueProducer, 323);
SLOT(OrtApi, ValueInfo_GetValueNumConsumers, 324);
SLOT(OrtApi, ValueInfo_GetValueConsumers, 325);
SLOT(OrtApi, ValueInfo_GetInitializerValue, 326);
SLOT(OrtApi, ValueInfo_GetExternalInitializerInfo, 327);
SLOT(OrtApi, ValueInfo_IsRequiredGraphInput, 328);
SLOT(OrtApi, ValueInfo_IsOptionalGraphInput, 329);
SLOT(OrtApi, ValueInfo_IsGraphOutput, 330);
SLOT(OrtApi, ValueInfo_IsConstantInitializer, 331);
SLOT(OrtApi, ValueInfo_IsFromOuterScope, 332);
SLOT(OrtApi, Graph_GetName, 333);
SLOT(OrtApi, Graph_GetModelPath, 334);
SLOT(OrtApi, Graph_GetOnnxIRVersion, 335);
SLOT(OrtApi, Graph_GetNumOperatorSets, 336);
SLOT(OrtApi, Graph_GetOperatorSets, 337);
SLOT(OrtApi, Graph_GetNumInputs, 338);
SLOT(OrtApi, Graph_GetInputs, 339);
SLOT(OrtApi, Graph_GetNumOutputs, 340);
SLOT(OrtApi, Graph_GetOutputs, 341);
SLOT(OrtApi, Graph_GetNumInitializers, 342);
SLOT(OrtApi, Graph_GetInitializers, 343);
SLOT(OrtApi, Graph_GetNumNodes, 344);
SLOT(OrtApi, Graph_GetNodes, 345);
SLOT(OrtApi, Graph_GetParentNode, 346);
SLOT(OrtApi, Graph_GetGraphView, 347);
SLOT(OrtApi, Node_GetId, 348);
SLOT(OrtApi, Node_GetName, 349);
SLOT(OrtApi, Node_GetOperatorType, 350);
SLOT(OrtApi, Node_GetDomain, 351);
SLOT(OrtApi, Node_GetSinceVersion, 352);
SLOT(OrtApi, Node_GetNumInputs, 353);
SLOT(OrtApi, Node_GetInputs, 354);
SLOT(OrtApi, Node_GetNumOutputs, 355);
SLOT(OrtApi, Node_GetOutputs, 356);
SLOT(OrtApi, Node_GetNumImplicitInputs, 357);
SLOT(OrtApi, Node_GetImplicitInputs, 358);
SLOT(OrtApi, Node_GetNumAttributes, 359);
SLOT(OrtApi, Node_GetAttributes, 360);
SLOT(OrtApi, Node_GetAttributeByName, 361);
SLOT(OrtApi, OpAttr_GetTensorAttributeAsOrtValue, 362);
SLOT(OrtApi, OpAttr_GetType, 363);
SLOT(OrtApi, OpAttr_GetName, 364);
SLOT(OrtApi, Node_GetNumSubgraphs, 365);
SLOT(OrtApi, Node_GetSubgraphs, 366);
SLOT(OrtApi, Node_GetGraph, 367);
SLOT(OrtApi, Node_GetEpName, 368);
SLOT(OrtApi, ReleaseExternalInitializerInfo, 369);
SLOT(OrtApi, ExternalInitializerInfo_GetFilePath, 370);
SLOT(OrtApi, ExternalInitializerInfo_GetFileOffset, 371);
SLOT(OrtApi, ExternalInitializerInfo_GetByteSize, 372);
SLOT(OrtApi, GetTensorData, 378);
SLOT(OrtApi, GetSessionOptionsConfigEntries, 379);
SLOT(OrtApi, Graph_GetModelMetadata, 387);
SLOT(OrtApi, GetModelCompatibilityForEpDevices, 388);
SLOT(OrtApi, TensorTypeAndShape_HasShape, 390);
SLOT(OrtApi, Session_GetEpGraphAssignmentInfo, 407);
SLOT(OrtApi, EpAssignedSubgraph_GetEpName, 408);
SLOT(OrtApi, EpAssignedSubgraph_GetNodes, 409);
SLOT(OrtApi, EpAssignedNode_GetName, 410);
SLOT(OrtApi, EpAssignedNode_GetDomain, 411);
SLOT(OrtApi, EpAssignedNode_GetOperatorType, 412);
SLOT(OrtApi, GetTensorElementTypeAndShapeDataReference, 414);

SLOT(OrtModelEditorApi, CreateNode, 6);

SLOT(OrtCompileApi, ReleaseModelCompilationOptions, 0);
SLOT(OrtCompileApi, CreateModelCompilationOptionsFromSessionOptions, 1);
SLOT(OrtCompileApi, ModelCompilationOptions_SetInputModelPath, 2);
SLOT(OrtCompileApi, ModelCompilationOptions_SetOutputModelPath, 4);
SLOT(OrtCompileApi, ModelCompilationOptions_SetEpContextEmbedMode, 7);
SLOT(OrtCompileApi, CompileModel, 8);
SLOT(OrtCompileApi, ModelCompilationOptions_SetFlags, 9);

SLOT(OrtEpApi, CreateEpDevice, 0);
SLOT(OrtEpApi, ReleaseEpDevice, 1);
SLOT(OrtEpApi, EpGraphSupportInfo_AddNodesToFuse, 2);
SLOT(OrtEpApi, EpGraphSupportInfo_AddSingleNode, 3);
SLOT(OrtEpApi, NodeComputeContext_NodeName, 4);
SLOT(OrtEpApi, CreateHardwareDevice, 16);
SLOT(OrtEpApi, ReleaseHardwareDevice, 17);
SLOT(OrtEpApi, DeviceEpIncompatibilityDetails_SetDetails, 44);
SLOT(OrtEpApi, GetEnvConfigEntries, 49);

ENTRY(OrtNodeComputeInfo, CreateState, 0);
ENTRY(OrtNodeComputeInfo, Compute, 1);
ENTRY(OrtNodeComputeInfo, ReleaseState, 2);

ENTRY(OrtEp, GetName, 0);
ENTRY(OrtEp, GetCapability, 1);
ENTRY(OrtEp, Compile, 2);
ENTRY(OrtEp, ReleaseNodeComputeInfos, 3);
ENTRY(OrtEp, GetPreferredDataLayout, 4);
ENTRY(OrtEp, ShouldConvertDataLayoutForOp, 5);
ENTRY(OrtEp, SetDynamicOptions, 6);
ENTRY(OrtEp, OnRunStart, 7);
ENTRY(OrtEp, OnRunEnd, 8);
ENTRY(OrtEp, CreateAllocator, 9);
ENTRY(OrtEp, CreateSyncStreamForDevice, 10);
ENTRY(OrtEp, GetCompiledModelCompatibilityInfo, 11);
ENTRY(OrtEp, GetKernelRegistry, 12);
ENTRY(OrtEp, IsConcurrentRunSupported, 13);

ENTRY(OrtEpFactory, GetName, 0);
ENTRY(OrtEpFactory, GetVendor, 1);
ENTRY(OrtEpFactory, GetSupportedDevices, 2);
ENTRY(OrtEpFactory, CreateEp, 3);
ENTRY(OrtEpFactory, ReleaseEp, 4);
ENTRY(OrtEpFactory, GetVendorId, 5);
ENTRY(OrtEpFactory, GetVersion, 6);
ENTRY(OrtEpFactory, ValidateCompiledModelCompatibilityInfo, 7);
ENTRY(OrtEpFactory, CreateAllocator, 8);
ENTRY(OrtEpFactory, ReleaseAllocator, 9);
ENTRY(OrtEpFactory, CreateDataTransfer, 10);
ENTRY(OrtEpFactory, IsStreamAware, 11);
ENTRY(OrtEpFactory, CreateSyncStreamForDevice, 12);
ENTRY(OrtEpFactory, GetHardwareDeviceIncompatibilityDetails, 13);
ENTRY(OrtEpFactory, CreateExternalResourceImporterForDevice, 14);
ENTRY(OrtEpFactory, GetNumCustomOpDomains, 15);
ENTRY(OrtEpFactory, GetCustomOpDomains, 16);

static_assert(sizeof(OrtApiBase) == 2 * sizeof(void*), "OrtApiBase");
static_assert(sizeof(OrtNodeFusionOptions) == 8, "OrtNodeFusionOptions");
static_assert(offsetof(OrtNodeFusionOptions, drop_constant_initializers) == 4, "its member");

static_assert(ORT_NOT_IMPLEMENTED == 9 && ORT_EP_FAIL == 11 && ORT_NOT_FOUND == 14, "OrtErrorCode");
static_assert(ORT_LOGGING_LEVEL_WARNING == 2 && ORT_LOGGING_LEVEL_FATAL == 4, "OrtLoggingLevel");
static_assert(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT == 1, "ONNXTensorElementDataType");
static_assert(ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL == 9, "ONNXTensorElementDataType");
static_assert(ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16 == 16, "ONNXTensorElementDataType");
static_assert(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT4E2M1 == 23, "ONNXTensorElementDataType");
static_assert(ONNX_TYPE_TENSOR == 1 && ONNX_TYPE_OPTIONAL == 6, "ONNXType");
static_assert(ORT_OP_ATTR_INT == 1 && ORT_OP_ATTR_TENSOR == 8, "OrtOpAttrType");
static_assert(OrtHardwareDeviceType_NPU == 2, "OrtHardwareDeviceType");
static_assert(OrtDeviceAllocator == 0 && OrtMemTypeDefault == 0, "memory");
static_assert(OrtCompiledModelCompatibility_EP_UNSUPPORTED == 3, "compatibility");
static_assert(OrtEpDataLayout_NHWC == 1, "OrtEpDataLayout");

#undef SLOT
#undef ENTRY

}  // namespace
}  // namespace tengine::ort_host
