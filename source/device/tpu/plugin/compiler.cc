// SPDX-License-Identifier: Apache-2.0
// The compiler as a plug-in: a module for each part.
#include "device/tpu/compiler/compiler.h"

#include <iterator>
#include <memory>

#include "base/guard.hpp"
#include "device/tpu/plugin/module.h"
#include "tengine/version.h"

namespace tengine::tpu {
namespace {

using Modules = std::vector<std::vector<uint8_t>>;

template <class Body>
int guard(const Body& body)
{
    return guarded(body, "%s: out of memory", kPluginDevice);
}

int partition(void*, const char* soc_model, const graph* graph, tengine_op_list_t* list)
{
    return guard([&]() -> int {
        Config config;
        TENGINE_RETURN_IF_ERROR(load_config(soc_model ? soc_model : "", &config));
        for (int i = 0; i < graph->node_num; ++i) {
            const node* node = get_ir_graph_node(graph, i);
            ir_verdict_t verdict = {};
            judge_node(*node, config, &verdict);
            TENGINE_RETURN_IF_ERROR(
                verdict.verdict == IR_VERDICT_YES
                    ? tengine_op_list_push(list, node, 0)
                    : tengine_op_list_refuse(list, node, "%s", verdict.message));
        }
        return TENGINE_OK;
    });
}

int compile(void*, const char* soc_model, const subgraph* const parts[], int part_num,
            void** out_result)
{
    return guard([&]() -> int {
        Config config;
        TENGINE_RETURN_IF_ERROR(load_config(soc_model ? soc_model : "", &config));
        auto modules = std::make_unique<Modules>();
        for (int i = 0; i < part_num; ++i) {
            Program program;
            TENGINE_RETURN_IF_ERROR(compile_part(*parts[i], config, &program));
            modules->push_back(make_module(config, program));
        }
        *out_result = modules.release();
        return TENGINE_OK;
    });
}

const Modules& modules_of(void* result)
{
    return *static_cast<Modules*>(result);
}

int get_module_number(void* result)
{
    return static_cast<int>(modules_of(result).size());
}

int get_module(void* result, int index, const void** out_bytes, size_t* out_size)
{
    const std::vector<uint8_t>& module = modules_of(result).at(static_cast<size_t>(index));
    *out_bytes = module.data();
    *out_size = module.size();
    return TENGINE_OK;
}

int get_call(void*, int part, int* out_module, const char** out_entry_point)
{
    *out_module = part;
    *out_entry_point = "program";
    return TENGINE_OK;
}

void destroy_result(void* result)
{
    delete static_cast<Modules*>(result);
}

tengine_compiler_t make_table()
{
    tengine_compiler_t table = {};
    table.size = sizeof table;
    table.hardware = TENGINE_HARDWARE_NPU;
    table.device = kPluginDevice;
    table.manufacturer = "tengine (simulated)";
    table.sdk_version = TENGINE_VERSION_STRING;
    table.byte_code_version = kModuleVersion;
    table.soc_models = kMachines;
    table.soc_model_number = static_cast<int>(std::size(kMachines));
    table.partition = partition;
    table.compile = compile;
    table.get_module_number = get_module_number;
    table.get_module = get_module;
    table.get_call = get_call;
    table.destroy_result = destroy_result;
    return table;
}

int register_compiler()
{
    TENGINE_RETURN_IF_ERROR(check_library("the TPU's compiler"));
    return tengine_register_compiler(plugin_compiler());
}

int unregister_compiler()
{
    return tengine_unregister_compiler(plugin_compiler());
}

}  // namespace

const tengine_compiler_t* plugin_compiler()
{
    static const tengine_compiler_t table = make_table();
    return &table;
}

}  // namespace tengine::tpu

TENGINE_PLUGIN("tpu_compiler", TENGINE_VERSION_STRING, tengine::tpu::register_compiler,
               tengine::tpu::unregister_compiler);
