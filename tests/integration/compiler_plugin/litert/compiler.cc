// SPDX-License-Identifier: Apache-2.0
// The compiler plug-in of LiteRT's guide, in our own words: it takes Mul, Sub, Add and the
// composite odml.rms_norm, and writes a string for each partition. Only its last lines are
// Tengine's.
//
// A string has a line for each step, and registers that are counted in the order in which they
// appear there; dispatch.cc reads it.
//
//     in REGISTER          the next input
//     out REGISTER         the next output
//     set REGISTER NUMBER VALUE ...
//     mul|sub|add Y A B    values of a register that has fewer are used again
//     rms Y X SCALE COLUMNS
#include <cstdio>
#include <map>

#include "litert/c/litert_common.h"
#include "litert/c/litert_model.h"
#include "litert/c/litert_op_code.h"
#include "litert/c/litert_op_options.h"
#include "litert/cc/litert_element_type.h"
#include "litert/cc/litert_macros.h"
#include "litert/cc/litert_model.h"
#include "litert/cc/litert_op_options.h"
#include "litert/vendors/c/litert_compiler_plugin.h"

namespace {

constexpr const char* kSocModels[] = {"ExampleSocModel", "OtherSocModel"};

}  // namespace

struct LiteRtCompilerPluginT
{
};

struct LiteRtCompiledResultT
{
    std::vector<std::string> byte_code;
    std::vector<std::string> call_info;
};

const char* LiteRtGetCompilerPluginSocManufacturer()
{
    return "ExampleSocManufacturer";
}

LiteRtStatus LiteRtCreateCompilerPlugin(LiteRtCompilerPlugin* compiler_plugin,
                                        LiteRtEnvironmentOptions, LiteRtOptions)
{
    *compiler_plugin = std::make_unique<LiteRtCompilerPluginT>().release();
    return kLiteRtStatusOk;
}

void LiteRtDestroyCompilerPlugin(LiteRtCompilerPlugin compiler_plugin)
{
    delete compiler_plugin;
}

LiteRtStatus LiteRtGetCompilerPluginSupportedHardware(LiteRtCompilerPlugin compiler_plugin,
                                                      LiteRtHwAccelerators* supported_hardware)
{
    if (!compiler_plugin || !supported_hardware) return kLiteRtStatusErrorInvalidArgument;
    *supported_hardware = kLiteRtHwAcceleratorNpu;
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetNumCompilerPluginSupportedSocModels(LiteRtCompilerPlugin,
                                                          LiteRtParamIndex* num_models)
{
    *num_models = std::size(kSocModels);
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetCompilerPluginSupportedSocModel(LiteRtCompilerPlugin, LiteRtParamIndex index,
                                                      const char** soc_model)
{
    if (index >= std::size(kSocModels)) return kLiteRtStatusErrorInvalidArgument;
    *soc_model = kSocModels[index];
    return kLiteRtStatusOk;
}

namespace {

bool IsRmsNorm(const litert::Op& op)
{
    if (op.Code() != kLiteRtOpCodeShloComposite) return false;
    const auto options = litert::GetOptionsAs<litert::CompositeOptions>(op.Get());
    return options && options->name == "odml.rms_norm";
}

const char* NameOf(const litert::Op& op)
{
    if (op.Is(kLiteRtOpCodeTflMul)) return "mul";
    if (op.Is(kLiteRtOpCodeTflSub)) return "sub";
    if (op.Is(kLiteRtOpCodeTflAdd)) return "add";
    return IsRmsNorm(op) ? "rms" : nullptr;
}

// Floats of known shapes are supported.
bool IsSupported(const litert::Tensor& tensor)
{
    const auto type = tensor.RankedTensorType();
    if (!type || type->ElementType() != litert::ElementType::Float32) return false;
    for (const int32_t dimension : type->Layout().Dimensions())
        if (dimension < 0) return false;
    return true;
}

class Writer
{
  public:
    LiteRtStatus Write(const litert::Subgraph& subgraph)
    {
        for (const litert::Tensor& input : subgraph.Inputs())
            Print("in %d\n", RegisterOf(input));
        for (const litert::Op& op : subgraph.Ops())
            LITERT_RETURN_IF_ERROR(Write(op));
        for (const litert::Tensor& output : subgraph.Outputs())
            Print("out %d\n", RegisterOf(output));
        return kLiteRtStatusOk;
    }
    std::string TakeText() { return std::move(text_); }

  private:
    LiteRtStatus Write(const litert::Op& op)
    {
        const char* name = NameOf(op);
        if (!name) return kLiteRtStatusErrorUnsupported;
        const int a = RegisterOf(op.Inputs()[0]), b = RegisterOf(op.Inputs()[1]);
        Print("%s %d %d %d", name, RegisterOf(op.Outputs()[0]), a, b);
        if (IsRmsNorm(op)) {
            LITERT_ASSIGN_OR_RETURN(const litert::RankedTensorType type,
                                    op.Inputs()[0].RankedTensorType());
            Print(" %d", type.Layout().Dimensions().back());
        }
        Print("\n");
        return kLiteRtStatusOk;
    }

    // A constant is set at its first use.
    int RegisterOf(const litert::Tensor& tensor)
    {
        const auto found = registers_.emplace(tensor.Get(), static_cast<int>(registers_.size()));
        if (found.second && tensor.IsConstant()) {
            const auto bytes = tensor.Weights().Bytes();
            std::vector<float> values(bytes.size() / sizeof(float));
            std::memcpy(values.data(), bytes.data(), bytes.size());
            Print("set %d %zu", found.first->second, values.size());
            for (const float value : values)
                Print(" %a", static_cast<double>(value));
            Print("\n");
        }
        return found.first->second;
    }

    void Print(const char* text) { text_ += text; }
    template <class First, class... Others>
    void Print(const char* format, First first, Others... others)
    {
        char line[64];
        std::snprintf(line, sizeof line, format, first, others...);
        text_ += line;
    }

    std::map<LiteRtTensor, int> registers_;
    std::string text_;
};

}  // namespace

LiteRtStatus LiteRtCompilerPluginPartition(LiteRtCompilerPlugin, const char*,
                                           LiteRtSubgraph subgraph, LiteRtOpList selected_ops)
{
    const litert::Subgraph main_subgraph(subgraph);
    for (const auto& op : main_subgraph.Ops()) {
        if (!NameOf(op) || !IsSupported(op.Outputs()[0])) continue;
        LITERT_RETURN_IF_ERROR(LiteRtPushOp(selected_ops, op.Get(), 0));
    }
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtCompilerPluginCompile(LiteRtCompilerPlugin, const char*, LiteRtModel partitions,
                                         LiteRtCompiledResult* compiled_result)
{
    auto model = litert::Model::CreateFromNonOwnedHandle(partitions);
    auto result = std::make_unique<LiteRtCompiledResultT>();
    for (size_t i = 0; i < model.NumSubgraphs(); ++i) {
        LITERT_ASSIGN_OR_RETURN(const litert::Subgraph subgraph, model.Subgraph(i));
        Writer writer;
        LITERT_RETURN_IF_ERROR(writer.Write(subgraph), "a partition");
        result->byte_code.push_back(writer.TakeText());
        result->call_info.push_back("partition_" + std::to_string(i));
    }
    *compiled_result = result.release();
    return kLiteRtStatusOk;
}

void LiteRtDestroyCompiledResult(LiteRtCompiledResult compiled_result)
{
    delete compiled_result;
}

LiteRtStatus LiteRtCompiledResultNumByteCodeModules(LiteRtCompiledResult compiled_result,
                                                    LiteRtParamIndex* num_byte_code)
{
    *num_byte_code = compiled_result->byte_code.size();
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetCompiledResultByteCode(LiteRtCompiledResult compiled_result,
                                             LiteRtParamIndex byte_code_idx, const void** byte_code,
                                             size_t* byte_code_size)
{
    if (byte_code_idx >= compiled_result->byte_code.size()) return kLiteRtStatusErrorIndexOOB;
    *byte_code = compiled_result->byte_code[byte_code_idx].data();
    *byte_code_size = compiled_result->byte_code[byte_code_idx].size();
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetNumCompiledResultCalls(LiteRtCompiledResult compiled_result,
                                             LiteRtParamIndex* num_calls)
{
    *num_calls = compiled_result->call_info.size();
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetCompiledResultCallInfo(LiteRtCompiledResult compiled_result,
                                             LiteRtParamIndex call_idx, const void** call_info,
                                             size_t* call_info_size,
                                             LiteRtParamIndex* byte_code_idx)
{
    if (call_idx >= compiled_result->call_info.size()) return kLiteRtStatusErrorIndexOOB;
    *call_info = compiled_result->call_info[call_idx].data();
    *call_info_size = compiled_result->call_info[call_idx].size();
    *byte_code_idx = call_idx;
    return kLiteRtStatusOk;
}

#include "tengine/compat/litert/litert.hpp"

TENGINE_LITERT_COMPILER("EXAMPLE", "1.0", "text 1");
