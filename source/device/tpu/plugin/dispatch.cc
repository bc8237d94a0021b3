// SPDX-License-Identifier: Apache-2.0
// The simulator as a plug-in that runs modules of the compiler.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>

#include "base/guard.hpp"
#include "device/tpu/driver.h"
#include "device/tpu/plugin/module.h"
#include "tengine/version.h"

namespace tengine::tpu {
namespace {

template <class Body>
int guard(const Body& body)
{
    return guarded(body, "%s: out of memory", kPluginDevice);
}

struct Module
{
    Config config;
    Program program;
};

struct Invocation
{
    const Module* module = nullptr;
    int input_num = 0;
    std::unique_ptr<Machine> machine;
    HostMemory host;
    std::vector<uint8_t*> buffers;  // of the bindings; inputs are only read
    std::atomic<bool> cancelled{false};
    int64_t cycles = 0;
};

int load(const void* bytes, size_t size, void** out_module)
{
    return guard([&]() -> int {
        auto module = std::make_unique<Module>();
        TENGINE_RETURN_IF_ERROR(read_module(static_cast<const uint8_t*>(bytes), size,
                                            &module->config, &module->program));
        *out_module = module.release();
        return TENGINE_OK;
    });
}

void unload(void* module)
{
    delete static_cast<Module*>(module);
}

// Checks that the program's bindings are the boundary tensors of the part, inputs first.
bool has_boundary_tensors(const Program& program, int input_num, int output_num)
{
    const auto is_output = [](const Binding& binding) { return binding.is_output; };
    const auto& bindings = program.bindings;
    return std::is_partitioned(bindings.begin(), bindings.end(), std::not_fn(is_output)) &&
           std::count_if(bindings.begin(), bindings.end(), is_output) == output_num &&
           bindings.size() == static_cast<size_t>(input_num) + static_cast<size_t>(output_num);
}

int create_invocation(void* data, const char* entry_point, int input_num, int output_num,
                      void** out_invocation)
{
    return guard([&]() -> int {
        const Module& module = *static_cast<Module*>(data);
        if (std::strcmp(entry_point, "program") != 0 ||
            !has_boundary_tensors(module.program, input_num, output_num))
            return tengine_error_set(TENGINE_EFORMAT,
                                     "no entry point '%s' with %d inputs, %d outputs", entry_point,
                                     input_num, output_num);
        auto invocation = std::make_unique<Invocation>();
        invocation->module = &module;
        invocation->input_num = input_num;
        invocation->buffers.resize(module.program.bindings.size());
        TENGINE_RETURN_IF_ERROR(make_host_memory(module.program, &invocation->host));
        Counters counters;
        TENGINE_RETURN_IF_ERROR(count_cycles(module.program, module.config, &counters));
        invocation->cycles = counters.total;
        TENGINE_RETURN_IF_ERROR(Machine::create(module.config, &invocation->machine));
        *out_invocation = invocation.release();
        return TENGINE_OK;
    });
}

void destroy_invocation(void* invocation)
{
    delete static_cast<Invocation*>(invocation);
}

// Returns the index of a binding.
size_t output_of(const Invocation& invocation, int port)
{
    return static_cast<size_t>(invocation.input_num) + static_cast<size_t>(port);
}

int require(const Invocation& invocation, size_t binding, tengine_buffer_requirement_t* out)
{
    *out = {0, invocation.module->program.bindings[binding].data_type};
    return TENGINE_OK;
}

int get_input_requirement(void* data, int port, tengine_buffer_requirement_t* out)
{
    return require(*static_cast<Invocation*>(data), static_cast<size_t>(port), out);
}

int get_output_requirement(void* data, int port, tengine_buffer_requirement_t* out)
{
    const Invocation& invocation = *static_cast<Invocation*>(data);
    return require(invocation, output_of(invocation, port), out);
}

int element_of(const Binding& binding)
{
    return binding.data_type == TENGINE_DT_BF16 ? 2 : 1;
}

int attach(Invocation& invocation, size_t index, void* data, size_t size)
{
    const Binding& binding = invocation.module->program.bindings[index];
    size_t wanted = static_cast<size_t>(element_of(binding));
    for (const int dim : binding.dims)
        wanted *= static_cast<size_t>(dim);
    if (size != wanted)
        return tengine_error_set(TENGINE_EINVAL, "'%s' has %zu bytes, expected %zu",
                                 binding.name.c_str(), size, wanted);
    invocation.buffers[index] = static_cast<uint8_t*>(data);
    return TENGINE_OK;
}

int attach_input(void* data, int port, const void* buffer, size_t size)
{
    return attach(*static_cast<Invocation*>(data), static_cast<size_t>(port),
                  const_cast<void*>(buffer), size);
}

int attach_output(void* data, int port, void* buffer, size_t size)
{
    auto& invocation = *static_cast<Invocation*>(data);
    return attach(invocation, output_of(invocation, port), buffer, size);
}

int invoke(void* data)
{
    return guard([&]() -> int {
        auto& invocation = *static_cast<Invocation*>(data);
        const Program& program = invocation.module->program;
        const auto inputs = static_cast<size_t>(invocation.input_num);
        uint8_t* host = invocation.host.get();
        for (size_t i = 0; i < inputs; ++i) {
            const Binding& binding = program.bindings[i];
            pack_tensor(binding, element_of(binding), invocation.buffers[i],
                        host + binding.address);
        }
        TENGINE_RETURN_IF_ERROR(invocation.machine->run(
            program, host, {}, [&] { return invocation.cancelled.load(); }));
        for (size_t i = inputs; i < program.bindings.size(); ++i) {
            const Binding& binding = program.bindings[i];
            unpack_tensor(binding, element_of(binding), host + binding.address,
                          invocation.buffers[i]);
        }
        return TENGINE_OK;
    });
}

void cancel(void* data)
{
    static_cast<Invocation*>(data)->cancelled = true;
}

int get_metric(void* data, int index, ir_counter_t* out_metric)
{
    if (index != 0) return 0;
    std::snprintf(out_metric->name, sizeof out_metric->name, "cycles");
    std::snprintf(out_metric->unit, sizeof out_metric->unit, "cycles");
    out_metric->value = static_cast<double>(static_cast<Invocation*>(data)->cycles);
    return 1;
}

tengine_dispatch_t make_table()
{
    tengine_dispatch_t table = {};
    table.size = sizeof table;
    table.device = kPluginDevice;
    table.version = TENGINE_VERSION_STRING;
    table.byte_code_version = kModuleVersion;
    table.load = load;
    table.unload = unload;
    table.create_invocation = create_invocation;
    table.destroy_invocation = destroy_invocation;
    table.get_input_requirement = get_input_requirement;
    table.get_output_requirement = get_output_requirement;
    table.attach_input = attach_input;
    table.attach_output = attach_output;
    table.invoke = invoke;
    table.cancel = cancel;
    table.get_metric = get_metric;
    return table;
}

int register_dispatch()
{
    TENGINE_RETURN_IF_ERROR(check_library("the TPU's dispatch"));
    return tengine_register_dispatch(plugin_dispatch());
}

int unregister_dispatch()
{
    return tengine_unregister_dispatch(plugin_dispatch());
}

}  // namespace

const tengine_dispatch_t* plugin_dispatch()
{
    static const tengine_dispatch_t table = make_table();
    return &table;
}

}  // namespace tengine::tpu

TENGINE_PLUGIN("tpu_dispatch", TENGINE_VERSION_STRING, tengine::tpu::register_dispatch,
               tengine::tpu::unregister_dispatch);
