// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/machine_rate.h"

#include <algorithm>
#include <initializer_list>
#include <memory>

#include "base/alloc.h"
#include "base/clock.h"
#include "operator/param.h"
#include "tengine/device.h"

namespace tengine::cpu {
namespace {

constexpr double kLowestRate = 1e7;  // where nothing could be measured
// A rate is that of the fastest of some runs: others may have been interrupted.
constexpr int kFewestRuns = 6;
constexpr uint64_t kLongEnoughNs = 500'000;

// A node that is run to see how fast it is. Sizes as in the middle of an image network, where the
// operands fit the caches.
struct Probe
{
    const char* op;
    int channels, extent, kernel;  // input 1 x channels x extent x extent
    bool has_weight;
    int group;
    // Of a core at 1.5 GHz: what is assumed where the build has no such operator.
    double usual_rate;
};

constexpr Probe kProductProbe = {"Conv", 64, 12, 3, true, 1, 8e9};
constexpr Probe kDepthwiseProbe = {"Conv", 16, 30, 3, true, 16, 2e9};
constexpr Probe kStepProbe = {"AveragePool", 4, 30, 3, false, 1, 3e8};

struct GraphDeleter
{
    void operator()(graph* graph) const { destroy_ir_graph(graph); }
};
using OwnedGraph = std::unique_ptr<graph, GraphDeleter>;

int add_input(node* node, int index, std::initializer_list<int> dims)
{
    tensor* input = create_ir_tensor(node->graph, nullptr, TENGINE_DT_FP32);
    if (!input) return TENGINE_ENOMEM;
    TENGINE_RETURN_IF_ERROR(
        set_ir_tensor_shape(input, dims.begin(), static_cast<int>(dims.size())));
    TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(input));
    std::fill_n(input->f32, input->elem_num, 0.5f);  // no denormals, which may take longer
    if (index > 0) input->tensor_type = TENSOR_TYPE_CONST;
    return set_ir_node_input_tensor(node, index, input);
}

int build(const Probe& probe, graph* graph, node** out_node)
{
    node* made = create_ir_node(graph, nullptr, get_op_type("", probe.op), 0);
    tensor* output = create_ir_tensor(graph, nullptr, TENGINE_DT_FP32);
    if (!made || !output) return TENGINE_ENOMEM;
    *out_node = made;
    const int64_t kernel_shape[] = {probe.kernel, probe.kernel};
    TENGINE_RETURN_IF_ERROR(set_node_ints(made, "kernel_shape", kernel_shape, 2));
    TENGINE_RETURN_IF_ERROR(add_input(made, 0, {1, probe.channels, probe.extent, probe.extent}));
    if (probe.has_weight) {
        TENGINE_RETURN_IF_ERROR(set_node_int(made, "group", probe.group));
        TENGINE_RETURN_IF_ERROR(add_input(
            made, 1, {probe.channels, probe.channels / probe.group, probe.kernel, probe.kernel}));
    }
    TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(made, 0, output));
    TENGINE_RETURN_IF_ERROR(made->op.infer_shape(made));
    return allocate_ir_tensor(output);
}

// Shortest time of a run in ns. The first one fills the caches and is not counted.
int time_runs(const Kernel& kernel, KernelContext& context, double* out_ns)
{
    TENGINE_RETURN_IF_ERROR(kernel.run(context));
    const uint64_t begin = get_time_ns();
    uint64_t start = begin, best = UINT64_MAX;
    for (int run = 0; run < kFewestRuns || start - begin < kLongEnoughNs; ++run) {
        TENGINE_RETURN_IF_ERROR(kernel.run(context));
        const uint64_t end = get_time_ns();
        best = std::min(best, end - start);
        start = end;
    }
    *out_ns = static_cast<double>(std::max<uint64_t>(best, 1));
    return TENGINE_OK;
}

int run_probe(const KernelList& kernels, const Probe& probe, double* out_ns,
              const Kernel** out_kernel)
{
    const OwnedGraph graph(create_ir_graph(nullptr));
    if (!graph) return TENGINE_ENOMEM;
    KernelContext context;
    TENGINE_RETURN_IF_ERROR(build(probe, graph.get(), &context.node));
    const Kernel* kernel = kernels.pick_usual(*context.node);
    if (!kernel) return TENGINE_EOPERATOR;
    int status = kernel->prepare ? kernel->prepare(context) : TENGINE_OK;
    if (status == TENGINE_OK) {
        const std::unique_ptr<void, void (*)(void*)> scratch(alloc_memory64(context.scratch_size),
                                                             free_memory);
        context.scratch = scratch.get();
        status = scratch ? time_runs(*kernel, context, out_ns) : TENGINE_ENOMEM;
    }
    if (context.free_state) context.free_state(context.state);
    *out_kernel = kernel;
    return status;
}

// Elements of the output times those read for each.
double count_work(const Probe& probe)
{
    const int output = probe.extent - probe.kernel + 1;
    const int read = probe.has_weight ? probe.channels / probe.group : 1;
    return 1.0 * probe.channels * output * output * read * probe.kernel * probe.kernel;
}

double measure_rate(const KernelList& kernels, const Probe& probe, const Kernel** out_kernel)
{
    if (get_op_type("", probe.op) < 0) return probe.usual_rate;
    double ns = 0;
    if (run_probe(kernels, probe, &ns, out_kernel) < 0) return kLowestRate;
    return std::max(count_work(probe) / ns * 1e9, kLowestRate);
}

MachineRates measure_rates(const KernelList& kernels)
{
    MachineRates rates = {};
    const Kernel* plain = nullptr;
    rates.product = measure_rate(kernels, kProductProbe, &rates.product_kernel);
    rates.depthwise = measure_rate(kernels, kDepthwiseProbe, &rates.depthwise_kernel);
    rates.step = measure_rate(kernels, kStepProbe, &plain);
    return rates;
}

}  // namespace

const MachineRates& measure_machine(const KernelList& kernels)
{
    static const MachineRates rates = measure_rates(kernels);
    return rates;
}

}  // namespace tengine::cpu
