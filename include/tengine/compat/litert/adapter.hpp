// SPDX-License-Identifier: Apache-2.0
// A compiler plug-in of LiteRT as a compiler of tengine/compiler_plugin.h. Part of litert.hpp.
#pragma once

#include <exception>
#include <initializer_list>
#include <new>

#include "tengine/compat/litert/graph.hpp"

TENGINE_LITERT_BEGIN
namespace tengine_litert {

// A status as a failure of Tengine.
inline int to_failure(const char* function, LiteRtStatus status)
{
    if (status == kLiteRtStatusOk) return 0;
    return tengine_error_set(TENGINE_EDEVICE, "%s returned status %d", function,
                             static_cast<int>(status));
}

// Exceptions may not cross C.
template <class Function>
int guard(const char* name, const Function& function)
{
    try {
        return function();
    } catch (const std::bad_alloc&) {
        return tengine_error_set(TENGINE_ENOMEM, "%s: out of memory", name);
    } catch (const std::exception& error) {
        return tengine_error_set(TENGINE_EDEVICE, "%s: exception: %s", name, error.what());
    } catch (...) {
        return tengine_error_set(TENGINE_EDEVICE, "%s: exception", name);
    }
}

inline int create(const tengine_vendor_option_t*, int, void** out_compiler)
{
    LiteRtCompilerPlugin plugin = nullptr;
    const LiteRtStatus status = LiteRtCreateCompilerPlugin(&plugin, nullptr, nullptr);
    *out_compiler = plugin;
    return to_failure("LiteRtCreateCompilerPlugin", status);
}

inline void destroy(void* compiler)
{
    LiteRtDestroyCompilerPlugin(static_cast<LiteRtCompilerPlugin>(compiler));
}

constexpr LiteRtApiVersion kApiVersion = {LITERT_API_VERSION_MAJOR, LITERT_API_VERSION_MINOR,
                                          LITERT_API_VERSION_PATCH};

inline int check_compatibility(void* compiler, const char* soc_model)
{
    if (!LiteRtCompilerPluginCheckCompilerCompatibility) return 0;
    return to_failure(
        "LiteRtCompilerPluginCheckCompilerCompatibility",
        LiteRtCompilerPluginCheckCompilerCompatibility(
            kApiVersion, static_cast<LiteRtCompilerPlugin>(compiler), nullptr, nullptr, soc_model));
}

inline int partition(void* compiler, const char* soc_model, const struct graph* graph,
                     tengine_op_list_t* list)
{
    return guard("LiteRtCompilerPluginPartition", [&] {
        std::vector<int32_t> nodes;
        for (int32_t i = 0; i < graph->node_num; ++i)
            nodes.push_back(i);
        LiteRtSubgraphT subgraph;
        fill_subgraph(subgraph, *graph, nodes,
                      {graph->input_tensors, graph->input_tensors + graph->input_tensor_num},
                      {graph->output_tensors, graph->output_tensors + graph->output_tensor_num});
        LiteRtOpListT ops = {list};
        const int status = check_compatibility(compiler, soc_model);
        if (status < 0) return status;
        return to_failure("LiteRtCompilerPluginPartition",
                          LiteRtCompilerPluginPartition(static_cast<LiteRtCompilerPlugin>(compiler),
                                                        soc_model, &subgraph, &ops));
    });
}

// A result without a call for each part belongs to another model.
inline int check_calls(LiteRtCompiledResult result, int part_number)
{
    LiteRtParamIndex number = 0;
    const LiteRtStatus status = LiteRtGetNumCompiledResultCalls(result, &number);
    if (status != kLiteRtStatusOk) return to_failure("LiteRtGetNumCompiledResultCalls", status);
    if (number == static_cast<LiteRtParamIndex>(part_number)) return 0;
    return tengine_error_set(TENGINE_EDEVICE,
                             "LiteRtGetNumCompiledResultCalls says %zu: expected %d, one for each "
                             "part",
                             number, part_number);
}

inline int compile(void* compiler, const char* soc_model, const struct subgraph* const parts[],
                   int part_number, void** out_result)
{
    return guard("LiteRtCompilerPluginCompile", [&] {
        LiteRtModelT model;
        for (int i = 0; i < part_number; ++i) {
            const struct subgraph& part = *parts[i];
            fill_subgraph(model.subgraphs.emplace_back(), *part.graph,
                          {part.node_list, part.node_list + part.node_num},
                          {part.input_tensor_list, part.input_tensor_list + part.input_num},
                          {part.output_tensor_list, part.output_tensor_list + part.output_num});
        }
        LiteRtCompiledResult result = nullptr;
        TENGINE_RETURN_IF_ERROR(
            to_failure("LiteRtCompilerPluginCompile",
                       LiteRtCompilerPluginCompile(static_cast<LiteRtCompilerPlugin>(compiler),
                                                   soc_model, &model, &result)));
        const int status = check_calls(result, part_number);
        if (status < 0)
            LiteRtDestroyCompiledResult(result);
        else
            *out_result = result;
        return status;
    });
}

inline LiteRtCompiledResult to_result(void* result)
{
    return static_cast<LiteRtCompiledResult>(result);
}

inline int get_module_number(void* result)
{
    LiteRtParamIndex number = 0;
    const LiteRtStatus status = LiteRtCompiledResultNumByteCodeModules(to_result(result), &number);
    return status == kLiteRtStatusOk ? static_cast<int>(number) : 0;
}

inline int get_module(void* result, int index, const void** out_bytes, size_t* out_size)
{
    return to_failure(
        "LiteRtGetCompiledResultByteCode",
        LiteRtGetCompiledResultByteCode(to_result(result), static_cast<LiteRtParamIndex>(index),
                                        out_bytes, out_size));
}

// LiteRT's entry points are bytes with a length: the strings made of them live until the thread
// makes the next.
inline int get_call(void* result, int part, int* out_module, const char** out_entry_point)
{
    return guard("LiteRtGetCompiledResultCallInfo", [&] {
        static thread_local std::string entry_point;
        const void* bytes = nullptr;
        size_t size = 0;
        LiteRtParamIndex module = 0;
        const LiteRtStatus status = LiteRtGetCompiledResultCallInfo(
            to_result(result), static_cast<LiteRtParamIndex>(part), &bytes, &size, &module);
        entry_point.assign(static_cast<const char*>(bytes), bytes ? size : 0);
        *out_module = static_cast<int>(module);
        *out_entry_point = entry_point.c_str();
        return to_failure("LiteRtGetCompiledResultCallInfo", status);
    });
}

inline void destroy_result(void* result)
{
    LiteRtDestroyCompiledResult(to_result(result));
}

// The plug-in's description of itself.
struct Description
{
    std::vector<const char*> soc_models;
    std::vector<const char*> operators;
    std::string sdk_version;
    tengine_compiler_t table = {};
};

inline int check_version()
{
    LiteRtApiVersion version = kApiVersion;
    if (LiteRtGetCompilerPluginVersion) LiteRtGetCompilerPluginVersion(&version);
    if (version.major == kApiVersion.major && version.minor == kApiVersion.minor &&
        version.patch == kApiVersion.patch)
        return 0;
    return tengine_error_set(TENGINE_EVERSION,
                             "LiteRtGetCompilerPluginVersion says %d.%d.%d: expected %d.%d.%d",
                             version.major, version.minor, version.patch, kApiVersion.major,
                             kApiVersion.minor, kApiVersion.patch);
}

inline void warn_of_transformations(LiteRtCompilerPlugin plugin)
{
    LiteRtTransformation* transformations = nullptr;
    LiteRtParamIndex number = 0;
    if (!LiteRtCompilerPluginRegisterAllTransformations ||
        LiteRtCompilerPluginRegisterAllTransformations(plugin, &transformations, &number) !=
            kLiteRtStatusOk)
        return;
    for (LiteRtParamIndex i = 0; i < number; ++i)
        TLOG_WARNING("LiteRT's transformation '%s' is not applied",
                     transformations[i].name ? transformations[i].name : "");
}

inline void read_sdk_version(LiteRtCompilerPlugin plugin, std::string* sdk_version)
{
    const char* text = nullptr;
    if (LiteRtGetCompilerPluginSDKVersion &&
        LiteRtGetCompilerPluginSDKVersion(plugin, &text) == kLiteRtStatusOk && text && *text)
        *sdk_version = text;
}

inline int describe(Description& description)
{
    LiteRtCompilerPlugin plugin = nullptr;
    int status = check_version();
    if (status < 0) return status;
    status = to_failure("LiteRtCreateCompilerPlugin",
                        LiteRtCreateCompilerPlugin(&plugin, nullptr, nullptr));
    if (status < 0) return status;
    warn_of_transformations(plugin);
    read_sdk_version(plugin, &description.sdk_version);
    LiteRtHwAccelerators hardware = kLiteRtHwAcceleratorNone;
    LiteRtParamIndex number = 0;
    LiteRtGetCompilerPluginSupportedHardware(plugin, &hardware);
    LiteRtGetNumCompilerPluginSupportedSocModels(plugin, &number);
    for (LiteRtParamIndex i = 0; i < number; ++i) {
        const char* model = nullptr;
        if (LiteRtGetCompilerPluginSupportedSocModel(plugin, i, &model) == kLiteRtStatusOk)
            description.soc_models.push_back(model);
    }
    LiteRtDestroyCompilerPlugin(plugin);
    // LiteRT's numbers of hardware are Tengine's.
    description.table.hardware = static_cast<uint32_t>(hardware);
    description.table.soc_models = description.soc_models.data();
    description.table.soc_model_number = static_cast<int>(description.soc_models.size());
    return 0;
}

inline Description& description()
{
    static Description made;
    return made;
}

inline int register_plugin(const char* device, const char* sdk_version, const char* byte_code,
                           std::initializer_list<const char*> operators)
{
    return guard(device, [&] {
        description() = Description();
        description().sdk_version = sdk_version;
        description().operators = operators;
        const int status = describe(description());
        if (status < 0) return status;
        tengine_compiler_t& table = description().table;
        table.size = sizeof table;
        table.device = device;
        table.manufacturer = LiteRtGetCompilerPluginSocManufacturer();
        table.sdk_version = description().sdk_version.c_str();
        table.byte_code_version = byte_code;
        table.create = create;
        table.destroy = destroy;
        table.partition = partition;
        table.compile = compile;
        table.get_module_number = get_module_number;
        table.get_module = get_module;
        table.get_call = get_call;
        table.destroy_result = destroy_result;
        if (operators.size() > 0) table.operators = description().operators.data();
        table.operator_number = static_cast<int>(operators.size());
        table.knows_tflite = 1;
        return tengine_register_compiler(&table);
    });
}

inline int unregister_plugin()
{
    return tengine_unregister_compiler(&description().table);
}

}  // namespace tengine_litert
TENGINE_LITERT_END

// At file scope, once in the plug-in: the name of the device, and the versions of the compiler and
// of its byte code, as strings.
#define TENGINE_LITERT_COMPILER(device_name, sdk_version, byte_code_version) \
    TENGINE_LITERT_PLUGIN(device_name, sdk_version, byte_code_version, {})
// The same with the operators that the plug-in may select, by ONNX's names as strings; the device
// is asked about no others (tengine_compiler_t.operators).
#define TENGINE_LITERT_COMPILER_OF(device_name, sdk_version, byte_code_version, ...) \
    TENGINE_LITERT_PLUGIN(device_name, sdk_version, byte_code_version, {__VA_ARGS__})
#define TENGINE_LITERT_PLUGIN(device_name, sdk_version, byte_code_version, ...)             \
    static int tengine_litert_init()                                                        \
    {                                                                                       \
        return tengine_litert::register_plugin(device_name, sdk_version, byte_code_version, \
                                               __VA_ARGS__);                                \
    }                                                                                       \
    TENGINE_PLUGIN(device_name "_compiler", sdk_version, tengine_litert_init,               \
                   tengine_litert::unregister_plugin)
