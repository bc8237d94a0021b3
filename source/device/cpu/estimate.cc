// SPDX-License-Identifier: Apache-2.0
// The roofline model (Williams, Waterman, Patterson: "Roofline", CACM 52(4), 2009): a node takes
// as long as its arithmetic or as moving its tensors, whichever is longer,
//     max(work / (rate * threads), bytes / bandwidth) + overhead,
// with rates measured on this machine with kernels of this device, for each type by itself
// (machine_rate.h). Work is multiply-accumulates; for operators that have none it is elements times
// the steps of a plain loop that one takes, from the table below. Bandwidth is taken to be used up
// by one thread. Off by a factor of two for products much smaller than the one measured, and for
// tensors that stay in the caches.
#include "device/cpu/estimate.h"

#include <algorithm>
#include <cstring>

#include "base/bandwidth.h"
#include "base/cpu.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/machine_rate.h"

namespace tengine::cpu {
namespace {

constexpr double kOverheadNs = 500;  // a step of a plan: a call, and the checks of the node

// The time of an operator without multiply-accumulates.
struct Cost
{
    const char* op;
    double steps;          // per element of the larger of input 0 and output 0
    bool is_view = false;  // input and output share their memory
};

// Costs were measured, in units of measure_step(). Other operators copy, or compute at the speed of
// memory.
constexpr Cost kCosts[] = {
    {"ArgMax", 2},
    {"ArgMin", 2},
    {"Cos", 6},
    {"CumProd", 2},
    {"CumSum", 2},
    {"Elu", 6},
    {"Erf", 6},
    {"Exp", 6},
    {"Gelu", 6},
    {"GlobalAveragePool", 1.4},
    {"GlobalMaxPool", 1.4},
    {"GroupNormalization", 4},
    {"InstanceNormalization", 4},
    {"LRN", 12},
    {"LayerNormalization", 4},
    {"Log", 6},
    {"LogSoftmax", 12},
    {"LpNormalization", 4},
    {"MeanVarianceNormalization", 4},
    {"Mish", 12},
    {"Pow", 1.5},
    {"RMSNormalization", 4},
    {"ReduceL1", 1.4},
    {"ReduceL2", 1.4},
    {"ReduceLogSumExp", 8},
    {"ReduceMax", 1.4},
    {"ReduceMean", 1.4},
    {"ReduceMin", 1.4},
    {"ReduceProd", 1.4},
    {"ReduceSum", 1.4},
    {"Resize", 1.4},
    {"Selu", 6},
    {"Sigmoid", 1.3},
    {"SimplifiedLayerNormalization", 4},
    {"Sin", 6},
    {"Softmax", 12},
    {"Softplus", 6},
    {"Sqrt", 3},
    {"Swish", 1.3},
    {"Tanh", 1.3},
    {"TopK", 12},
    {"Flatten", 0, true},
    {"Identity", 0, true},
    {"Reshape", 0, true},
    {"Squeeze", 0, true},
    {"Unsqueeze", 0, true},
};

const Cost* find_cost(const char* op)
{
    for (const Cost& cost : SelectedRows<kCosts>::list)
        if (!std::strcmp(cost.op, op)) return &cost;
    return nullptr;
}

double count_elements(const tensor* value)
{
    return value ? static_cast<double>(value->elem_num) : 0;
}

double count_bytes(const node& node)
{
    size_t bytes = 0;
    for (int i = 0; i < node.input_num; ++i)
        if (const tensor* input = get_ir_node_input(&node, i)) bytes += get_ir_tensor_bytes(input);
    for (int i = 0; i < node.output_num; ++i)
        if (const tensor* output = get_ir_node_output(&node, i))
            bytes += get_ir_tensor_bytes(output);
    return static_cast<double>(bytes);
}

// Returns the elements in the window, summed over all positions of the output.
double count_taps(const node& node)
{
    int axes = 0;
    const int64_t* kernel_shape = get_ir_node_ints(&node, "kernel_shape", &axes);
    double taps = count_elements(get_ir_node_output(&node, 0));
    for (int i = 0; i < axes; ++i)
        taps *= static_cast<double>(kernel_shape[i]);
    return taps;
}

bool is_pool(const char* op)
{
    return !std::strcmp(op, "MaxPool") || !std::strcmp(op, "AveragePool") ||
           !std::strcmp(op, "LpPool");
}

// Returns the type in which a node multiplies: that of its first input of two dimensions or more
// that is not fp32. Quantised matrices are multiplied as int8, whatever type the other operand has.
int find_product_type(const node& node)
{
    for (int i = 0; i < node.input_num; ++i) {
        const tensor* input = get_ir_node_input(&node, i);
        if (!input || input->dim_num < 2) continue;
        if (input->data_type == TENGINE_DT_INT8 || input->data_type == TENGINE_DT_UINT8)
            return TENGINE_DT_INT8;
        if (input->data_type == TENGINE_DT_FP16 || input->data_type == TENGINE_DT_BF16)
            return input->data_type;
    }
    return TENGINE_DT_FP32;
}

// Returns the multiply-accumulates per second of a kernel. Kernels that were not measured count as
// a product, or as a plain loop.
double find_mac_rate(const KernelList& kernels, const node& node)
{
    const Kernel* kernel = kernels.pick_usual(node);
    const int type = kMeasuresTypes ? find_product_type(node) : TENGINE_DT_FP32;
    const MachineRate& product = measure_product(kernels, type);
    if (!kernel || kernel == product.kernel) return product.per_second;
    const MachineRate& depthwise = measure_depthwise(kernels, type);
    if (kernel == depthwise.kernel) return depthwise.per_second;
    return std::strcmp(kernel->name, "reference") ? product.per_second
                                                  : measure_step(kernels).per_second;
}

// Returns the time on one thread in ns, assuming that the tensors are in registers.
double compute_ns(const KernelList& kernels, const node& node, const Cost* cost)
{
    const char* op = get_ir_node_op(&node);
    if (const int64_t macs = get_ir_node_macs(&node))
        return static_cast<double>(macs) / find_mac_rate(kernels, node) * 1e9;
    const double elements = std::max(count_elements(get_ir_node_input(&node, 0)),
                                     count_elements(get_ir_node_output(&node, 0)));
    const double steps = is_pool(op) ? count_taps(node) : cost ? cost->steps * elements : 0;
    return steps == 0 ? 0 : steps / measure_step(kernels).per_second * 1e9;
}

}  // namespace

double estimate_ms(const KernelList& kernels, const node& node)
{
    if (node.dynamic_shape) return 0;
    const Cost* cost = find_cost(get_ir_node_op(&node));
    if (cost && cost->is_view) return kOverheadNs * 1e-6;
    const int threads = std::clamp(node.graph->run_options->num_thread, 1, get_cpu_count());
    const double compute = compute_ns(kernels, node, cost) / threads;
    // A copy reads and writes every byte.
    const double memory = count_bytes(node) / (2 * get_copy_bandwidth()) * 1e9;
    return (std::max(compute, memory) + kOverheadNs) * 1e-6;
}

}  // namespace tengine::cpu
