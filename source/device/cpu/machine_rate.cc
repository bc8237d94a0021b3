// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/machine_rate.h"

#include <algorithm>
#include <initializer_list>
#include <memory>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/half.h"
#include "device/cpu/kernel_table.h"
#include "operator/param.h"
#include "tengine/device.h"

namespace tengine::cpu {
namespace {

constexpr double kLowestRate = 1e7;  // if nothing could be measured
// The rate is that of the fastest run: others may have been interrupted.
constexpr int kFewestRuns = 6;
constexpr uint64_t kLongEnoughNs = 500'000;

// A node that is run as a measurement. Sizes are typical of an image network, with operands that
// fit the caches.
struct Probe
{
    const char* op;
    int channels, extent, kernel;  // input 1 x channels x extent x extent
    bool has_weight;
    int group;
    int data_type;
    // The rate of a core at 1.5 GHz, which is assumed if the build lacks the operator.
    double usual_rate;
};

constexpr Probe make_product_probe(int data_type, double usual_rate)
{
    const char* op = data_type == TENGINE_DT_INT8 ? "QLinearConv" : "Conv";
    return {op, 64, 12, 3, true, 1, data_type, usual_rate};
}

constexpr Probe make_depthwise_probe(int data_type, double usual_rate)
{
    const char* op = data_type == TENGINE_DT_INT8 ? "QLinearConv" : "Conv";
    return {op, 16, 30, 3, true, 16, data_type, usual_rate};
}

constexpr Probe kFloatProduct = make_product_probe(TENGINE_DT_FP32, 8e9);
constexpr Probe kFloat16Product = make_product_probe(TENGINE_DT_FP16, 8e9);
constexpr Probe kBFloatProduct = make_product_probe(TENGINE_DT_BF16, 8e9);
constexpr Probe kInt8Product = make_product_probe(TENGINE_DT_INT8, 16e9);
constexpr Probe kFloatDepthwise = make_depthwise_probe(TENGINE_DT_FP32, 2e9);
constexpr Probe kFloat16Depthwise = make_depthwise_probe(TENGINE_DT_FP16, 2e9);
constexpr Probe kBFloatDepthwise = make_depthwise_probe(TENGINE_DT_BF16, 2e9);
constexpr Probe kInt8Depthwise = make_depthwise_probe(TENGINE_DT_INT8, 2e9);
constexpr Probe kStep = {"AveragePool", 4, 30, 3, false, 1, TENGINE_DT_FP32, 3e8};

struct GraphDeleter
{
    void operator()(graph* graph) const { destroy_ir_graph(graph); }
};
using OwnedGraph = std::unique_ptr<graph, GraphDeleter>;

// Fills with normal values; subnormal ones may take longer.
void fill(const tensor& values)
{
    switch (kMeasuresTypes ? values.data_type : TENGINE_DT_FP32) {
        case TENGINE_DT_FP32:
            return (void)std::fill_n(values.f32, values.elem_num, 0.5f);
        case TENGINE_DT_FP16:
            return (void)std::fill_n(values.f16, values.elem_num, fp32_to_fp16(0.5f));
        case TENGINE_DT_BF16:
            return (void)std::fill_n(values.f16, values.elem_num, fp32_to_bf16(0.5f));
        default:
            return (void)std::fill_n(values.i8, values.elem_num, int8_t{0});
    }
}

// Adds an input; all except the first are constants.
int add_input(node* node, int index, int data_type, std::initializer_list<int> dims)
{
    tensor* input = create_ir_tensor(node->graph, nullptr, data_type);
    if (!input) return TENGINE_ENOMEM;
    TENGINE_RETURN_IF_ERROR(
        set_ir_tensor_shape(input, dims.begin(), static_cast<int>(dims.size())));
    TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(input));
    fill(*input);
    if (index > 0) input->tensor_type = TENSOR_TYPE_CONST;
    return set_ir_node_input_tensor(node, index, input);
}

// Adds a scale and a zero point.
int add_quantization(node* node, int index)
{
    TENGINE_RETURN_IF_ERROR(add_input(node, index, TENGINE_DT_FP32, {}));
    return add_input(node, index + 1, TENGINE_DT_INT8, {});
}

int add_weight(const Probe& probe, node* node, int index)
{
    TENGINE_RETURN_IF_ERROR(set_node_int(node, "group", probe.group));
    return add_input(node, index, probe.data_type,
                     {probe.channels, probe.channels / probe.group, probe.kernel, probe.kernel});
}

int add_inputs(const Probe& probe, node* node)
{
    TENGINE_RETURN_IF_ERROR(
        add_input(node, 0, probe.data_type, {1, probe.channels, probe.extent, probe.extent}));
    if (!kMeasuresTypes || probe.data_type != TENGINE_DT_INT8)
        return probe.has_weight ? add_weight(probe, node, 1) : TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(add_quantization(node, 1));
    TENGINE_RETURN_IF_ERROR(add_weight(probe, node, 3));
    TENGINE_RETURN_IF_ERROR(add_quantization(node, 4));
    return add_quantization(node, 6);
}

int build(const Probe& probe, graph* graph, node** out_node)
{
    node* made = create_ir_node(graph, nullptr, get_op_type("", probe.op), 0);
    tensor* output = create_ir_tensor(graph, nullptr, TENGINE_DT_FP32);
    if (!made || !output) return TENGINE_ENOMEM;
    *out_node = made;
    const int64_t kernel_shape[] = {probe.kernel, probe.kernel};
    TENGINE_RETURN_IF_ERROR(set_node_ints(made, "kernel_shape", kernel_shape, 2));
    TENGINE_RETURN_IF_ERROR(add_inputs(probe, made));
    TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(made, 0, output));
    TENGINE_RETURN_IF_ERROR(made->op.infer_shape(made));
    return allocate_ir_tensor(output);
}

// Measures the shortest time of a run in ns. The first run fills the caches and is not counted.
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

// Returns the number of output elements times the inputs of each.
double count_work(const Probe& probe)
{
    const int output = probe.extent - probe.kernel + 1;
    const int read = probe.has_weight ? probe.channels / probe.group : 1;
    return 1.0 * probe.channels * output * output * read * probe.kernel * probe.kernel;
}

MachineRate measure_rate(const KernelList& kernels, const Probe& probe)
{
    MachineRate rate = {probe.usual_rate, nullptr};
    if (get_op_type("", probe.op) < 0) return rate;
    double ns = 0;
    const bool is_measured = run_probe(kernels, probe, &ns, &rate.kernel) >= 0;
    rate.per_second =
        is_measured ? std::max(count_work(probe) / ns * 1e9, kLowestRate) : kLowestRate;
    return rate;
}

template <const Probe& probe>
const MachineRate& find_rate(const KernelList& kernels)
{
    static const MachineRate rate = measure_rate(kernels, probe);
    return rate;
}

}  // namespace

const MachineRate& measure_product(const KernelList& kernels, int data_type)
{
    switch (kMeasuresTypes ? data_type : TENGINE_DT_FP32) {
        case TENGINE_DT_FP16:
            return find_rate<kFloat16Product>(kernels);
        case TENGINE_DT_BF16:
            return find_rate<kBFloatProduct>(kernels);
        case TENGINE_DT_INT8:
            return find_rate<kInt8Product>(kernels);
        default:
            return find_rate<kFloatProduct>(kernels);
    }
}

const MachineRate& measure_depthwise(const KernelList& kernels, int data_type)
{
    switch (kMeasuresTypes ? data_type : TENGINE_DT_FP32) {
        case TENGINE_DT_FP16:
            return find_rate<kFloat16Depthwise>(kernels);
        case TENGINE_DT_BF16:
            return find_rate<kBFloatDepthwise>(kernels);
        case TENGINE_DT_INT8:
            return find_rate<kInt8Depthwise>(kernels);
        default:
            return find_rate<kFloatDepthwise>(kernels);
    }
}

const MachineRate& measure_step(const KernelList& kernels)
{
    return find_rate<kStep>(kernels);
}

}  // namespace tengine::cpu
