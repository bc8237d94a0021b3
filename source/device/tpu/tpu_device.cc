// SPDX-License-Identifier: Apache-2.0
// The simulated TPU as a device: the struct device around the compiler (supported nodes) and the
// driver (a compiled part).
#include <cstdio>
#include <new>

#include "base/float_to_index.h"
#include "base/guard.hpp"
#include "base/sha256.h"
#include "device/tpu/compiler/compiler.h"
#include "device/tpu/driver.h"
#include "tengine/version.h"

namespace tengine::tpu {
namespace {

extern struct device tpu_device;

template <class Body>
int guard(const char* what, const Body& body)
{
    return guarded(body, "TPU: cannot %s: out of memory", what);
}

Driver* driver_of(const subgraph* part)
{
    return static_cast<Driver*>(part->device_graph);
}

// Returns the options that survey has kept, with their values at the beginning of the preparation.
const Options& options_of(const graph& graph, const device& device)
{
    return *static_cast<const Options*>(get_ir_device_survey(&graph, &device));
}

// ---- interface ----

int init(device*)
{
    return TENGINE_OK;
}

int release_device(device*)
{
    return TENGINE_OK;
}

int release_graph(device*, void* device_graph)
{
    delete static_cast<Driver*>(device_graph);
    return TENGINE_OK;
}

int enter(device* device, subgraph* part, const SavedProgram& saved)
{
    std::unique_ptr<Driver> driver;
    TENGINE_RETURN_IF_ERROR(
        Driver::create(*part, options_of(*part->graph, *device), saved, &driver));
    const auto buffer = static_cast<size_t>(driver->config().unified_buffer_bytes);
    const auto host = static_cast<size_t>(driver->program().host_bytes);
    set_ir_part_plan_bytes(part, 0, buffer);
    set_ir_part_plan_bytes(part, 1, host);
    part->plan_bytes = buffer + host;
    part->device_graph = driver.release();
    return TENGINE_OK;
}

int pre_run(device* device, subgraph* part, void*)
{
    return guard("compile", [&]() -> int {
        // The driver for other shapes holds the tiles until the new one has them.
        const std::unique_ptr<Driver> earlier(driver_of(part));
        part->device_graph = nullptr;
        return enter(device, part, {});
    });
}

int save(device*, subgraph* part, ir_sink* sink)
{
    return guard("save", [&] {
        const std::vector<uint8_t> bytes = save_program(driver_of(part)->program());
        return write_ir_sink(sink, bytes.data(), bytes.size());
    });
}

int load(device* device, subgraph* part, const void* data, size_t size)
{
    return guard("load", [&] {
        return enter(device, part, {static_cast<const uint8_t*>(data), size});
    });
}

// The compiler compares times, so that the whole machine matters; another version may choose
// differently.
int compatibility(device* device, const subgraph* part, char* text)
{
    return guard("describe itself", [&] {
        const std::string config = print_config(options_of(*part->graph, *device).config);
        uint8_t digest[SHA256_BYTES];
        find_sha256(config.data(), config.size(), digest);
        int length = std::snprintf(text, IR_COMPATIBILITY_SIZE, "compiler %s, machine ",
                                   TENGINE_VERSION_STRING);
        for (const uint8_t byte : digest)
            length += std::snprintf(text + length, 3, "%02x", byte);
        return TENGINE_OK;
    });
}

// The simulated machine is the one that the option names.
int identify(device* device, const graph* graph, ir_identity_t* out_identity)
{
    const char* config = get_ir_device_option(graph, device, "config");
    std::snprintf(out_identity->chip, sizeof out_identity->chip, "%s", config ? config : "edge");
    std::snprintf(out_identity->driver, sizeof out_identity->driver, "%s", TENGINE_VERSION_STRING);
    std::snprintf(out_identity->model_options, sizeof out_identity->model_options, "config");
    return TENGINE_OK;
}

int run(device*, subgraph* part)
{
    return guard("run", [&] { return driver_of(part)->run(*part); });
}

int post_run(device*, subgraph*)
{
    return TENGINE_OK;
}

const char* features(device*)
{
    return "simulated";
}

int check_option(device*, const char* key, const char* value)
{
    return guard("check an option", [&] {
        Options options;
        return set_option(key, value, &options);
    });
}

const ir_device_option_t* option(device*, int index)
{
    return get_option(index);
}

int measure(device*, subgraph* part, int64_t* out_node_ns)
{
    Driver& driver = *driver_of(part);
    const Counters* counters = nullptr;
    TENGINE_RETURN_IF_ERROR(driver.count(&counters));
    for (int i = 0; i < part->node_num; ++i) {
        const int64_t cycles = counters->node_cycles.at(static_cast<size_t>(i));
        const double ns = static_cast<double>(cycles) * 1e3 / driver.config().clock_mhz;
        out_node_ns[i] = float_to_index(ns, 0, INT64_MAX);
    }
    return TENGINE_OK;
}

void append_counters(const std::vector<ir_counter_t>& counters, struct vector* out_counters)
{
    for (const ir_counter_t& counter : counters)
        if (push_vector_data(out_counters, &counter) < 0) throw std::bad_alloc();
}

int count(device*, subgraph* part, struct vector* out_counters)
{
    return guard("count", [&]() -> int {
        Driver& driver = *driver_of(part);
        const Counters* counters = nullptr;
        TENGINE_RETURN_IF_ERROR(driver.count(&counters));
        append_counters(list_counters(*counters, driver.config(), driver.macs()), out_counters);
        return TENGINE_OK;
    });
}

int count_node(device*, subgraph* part, int index, struct vector* out_counters)
{
    return guard("count", [&]() -> int {
        Driver& driver = *driver_of(part);
        const Counters* counters = nullptr;
        TENGINE_RETURN_IF_ERROR(driver.count(&counters));
        const int64_t macs = get_ir_node_macs(part->graph->node_list[part->node_list[index]]);
        const Counters& counted = counters->nodes.at(static_cast<size_t>(index));
        append_counters(list_counters(counted, driver.config(), macs), out_counters);
        return TENGINE_OK;
    });
}

int timeline(device*, subgraph* part, struct vector* out_intervals)
{
    return guard("list the times of its units", [&]() -> int {
        std::vector<ir_interval_t> intervals;
        TENGINE_RETURN_IF_ERROR(driver_of(part)->list_intervals(&intervals));
        for (const ir_interval_t& interval : intervals)
            if (push_vector_data(out_intervals, &interval) < 0) throw std::bad_alloc();
        return TENGINE_OK;
    });
}

// The unified buffer at the rate of the vector unit, and host memory at that of its port.
int memories(device* device, const graph* graph, struct vector* out_memories)
{
    return guard("list its memories", [&]() -> int {
        const Config& config = options_of(*graph, *device).config;
        const double lanes_gbps = config.vector_lanes * config.clock_mhz / 1e3;
        const ir_memory_t list[] = {
            {"buffer", config.unified_buffer_bytes, 1024 / lanes_gbps, {}},
            {"DRAM", 0, 1024 / config.host_gbps, {}},
        };
        for (const ir_memory_t& each : list)
            if (push_vector_data(out_memories, &each) < 0) throw std::bad_alloc();
        return TENGINE_OK;
    });
}

int memory(device*, subgraph* part, ir_part_memory_t* out_memory)
{
    *out_memory = driver_of(part)->memory();
    return TENGINE_OK;
}

// ---- allocator ----

int describe(device*, struct vector* allowed_ops, struct vector*, struct vector* precision)
{
    return guard("describe itself", [&]() -> int {
        const std::vector<const char*>& names = operator_names();
        TENGINE_RETURN_IF_ERROR(
            push_op_names(allowed_ops, names.data(), static_cast<int>(names.size())));
        for (const int type : {TENGINE_DT_INT8, TENGINE_DT_UINT8, TENGINE_DT_BF16})
            if (push_vector_data(precision, &type) < 0) throw std::bad_alloc();
        return TENGINE_OK;
    });
}

// Reads the options, with the machine's file, once for all other entries.
int survey(device* device, const graph* graph)
{
    return guard("read its options", [&]() -> int {
        auto options = std::make_unique<Options>();
        TENGINE_RETURN_IF_ERROR(read_options(*graph, *device, options.get()));
        const auto release = [](void* found) { delete static_cast<Options*>(found); };
        TENGINE_RETURN_IF_ERROR(set_ir_device_survey(graph, device, options.get(), release));
        options.release();
        return TENGINE_OK;
    });
}

int inspect(device* device, const node* node, ir_verdict_t* out_verdict)
{
    return guard("judge a node", [&]() -> int {
        judge_node(*node, options_of(*node->graph, *device).config, out_verdict);
        return TENGINE_OK;
    });
}

int estimate(device* device, const node* node, double* out_ms)
{
    return guard("predict", [&]() -> int {
        const Config& config = options_of(*node->graph, *device).config;
        *out_ms = static_cast<double>(predict_cycles(*node, config)) / (config.clock_mhz * 1e3);
        return TENGINE_OK;
    });
}

// ---- the device ----

struct interface make_interface()
{
    struct interface table = {};
    table.init = init;
    table.pre_run = pre_run;
    table.run = run;
    table.post_run = post_run;
    table.release_graph = release_graph;
    table.release_device = release_device;
    table.features = features;
    table.check_option = check_option;
    table.measure = guarded_entry<measure>;
    table.count = count;
    table.count_node = count_node;
    table.timeline = timeline;
    table.memory = guarded_entry<memory>;
    table.memories = memories;
    table.option = option;
    table.save = save;
    table.load = load;
    table.compatibility = compatibility;
    table.identify = identify;
    return table;
}

struct allocator make_allocator()
{
    struct allocator table = {};
    table.describe = describe;
    table.inspect = inspect;
    table.estimate = estimate;
    table.survey = survey;
    return table;
}

struct interface tpu_interface = make_interface();
struct allocator tpu_allocator = make_allocator();
struct device tpu_device = {"TPU", &tpu_interface, &tpu_allocator, nullptr, nullptr, nullptr};

}  // namespace
}  // namespace tengine::tpu

TENGINE_DEFINE_DEVICE(tpu, &tengine::tpu::tpu_device);
