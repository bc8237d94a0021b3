// SPDX-License-Identifier: Apache-2.0
// A compiler plug-in of LiteRT with every function that one may define, which reads graphs with
// every function for that, except those of operators.cc. It refuses the nodes of the test's graph
// with the first fault that it found, or with "as expected". For the chip "Miscounting" it takes
// the product, and reports one call too many for its result.
#include <map>

#include "litert/c/litert_common.h"
#include "litert/c/litert_model.h"
#include "litert/cc/litert_element_type.h"
#include "litert/cc/litert_model.h"
#include "litert/vendors/c/litert_compiler_plugin.h"

LITERT_DEFINE_HANDLE(LiteRtCompilerPlugin);  // once more, as in LiteRT's own plug-ins

struct LiteRtCompilerPluginT
{
    LiteRtTransformation transformation;
};

struct LiteRtCompiledResultT
{
    LiteRtParamIndex part_number;
};

const char* LiteRtGetCompilerPluginSocManufacturer()
{
    return "Reader";
}

LiteRtStatus LiteRtGetCompilerPluginVersion(LiteRtApiVersion* api_version)
{
    *api_version = {LITERT_API_VERSION_MAJOR, LITERT_API_VERSION_MINOR + ADDED_TO_VERSION,
                    LITERT_API_VERSION_PATCH};
    return kLiteRtStatusOk;
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
    *supported_hardware = kLiteRtHwAcceleratorCpu;
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetNumCompilerPluginSupportedSocModels(LiteRtCompilerPlugin,
                                                          LiteRtParamIndex* num_models)
{
    *num_models = 4;
    return kLiteRtStatusOk;
}

// The second has no name, and is left out.
LiteRtStatus LiteRtGetCompilerPluginSupportedSocModel(LiteRtCompilerPlugin, LiteRtParamIndex index,
                                                      const char** soc_model)
{
    static const char* const models[] = {"Good", nullptr, "Old", "Miscounting"};
    if (!models[index]) return kLiteRtStatusErrorNotFound;
    *soc_model = models[index];
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetCompilerPluginSDKVersion(LiteRtCompilerPlugin, const char** sdk_version)
{
    *sdk_version = "sdk 7.3";
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtCompilerPluginCheckCompilerCompatibility(LiteRtApiVersion api_version,
                                                            LiteRtCompilerPlugin,
                                                            LiteRtEnvironmentOptions, LiteRtOptions,
                                                            const char* soc_model)
{
    if (api_version.major != 0 || api_version.minor != 1) return kLiteRtStatusErrorWrongVersion;
    const bool is_old = soc_model && std::strcmp(soc_model, "Old") == 0;
    return is_old ? kLiteRtStatusErrorUnsupportedCompilerVersion : kLiteRtStatusOk;
}

LiteRtStatus LiteRtCompilerPluginRegisterAllTransformations(LiteRtCompilerPlugin compiler_plugin,
                                                            LiteRtTransformation** transformations,
                                                            LiteRtParamIndex* num_patterns)
{
    compiler_plugin->transformation = {
        [](LiteRtBuilder, LiteRtOp) { return kLiteRtStatusPatternNoMatch; }, "fold_gates", 100};
    *transformations = &compiler_plugin->transformation;
    *num_patterns = 1;
    return kLiteRtStatusOk;
}

namespace {

// The first fault that was found, as a string.
std::string complaint;

void Expect(bool is_so, const char* what)
{
    if (!is_so && complaint.empty()) complaint = what;
}
#define EXPECT_SO(condition) Expect(condition, #condition)
#define EXPECT_OK(call) EXPECT_SO((call) == kLiteRtStatusOk)
#define EXPECT_WRONG(call) EXPECT_SO((call) == kLiteRtStatusErrorInvalidArgument)

LiteRtTensor InputOf(LiteRtOp op, LiteRtParamIndex index)
{
    LiteRtTensor tensor = nullptr;
    EXPECT_OK(LiteRtGetOpInput(op, index, &tensor));
    return tensor;
}

LiteRtTensor OutputOf(LiteRtOp op)
{
    LiteRtTensor tensor = nullptr;
    LiteRtParamIndex number = 0;
    EXPECT_OK(LiteRtGetNumOpOutputs(op, &number));
    EXPECT_SO(number == 1);
    EXPECT_OK(LiteRtGetOpOutput(op, 0, &tensor));
    EXPECT_SO(LiteRtGetOpOutput(op, 1, &tensor) == kLiteRtStatusErrorIndexOOB);
    return tensor;
}

int32_t BufferOf(LiteRtTensor tensor)
{
    LiteRtWeights weights = nullptr;
    int32_t id = -1;
    EXPECT_OK(LiteRtGetTensorWeights(tensor, &weights));
    EXPECT_OK(LiteRtGetWeightsBufferId(weights, &id));
    return id;
}

// "x" is of floats [3, 8]; no node computes it.
void ReadInput(LiteRtTensor x)
{
    const char* name = nullptr;
    uint32_t index = 99;
    LiteRtTensorTypeId type_id = kLiteRtUnrankedTensorType;
    LiteRtRankedTensorType type = {};
    LiteRtUnrankedTensorType unranked = {};
    EXPECT_OK(LiteRtGetTensorName(x, &name));
    EXPECT_SO(std::string(name) == "x");
    EXPECT_OK(LiteRtGetTensorIndex(x, &index));
    EXPECT_SO(index < 99);
    EXPECT_OK(LiteRtGetTensorTypeId(x, &type_id));
    EXPECT_SO(type_id == kLiteRtRankedTensorType);
    EXPECT_OK(LiteRtGetRankedTensorType(x, &type));
    EXPECT_SO(type.element_type == kLiteRtElementTypeFloat32 && type.layout.rank == 2);
    EXPECT_SO(type.layout.dimensions[0] == 3 && type.layout.dimensions[1] == 8);
    EXPECT_SO(LiteRtGetUnrankedTensorType(x, &unranked) == kLiteRtStatusErrorInvalidIrType);
    LiteRtWeights weights = nullptr;
    const void* bytes = nullptr;
    size_t size = 99;
    EXPECT_OK(LiteRtGetTensorWeights(x, &weights));
    EXPECT_OK(LiteRtGetWeightsBytes(weights, &bytes, &size));
    EXPECT_SO(size == 0);
    EXPECT_SO(BufferOf(x) == 0);
    bool has_op = true;
    LiteRtTensorDefiningOp defining = {};
    EXPECT_OK(LiteRtGetTensorDefiningOp(x, &has_op, &defining));
    EXPECT_SO(!has_op);
}

// The scale is 0.25 and the zero point 7 for the whole tensor.
void ReadQuantisation(LiteRtTensor quantised, LiteRtTensor other)
{
    LiteRtQuantizationTypeId id = kLiteRtQuantizationNone;
    LiteRtQuantizationPerTensor one = {};
    LiteRtQuantizationPerChannel many = {};
    LiteRtQuantizationBlockWise blocks = {};
    EXPECT_OK(LiteRtGetQuantizationTypeId(quantised, &id));
    EXPECT_SO(id == kLiteRtQuantizationPerTensor);
    EXPECT_SO(litert::Tensor(quantised).QTypeId() == kLiteRtQuantizationPerTensor);
    EXPECT_OK(LiteRtGetPerTensorQuantization(quantised, &one));
    EXPECT_SO(one.scale == 0.25f && one.zero_point == 7);
    EXPECT_WRONG(LiteRtGetPerChannelQuantization(quantised, &many));
    EXPECT_WRONG(LiteRtGetBlockWiseQuantization(quantised, &blocks));
    EXPECT_OK(LiteRtGetQuantizationTypeId(other, &id));
    EXPECT_SO(id == kLiteRtQuantizationNone);
    EXPECT_SO(litert::Tensor(other).QTypeId() == kLiteRtQuantizationNone);
    EXPECT_WRONG(LiteRtGetPerTensorQuantization(other, &one));
}

// The scales are 0.5 and 0.125, the zero points 3 and -4, for the two slices of the first
// dimension.
void ReadQuantisationOfSlices(LiteRtTensor quantised)
{
    LiteRtQuantizationTypeId id = kLiteRtQuantizationNone;
    LiteRtQuantizationPerTensor one = {};
    LiteRtQuantizationPerChannel many = {};
    EXPECT_OK(LiteRtGetQuantizationTypeId(quantised, &id));
    EXPECT_SO(id == kLiteRtQuantizationPerChannel);
    EXPECT_SO(litert::Tensor(quantised).QTypeId() == kLiteRtQuantizationPerChannel);
    EXPECT_WRONG(LiteRtGetPerTensorQuantization(quantised, &one));
    EXPECT_OK(LiteRtGetPerChannelQuantization(quantised, &many));
    EXPECT_SO(many.quantized_dimension == 0 && many.num_channels == 2);
    EXPECT_SO(many.scales[0] == 0.5f && many.scales[1] == 0.125f);
    EXPECT_SO(many.zero_points[0] == 3 && many.zero_points[1] == -4);
}

int32_t first_buffer = 0;

// "scaled": x * factor. The factor has a scale, and its bytes are the first of "scale".
void ReadMul(LiteRtOp op)
{
    ReadInput(InputOf(op, 0));
    ReadQuantisation(InputOf(op, 1), InputOf(op, 0));
    first_buffer = BufferOf(InputOf(op, 1));
    EXPECT_SO(first_buffer > 0);
    // The reader of its result is the normalisation, as its first input.
    LiteRtParamIndex uses = 0, input = 9;
    LiteRtOp reader = nullptr;
    LiteRtOpCode code = kLiteRtOpCodeTflCustom;
    EXPECT_OK(LiteRtGetNumTensorUses(OutputOf(op), &uses));
    EXPECT_SO(uses == 1);
    EXPECT_OK(LiteRtGetTensorUse(OutputOf(op), 0, &reader, &input));
    EXPECT_OK(LiteRtGetOpCode(reader, &code));
    EXPECT_SO(code == kLiteRtOpCodeShloComposite && input == 0);
    EXPECT_SO(LiteRtGetTensorUse(OutputOf(op), 1, &reader, &input) == kLiteRtStatusErrorIndexOOB);
}

// Reads a flexbuffer by its offsets: the value of the only key of the root, a map.
float ReadEpsilon(const uint8_t* bytes, int32_t size)
{
    const uint8_t* root = bytes + size - 3;
    EXPECT_SO(root[2] == 1 && root[1] == (9 << 2 | 2));
    const uint8_t* values = root - root[0];
    const auto read = [](const uint8_t* at) {
        return static_cast<uint32_t>(at[0]) | static_cast<uint32_t>(at[1]) << 8 |
               static_cast<uint32_t>(at[2]) << 16 | static_cast<uint32_t>(at[3]) << 24;
    };
    EXPECT_SO(read(values - 4) == 1 && read(values - 8) == 1);
    EXPECT_SO(values[4] == (3 << 2 | 2));
    const uint8_t* keys = values - 12 - read(values - 12);
    EXPECT_SO(keys[-1] == 1);
    EXPECT_SO(std::string(reinterpret_cast<const char*>(keys - keys[0])) == "epsilon");
    const uint32_t bits = read(values);
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

// "normal": of "scaled", with the factors "scale" and an epsilon of 0.125.
void ReadNormalisation(LiteRtOp op)
{
    const char* name = nullptr;
    const uint8_t* attributes = nullptr;
    int32_t index = 9, version = 9, size = 0;
    EXPECT_OK(LiteRtGetSHLOCompositeOpName(op, &name));
    EXPECT_SO(std::string(name) == "odml.rms_norm");
    EXPECT_OK(LiteRtGetSHLOCompositeOpDecompositionSubgraphIndex(op, &index));
    EXPECT_SO(index == -1);
    EXPECT_OK(LiteRtGetSHLOCompositeOpVersion(op, &version));
    EXPECT_SO(version == 1);
    EXPECT_OK(LiteRtGetSHLOCompositeOpAttributes(op, &attributes, &size));
    EXPECT_SO(ReadEpsilon(attributes, size) == 0.125f);
    LiteRtParamIndex number = 0;
    EXPECT_OK(LiteRtGetNumOpInputs(op, &number));
    EXPECT_SO(number == 2);
    EXPECT_SO(BufferOf(InputOf(op, 1)) == first_buffer);
    bool has_op = false;
    LiteRtTensorDefiningOp defining = {};
    EXPECT_OK(LiteRtGetTensorDefiningOp(InputOf(op, 0), &has_op, &defining));
    EXPECT_SO(has_op && defining.op_output_index == 0);
    EXPECT_SO(OutputOf(defining.op) == InputOf(op, 0));
    const char* code = nullptr;
    EXPECT_WRONG(LiteRtGetCustomCode(op, &code));
}

// "product": MatMul of "normal" and the numbers 0, 1, ... as a matrix [8, 2].
void ReadMatMul(LiteRtOp op)
{
    LiteRtWeights weights = nullptr;
    const void* bytes = nullptr;
    size_t size = 0;
    EXPECT_OK(LiteRtGetTensorWeights(InputOf(op, 1), &weights));
    EXPECT_OK(LiteRtGetWeightsBytes(weights, &bytes, &size));
    EXPECT_SO(BufferOf(InputOf(op, 1)) != first_buffer);
    EXPECT_SO(size == 8 * 2 * sizeof(float) && static_cast<const float*>(bytes)[5] == 5.0f);
    const litert::Tensor matrix(InputOf(op, 1));
    EXPECT_SO(matrix.IsConstant() && !matrix.Weights().Bytes().empty());
    EXPECT_SO(matrix.Weights().Bytes()[4] == static_cast<const uint8_t*>(bytes)[4]);
    EXPECT_SO(matrix.Name() == "matrix" && !matrix.IsSubgraphInput());
    EXPECT_SO(matrix.ElementType() == litert::ElementType::Float32);
    ReadQuantisationOfSlices(InputOf(op, 1));
    int32_t index;
    EXPECT_WRONG(LiteRtGetSHLOCompositeOpVersion(op, &index));
}

// "y": Softplus, which TFLite does not have.
void ReadSoftplus(LiteRtOp op)
{
    const char* code = nullptr;
    const uint8_t* options = nullptr;
    const char* name = nullptr;
    int32_t size = 9;
    EXPECT_OK(LiteRtGetCustomCode(op, &code));
    EXPECT_SO(std::string(code) == "Softplus");
    EXPECT_OK(LiteRtGetCustomOptions(op, &options, &size));
    EXPECT_SO(!options && size == 0);
    EXPECT_WRONG(LiteRtGetSHLOCompositeOpName(op, &name));
}

// "clipped": "x" up to 4, of no minimum. The handle of an absent input is NULL, which all refuse.
void ReadClip(LiteRtOp op)
{
    LiteRtParamIndex number = 0;
    EXPECT_OK(LiteRtGetNumOpInputs(op, &number));
    EXPECT_SO(number == 3 && !InputOf(op, 1));
    LiteRtRankedTensorType type = {};
    LiteRtWeights weights = nullptr;
    EXPECT_WRONG(LiteRtGetRankedTensorType(InputOf(op, 1), &type));
    EXPECT_WRONG(LiteRtGetTensorWeights(InputOf(op, 1), &weights));
    EXPECT_WRONG(LiteRtGetNumTensorUses(InputOf(op, 1), &number));
    const std::vector<litert::Tensor> inputs = litert::Op(op).Inputs();
    EXPECT_SO(inputs.size() == 3 && inputs[0].IsSubgraphInput() && inputs[2].IsConstant());
    EXPECT_SO(!inputs[1].Get() && inputs[1].Name().empty() && !inputs[1].IsConstant());
    EXPECT_SO(!inputs[1].IsSubgraphInput() && !inputs[1].RankedTensorType());
    EXPECT_SO(inputs[1].ElementType() == litert::ElementType::None);
    EXPECT_SO(inputs[1].QTypeId() == kLiteRtQuantizationNone);
    EXPECT_SO(*litert::Op(op).CustomCode() == "Clip");
}

// "found": NonZero of "x"; its result's shape is unknown.
void ReadNonZero(LiteRtOp op)
{
    LiteRtTensorTypeId type_id = kLiteRtRankedTensorType;
    LiteRtRankedTensorType type = {};
    LiteRtUnrankedTensorType unranked = {};
    EXPECT_OK(LiteRtGetTensorTypeId(OutputOf(op), &type_id));
    EXPECT_SO(type_id == kLiteRtUnrankedTensorType);
    EXPECT_OK(LiteRtGetUnrankedTensorType(OutputOf(op), &unranked));
    EXPECT_SO(unranked.element_type == kLiteRtElementTypeInt64);
    EXPECT_SO(LiteRtGetRankedTensorType(OutputOf(op), &type) == kLiteRtStatusErrorInvalidIrType);
    EXPECT_SO(litert::Tensor(OutputOf(op)).RankedTensorType().Error().Status() ==
              kLiteRtStatusErrorInvalidIrType);
}

void ReadBorders(LiteRtSubgraph subgraph)
{
    LiteRtParamIndex number = 0;
    LiteRtTensor tensor = nullptr;
    LiteRtOp op = nullptr;
    EXPECT_OK(LiteRtGetNumSubgraphInputs(subgraph, &number));
    EXPECT_SO(number == 1);
    EXPECT_OK(LiteRtGetSubgraphInput(subgraph, 0, &tensor));
    EXPECT_SO(litert::Tensor(tensor).Name() == "x");
    EXPECT_SO(LiteRtGetSubgraphInput(subgraph, 1, &tensor) == kLiteRtStatusErrorIndexOOB);
    EXPECT_OK(LiteRtGetNumSubgraphOutputs(subgraph, &number));
    EXPECT_SO(number == 3);
    EXPECT_OK(LiteRtGetSubgraphOutput(subgraph, 2, &tensor));
    EXPECT_SO(litert::Tensor(tensor).Name() == "found");
    EXPECT_SO(LiteRtGetSubgraphOutput(subgraph, 3, &tensor) == kLiteRtStatusErrorIndexOOB);
    EXPECT_OK(LiteRtGetNumSubgraphOps(subgraph, &number));
    EXPECT_SO(number == 6);
    EXPECT_SO(LiteRtGetSubgraphOp(subgraph, number, &op) == kLiteRtStatusErrorIndexOOB);
}

void Read(LiteRtOp op)
{
    static const std::map<std::string, void (*)(LiteRtOp)> readers = {
        {"scaled", ReadMul}, {"normal", ReadNormalisation}, {"product", ReadMatMul},
        {"y", ReadSoftplus}, {"clipped", ReadClip},         {"found", ReadNonZero},
    };
    const char* name = nullptr;
    EXPECT_OK(LiteRtGetTensorName(OutputOf(op), &name));
    readers.at(name)(op);
}

std::vector<LiteRtOp> ReadOps(LiteRtSubgraph subgraph)
{
    std::vector<LiteRtOp> ops;
    LiteRtParamIndex number = 0;
    EXPECT_OK(LiteRtGetNumSubgraphOps(subgraph, &number));
    for (LiteRtParamIndex i = 0; i < number; ++i) {
        LiteRtOp op = nullptr;
        LiteRtOpCode code = kLiteRtOpCodeTflConv2d;
        EXPECT_OK(LiteRtGetSubgraphOp(subgraph, i, &op));
        EXPECT_OK(LiteRtGetOpCode(op, &code));
        EXPECT_SO(code == litert::Op(op).Code());
        ops.push_back(op);
    }
    return ops;
}

// The product, as the only part.
void ReadModel(LiteRtModel model)
{
    LiteRtParamIndex number = 0;
    LiteRtSubgraph subgraph = nullptr;
    LiteRtTensor tensor = nullptr;
    EXPECT_OK(LiteRtGetNumModelSubgraphs(model, &number));
    EXPECT_SO(number == 1);
    EXPECT_SO(LiteRtGetModelSubgraph(model, 1, &subgraph) == kLiteRtStatusErrorIndexOOB);
    EXPECT_OK(LiteRtGetModelSubgraph(model, 0, &subgraph));
    EXPECT_OK(LiteRtGetNumSubgraphOps(subgraph, &number));
    EXPECT_SO(number == 1);
    EXPECT_OK(LiteRtGetNumSubgraphInputs(subgraph, &number));
    EXPECT_SO(number == 1);
    EXPECT_OK(LiteRtGetSubgraphInput(subgraph, 0, &tensor));
    const auto wrapped = litert::Model::CreateFromNonOwnedHandle(model);
    EXPECT_SO(wrapped.NumSubgraphs() == 1 && wrapped.Subgraph(0)->Get() == subgraph);
    EXPECT_SO(wrapped.Subgraph(1).Error().Status() == kLiteRtStatusErrorIndexOOB);
    const litert::Op op = wrapped.Subgraph(0)->Ops()[0];
    EXPECT_SO(op.Inputs()[0].Get() == tensor && op.Inputs()[0].IsSubgraphInput());
    EXPECT_SO(!op.Inputs()[0].IsConstant() && op.Inputs()[1].IsConstant());
    EXPECT_SO(wrapped.Subgraph(0)->Outputs()[0].Get() == op.Outputs()[0].Get());
}

LiteRtStatus TakeProduct(LiteRtSubgraph subgraph, LiteRtOpList selected_ops)
{
    for (const litert::Op& op : litert::Subgraph(subgraph).Ops())
        if (op.Is(kLiteRtOpCodeTflBatchMatmul))
            LITERT_RETURN_IF_ERROR(LiteRtPushOp(selected_ops, op.Get(), 0));
    return kLiteRtStatusOk;
}

}  // namespace

LiteRtStatus LiteRtCompilerPluginPartition(LiteRtCompilerPlugin, const char* soc_model,
                                           LiteRtSubgraph subgraph, LiteRtOpList selected_ops)
{
    if (std::strcmp(soc_model, "Miscounting") == 0) return TakeProduct(subgraph, selected_ops);
    complaint.clear();
    ReadBorders(subgraph);
    const std::vector<LiteRtOp> ops = ReadOps(subgraph);
    for (const LiteRtOp op : ops)
        Read(op);
    for (const LiteRtOp op : ops)
        tengine_op_list_refuse(selected_ops->list, op->node, "%s",
                               complaint.empty() ? "as expected" : complaint.c_str());
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtCompilerPluginCompile(LiteRtCompilerPlugin, const char*, LiteRtModel partitions,
                                         LiteRtCompiledResult* compiled_result)
{
    complaint.clear();
    ReadModel(partitions);
    if (!complaint.empty()) {
        TLOG_ERR("%s", complaint.c_str());
        return kLiteRtStatusErrorInvalidGraphInvariant;
    }
    *compiled_result = new LiteRtCompiledResultT{partitions->subgraphs.size()};
    return kLiteRtStatusOk;
}

void LiteRtDestroyCompiledResult(LiteRtCompiledResult compiled_result)
{
    delete compiled_result;
}

LiteRtStatus LiteRtGetNumCompiledResultCalls(LiteRtCompiledResult compiled_result,
                                             LiteRtParamIndex* num_calls)
{
    *num_calls = compiled_result->part_number + 1;
    return kLiteRtStatusOk;
}

// ---- not called, since too many calls are reported ----

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

#include "tengine/compat/litert/litert.hpp"

TENGINE_LITERT_COMPILER("READER", "1.0", "none");
