// SPDX-License-Identifier: Apache-2.0
// Registration of compilers and dispatches, and the device they make.
#include "adapter/vendor_device.h"

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/guard.hpp"
#include "tengine/inspect.h"

namespace tengine::adapter {
namespace {

VendorDevice* vendors;  // all vendors' devices, in a chain

struct VectorDeleter
{
    void operator()(vector_t* list) const { release_vector(list); }
};
using IntList = std::unique_ptr<vector_t, VectorDeleter>;

VendorDevice* find_vendor(const char* name)
{
    VendorDevice* vendor = vendors;
    while (vendor && vendor->name != name)
        vendor = vendor->next;
    return vendor;
}

// This runs also when the plug-in that registered the device is unloaded.
int forget(struct device* device)
{
    VendorDevice** link = &vendors;
    while (*link && &(*link)->device != device)
        link = &(*link)->next;
    VendorDevice* vendor = *link;
    if (!vendor) return 0;
    *link = vendor->next;
    delete vendor;
    return 0;
}

int push_types(const Vector<int>& types, struct vector* list)
{
    for (const int type : types)
        if (push_vector_data(list, &type) < 0) return TENGINE_ENOMEM;
    return 0;
}

int push_all_operators(VendorDevice& vendor, struct vector* allowed)
{
    const std::lock_guard<std::mutex> lock(vendor.mutex);
    if (vendor.all_operators.empty())
        for (int i = 0; i < tengine_operator_get_number(); ++i)
            vendor.all_operators.push_back(
                get_op_type(tengine_operator_get_domain(i), tengine_operator_get_name(i)));
    return push_types(vendor.all_operators, allowed);
}

int push_operators(VendorDevice& vendor, struct vector* allowed)
{
    // A dispatch without a compiler runs parts that were compiled before.
    return vendor.compiler && vendor.compiler->operators ? push_types(vendor.operators, allowed)
                                                         : push_all_operators(vendor, allowed);
}

int describe(struct device* device, struct vector* allowed, struct vector*, struct vector* types)
{
    VendorDevice& vendor = vendor_device(device);
    TENGINE_RETURN_IF_ERROR(guarded([&] { return push_operators(vendor, allowed); },
                                    "'%s': out of memory for its operators", vendor.name.c_str()));
    for (int type = TENGINE_DT_FP32; type <= TENGINE_DT_UINT64; ++type)
        if (push_vector_data(types, &type) < 0) return TENGINE_ENOMEM;
    return 0;
}

String name_hardware(uint32_t hardware)
{
    String names;
    if (hardware & TENGINE_HARDWARE_CPU) names += " CPU";
    if (hardware & TENGINE_HARDWARE_GPU) names += " GPU";
    if (hardware & TENGINE_HARDWARE_NPU) names += " NPU";
    return names;
}

const char* features(struct device* device)
{
    VendorDevice& vendor = vendor_device(device);
    const int status = guarded(
        [&] {
            vendor.features.clear();
            if (vendor.compiler)
                vendor.features = String(vendor.compiler->manufacturer) +
                                  name_hardware(vendor.compiler->hardware) + ", compiler " +
                                  vendor.compiler->sdk_version;
            if (vendor.dispatch)
                vendor.features += String(vendor.compiler ? "; dispatch " : "dispatch ") +
                                   vendor.dispatch->version;
            return 0;
        },
        "out of memory for a string");
    return status == 0 ? vendor.features.c_str() : "";
}

// ---- options ----

const ir_device_option_t kSoc = {"soc", "", "the model of the chip to compile for"};

const ir_device_option_t* get_option(struct device* device, int index)
{
    const Registered<tengine_compiler_t>& compiler = vendor_device(device).compiler;
    if (!compiler) return nullptr;
    if (index == 0) return &kSoc;
    return index <= compiler->option_number ? &compiler->options[index - 1] : nullptr;
}

// Without a compiler, options only distinguish parts that were compiled with different ones.
int check_option(struct device* device, const char* key, const char* value)
{
    const Registered<tengine_compiler_t>& compiler = vendor_device(device).compiler;
    if (!compiler) return 0;
    return guarded(
        [&] {
            if (std::strcmp(key, kSoc.key) == 0) return check_soc_model(*compiler, value);
            String keys = kSoc.key;
            for (int i = 0; i < compiler->option_number; ++i) {
                if (std::strcmp(key, compiler->options[i].key) == 0) return 0;
                keys += String(", ") + compiler->options[i].key;
            }
            return tengine_error_set(TENGINE_ENOENT,
                                     "device '%s': unknown option '%s': expected %s",
                                     compiler->device, key, keys.c_str());
        },
        "out of memory for a string");
}

int tell_compatibility(struct device* device, const struct subgraph* part, char* text)
{
    const VendorDevice& vendor = vendor_device(device);
    const char* model = find_soc_model(vendor, *part->graph);
    std::snprintf(
        text, IR_COMPATIBILITY_SIZE, "%s%s%sbyte code %s", model ? "soc " : "", model ? model : "",
        model ? ", " : "",
        vendor.compiler ? vendor.compiler->byte_code_version : vendor.dispatch->byte_code_version);
    return 0;
}

int identify(struct device* device, const struct graph* graph, ir_identity_t* out_identity)
{
    const VendorDevice& vendor = vendor_device(device);
    const char* model = find_soc_model(vendor, *graph);
    std::snprintf(out_identity->chip, sizeof out_identity->chip, "%s", model ? model : "");
    if (vendor.dispatch)
        std::snprintf(out_identity->driver, sizeof out_identity->driver, "%s",
                      vendor.dispatch->version);
    std::snprintf(out_identity->model_options, sizeof out_identity->model_options, "%s", kSoc.key);
    return 0;
}

// ---- registration ----

void fill_tables(VendorDevice& vendor)
{
    init_ir_device(&vendor.device, vendor.name.c_str());
    vendor.device.interface = &vendor.interface;
    vendor.device.allocator = &vendor.allocator;
    vendor.device.optimizer = &vendor.optimizer;
    vendor.device.privacy = &vendor;
    fill_part_entries(vendor.interface);
    vendor.interface.init = [](struct device*) { return 0; };
    vendor.interface.release_device = forget;
    vendor.interface.features = features;
    vendor.interface.check_option = check_option;
    vendor.interface.option = get_option;
    vendor.interface.compatibility = guarded_entry<tell_compatibility>;
    vendor.interface.identify = guarded_entry<identify>;
    vendor.interface.pre_run_parts = compile_parts;
    vendor.allocator.describe = describe;
    vendor.allocator.survey = survey_graph;
    vendor.allocator.inspect = inspect_node;
    vendor.allocator.keep = keep_nodes;
    // A pass must not change the nodes that the compiler has chosen.
    vendor.optimizer.optimize_graph = [](struct graph*, int) { return 0; };
}

int find_or_make(const char* name, VendorDevice** out_vendor)
{
    *out_vendor = find_vendor(name);
    if (*out_vendor) return 0;
    return guarded(
        [&] {
            std::unique_ptr<VendorDevice> vendor(new VendorDevice);
            vendor->name = name;
            fill_tables(*vendor);
            TENGINE_RETURN_IF_ERROR(register_device(&vendor->device));
            vendor->next = vendors;
            *out_vendor = vendors = vendor.release();
            return 0;
        },
        "device '%s': out of memory", name);
}

int check_size(const char* kind, uint32_t size, size_t wanted)
{
    if (size >= wanted) return 0;
    return tengine_error_set(TENGINE_EVERSION,
                             "the table of the %s has %u bytes, expected %zu or more", kind, size,
                             wanted);
}

int check_byte_code(const VendorDevice& vendor, const char* version)
{
    const char* other = vendor.compiler   ? vendor.compiler->byte_code_version
                        : vendor.dispatch ? vendor.dispatch->byte_code_version
                                          : version;
    if (std::strcmp(version, other) == 0) return 0;
    return tengine_error_set(TENGINE_EVERSION,
                             "device '%s': byte code of version '%s', expected '%s'",
                             vendor.name.c_str(), version, other);
}

int check_compiler(const tengine_compiler_t* compiler)
{
    if (!compiler) return tengine_error_set(TENGINE_EINVAL, "the compiler is NULL");
    TENGINE_RETURN_IF_ERROR(
        check_size("compiler", compiler->size, offsetof(tengine_compiler_t, operators)));
    const bool complete = compiler->device && *compiler->device && compiler->manufacturer &&
                          compiler->sdk_version && compiler->byte_code_version &&
                          compiler->partition && compiler->compile && compiler->get_module_number &&
                          compiler->get_module && compiler->get_call && compiler->destroy_result;
    if (!complete || !compiler->create != !compiler->destroy)
        return tengine_error_set(TENGINE_EINVAL,
                                 "device '%s': the compiler lacks a string or an entry",
                                 compiler->device ? compiler->device : "");
    return 0;
}

int check_dispatch(const tengine_dispatch_t* dispatch)
{
    if (!dispatch) return tengine_error_set(TENGINE_EINVAL, "the dispatch is NULL");
    TENGINE_RETURN_IF_ERROR(
        check_size("dispatch", dispatch->size, offsetof(tengine_dispatch_t, get_soc_model)));
    const bool complete = dispatch->device && *dispatch->device && dispatch->version &&
                          dispatch->byte_code_version && dispatch->load && dispatch->unload &&
                          dispatch->create_invocation && dispatch->destroy_invocation &&
                          dispatch->attach_input && dispatch->attach_output && dispatch->invoke;
    if (!complete || !dispatch->invoke_async != !dispatch->wait)
        return tengine_error_set(TENGINE_EINVAL,
                                 "device '%s': the dispatch lacks a string or an entry",
                                 dispatch->device ? dispatch->device : "");
    return 0;
}

// The ids of the operators that the compiler lists.
int read_operators(const tengine_compiler_t& compiler, Vector<int>* out_operators)
{
    const IntList list(create_vector(sizeof(int), nullptr));
    if (!list) return TENGINE_ENOMEM;
    for (int i = 0; i < compiler.operator_number; ++i) {
        const int status = push_op_names(list.get(), &compiler.operators[i], 1);
        if (status < 0 && status != TENGINE_EOPERATOR) return status;
        if (status < 0)
            TLOG_WARNING("device '%s': the compiler's operators: %s", compiler.device,
                         tengine_error_message());
    }
    const auto* types = static_cast<const int*>(get_vector_data(list.get(), 0));
    out_operators->assign(types, types + get_vector_num(list.get()));
    return 0;
}

// Registers a table with the device of its name, which the first table creates.
template <class Table>
int enter(const Table* table, Registered<Table> VendorDevice::*place, const char* kind)
{
    VendorDevice* vendor = nullptr;
    TENGINE_RETURN_IF_ERROR(find_or_make(table->device, &vendor));
    if (vendor->*place)
        return tengine_error_set(TENGINE_EEXIST, "device '%s' has a %s already", table->device,
                                 kind);
    TENGINE_RETURN_IF_ERROR(check_byte_code(*vendor, table->byte_code_version));
    (vendor->*place).set(table);
    return 0;
}

int enter_compiler(const tengine_compiler_t* table)
{
    Registered<tengine_compiler_t> compiler;  // as long as this library's
    compiler.set(table);
    Vector<int> operators;
    if (compiler->operators) TENGINE_RETURN_IF_ERROR(read_operators(*compiler, &operators));
    TENGINE_RETURN_IF_ERROR(enter(table, &VendorDevice::compiler, "compiler"));
    find_vendor(table->device)->operators = std::move(operators);
    return 0;
}

// Unregistering the second of its tables destroys the device.
template <class Table>
int leave(const Table* table, Registered<Table> VendorDevice::*place, const char* kind)
{
    VendorDevice* vendor = vendors;
    while (vendor && (vendor->*place).given() != table)
        vendor = vendor->next;
    if (!vendor || !table)
        return tengine_error_set(TENGINE_ENOENT, "the %s is not registered", kind);
    if (vendor->use_num > 0)
        return tengine_error_set(TENGINE_ESTATE, "device '%s' is in use by a prepared graph",
                                 vendor->name.c_str());
    if (!vendor->compiler != !vendor->dispatch) return unregister_device(&vendor->device);
    (vendor->*place).set(nullptr);
    return 0;
}

}  // namespace

const char* find_soc_model(const VendorDevice& vendor, const struct graph& graph)
{
    const char* model = get_ir_device_option(&graph, &vendor.device, kSoc.key);
    return model || !vendor.dispatch->get_soc_model ? model : vendor.dispatch->get_soc_model();
}

int check_soc_model(const tengine_compiler_t& compiler, const char* model)
{
    String models;
    for (int i = 0; i < compiler.soc_model_number; ++i) {
        if (std::strcmp(compiler.soc_models[i], model) == 0) return 0;
        models += String(i == 0 ? "" : ", ") + compiler.soc_models[i];
    }
    return tengine_error_set(TENGINE_EINVAL, "device '%s': unknown chip model '%s': expected %s",
                             compiler.device, model, models.c_str());
}

}  // namespace tengine::adapter

using tengine::adapter::VendorDevice;

int tengine_register_compiler(const tengine_compiler_t* compiler)
{
    TENGINE_RETURN_IF_ERROR(tengine::adapter::check_compiler(compiler));
    return tengine::guarded([&] { return tengine::adapter::enter_compiler(compiler); },
                            "'%s': out of memory for its compiler", compiler->device);
}

int tengine_register_dispatch(const tengine_dispatch_t* dispatch)
{
    TENGINE_RETURN_IF_ERROR(tengine::adapter::check_dispatch(dispatch));
    return tengine::adapter::enter(dispatch, &VendorDevice::dispatch, "dispatch");
}

int tengine_unregister_compiler(const tengine_compiler_t* compiler)
{
    return tengine::adapter::leave(compiler, &VendorDevice::compiler, "compiler");
}

int tengine_unregister_dispatch(const tengine_dispatch_t* dispatch)
{
    return tengine::adapter::leave(dispatch, &VendorDevice::dispatch, "dispatch");
}
