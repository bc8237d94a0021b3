// SPDX-License-Identifier: Apache-2.0
// Steps take over the nodes after them that their kernels compute before they store a result: a
// sum with what has been computed before, and an activation or a table; and a product before them
// that weights can have instead.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>

#include "base/minimal.h"
#include "device/cpu/kernel/vector/byte_addition.h"
#include "device/cpu/kernel/vector/float_rows.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/plan/part_outputs.h"
#include "device/cpu/plan/step.h"
#include "device/cpu/plan/tensor_table.h"
#include "operator/onnx/activation_param.h"

namespace tengine::cpu {
namespace {

bool has_same_shape(const tensor& a, const tensor& b)
{
    return a.data_type == b.data_type && a.dim_num == b.dim_num &&
           std::equal(a.dims, a.dims + a.dim_num, b.dims);
}

bool set_clip(const Step& step, Fusion* fusion)
{
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const float otherwise[] = {-kInfinity, kInfinity};
    fusion->activation = Activation::kClip;
    for (int i = 0; i < 2; ++i) {
        const tensor* bound = step.context.input(i + 1);
        if (bound && (bound->tensor_type != TENSOR_TYPE_CONST || bound->elem_num != 1))
            return false;
        fusion->parameters[i] = bound ? read_float(*bound, 0) : otherwise[i];
    }
    return true;
}

bool is_operator_of(const Step& step, const char* domain, const char* op)
{
    const node* node = step.context.node;
    return !std::strcmp(get_ir_node_domain(node), domain) && !std::strcmp(get_ir_node_op(node), op);
}

struct Function
{
    const char* op;
    Activation activation;
    int parameter_num;
};

constexpr Function kFunctions[] = {
    {"Sigmoid", Activation::kSigmoid, 0}, {"HardSwish", Activation::kHardSwish, 0},
    {"Tanh", Activation::kTanh, 0},       {"LeakyRelu", Activation::kLeakyRelu, 1},
    {"Swish", Activation::kSwish, 1},     {"HardSigmoid", Activation::kHardSigmoid, 2},
};

static_assert(offsetof(alpha_param, alpha) == 0 && offsetof(hard_sigmoid_param, alpha) == 0 &&
              offsetof(hard_sigmoid_param, beta) == sizeof(float));

// The function of an operator of one input; false unless it is an activation that kernels fuse.
bool read_activation(const Step& step, Fusion* fusion)
{
    if (is_operator(step, "Relu")) {
        *fusion = {fusion->addend,
                   fusion->scale,
                   Activation::kClip,
                   {0.0f, std::numeric_limits<float>::infinity()}};
        return true;
    }
    if (is_operator(step, "Clip")) return set_clip(step, fusion);
    if (is_selected("Gelu") && is_operator(step, "Gelu")) {
        const bool has_tanh = !std::strcmp(step.context.param<gelu_param>().approximate, "tanh");
        fusion->activation = has_tanh ? Activation::kGeluTanh : Activation::kGelu;
        return true;
    }
    for (const Function& function : kFunctions) {
        if (!is_selected(function.op) || !is_operator(step, function.op)) continue;
        fusion->activation = function.activation;
        // Fields of the operator's parameters, from the first on.
        const auto* parameters = static_cast<const float*>(step.context.node->op.param_mem);
        std::copy_n(parameters, function.parameter_num, fusion->parameters);
        const bool is_silu = function.activation == Activation::kSwish && *parameters == 1.0f;
        if (is_silu) fusion->activation = Activation::kSilu;
        return true;
    }
    return false;
}

class Fuser
{
  public:
    Fuser(const KernelList& kernels, const subgraph& part, Vector<Step>& steps)
        : kernels_(kernels), steps_(steps), is_gone_(steps.size())
    {
        const PartOutputs border(part);
        for (size_t i = 0; i < steps.size(); ++i) {
            for (tensor* input : steps[i].inputs)
                if (input) uses_[input].readers.push_back(i);
            for (tensor* output : steps[i].outputs) {
                if (!output) continue;
                uses_[output].writer = i;
                uses_[output].is_border = border.has(*output);
            }
        }
    }

    void run()
    {
        for (size_t i = 0; i < steps_.size(); ++i)
            if (!steps_[i].dynamic && !is_gone_[i]) fuse_around(i, steps_[i]);
        drop_steps(is_gone_, steps_);
    }

  private:
    static constexpr size_t kNoStep = SIZE_MAX;

    struct Uses
    {
        Vector<size_t> readers;
        size_t writer = kNoStep;
        bool is_border = false;  // an output of the part
    };

    void fuse_around(size_t index, Step& step)
    {
        const Kernel* kernel = find_kernel_of_pixels(kernels_, step);
        if (!kernel) kernel = kernels_.pick(*step.context.node);
        if (!kernel) return;
        if (!IS_MINIMAL && is_operator(step, "QLinearConv"))
            return fuse_bytes(index, step, *kernel);
        if (!kernel->fuses) return;
        fuse_after(index, step);
        if constexpr (!IS_MINIMAL && is_selected("Mul"))
            if (kernel->scales) fuse_scale(index, step);
    }

    void fuse_after(size_t index, Step& step)
    {
        if constexpr (is_selected("MatMul")) fuse_bias(index, step);
        if constexpr (is_selected("Add")) fuse_sum(index, step);
        fuse_activation(index, step);
    }

    // Null where the result is an output of the part, too.
    const Step* only_reader_of(const Step& step, size_t* out_index) const
    {
        const Uses* uses = uses_.find(step.outputs[0]);
        if (!uses || uses->is_border || uses->readers.size() != 1) return nullptr;
        *out_index = uses->readers.front();
        return steps_[*out_index].dynamic ? nullptr : &steps_[*out_index];
    }

    // The step's result is that of the node `next` from here on.
    void take_over(size_t index, Step& step, size_t next)
    {
        step.outputs[0] = steps_[next].outputs[0];
        uses_[step.outputs[0]].writer = index;
        is_gone_[next] = true;
    }

    // A MatMul's y + b, with a number for each column.
    void fuse_bias(size_t index, Step& step)
    {
        size_t next;
        const Step* sum = only_reader_of(step, &next);
        if (!sum || !is_operator(*sum, "Add") || !is_operator(step, "MatMul")) return;
        tensor* bias = sum->inputs[sum->inputs[0] == step.outputs[0] ? 1 : 0];
        const tensor& result = *step.outputs[0];
        const int columns = result.dims[result.dim_num - 1];
        if (bias->tensor_type != TENSOR_TYPE_CONST || bias->elem_num != columns ||
            bias->dim_num < 1 || bias->dims[bias->dim_num - 1] != columns ||
            !has_same_shape(result, *sum->outputs[0]))
            return;
        step.inputs.resize(kBiasInput, nullptr);
        step.inputs.push_back(bias);
        take_over(index, step, next);
    }

    // y + z, where z has been computed when the step begins. A step with more inputs has no place
    // for z.
    void fuse_sum(size_t index, Step& step)
    {
        const size_t place = find_addend_input(step);
        if (step.inputs.size() > place) return;
        size_t next;
        const Step* sum = only_reader_of(step, &next);
        if (!sum || !is_operator(*sum, "Add")) return;
        tensor* addend = sum->inputs[sum->inputs[0] == step.outputs[0] ? 1 : 0];
        const Uses* uses = uses_.find(addend);
        if (!uses || uses->writer > index || !has_same_shape(*addend, *step.outputs[0]) ||
            !has_same_shape(*addend, *sum->outputs[0]))
            return;
        step.context.fusion.addend = static_cast<int>(place);
        step.inputs.resize(place, nullptr);
        step.inputs.push_back(addend);
        Vector<size_t>& readers = uses_[addend].readers;
        std::replace(readers.begin(), readers.end(), next, index);
        take_over(index, step, next);
    }

    // For a convolution of int8, the sum with others and the table that its results go through.
    void fuse_bytes(size_t index, Step& step, const Kernel& kernel)
    {
        if constexpr (is_selected("com.microsoft.QLinearAdd"))
            if (kernel.fuses) fuse_int8_sum(index, step);
        if constexpr (is_selected("tengine.Lookup"))
            if (kernel.looks_up) fuse_table(index, step);
    }

    // As fuse_sum(), for a QLinearAdd.
    void fuse_int8_sum(size_t index, Step& step)
    {
        size_t next;
        const Step* sum = only_reader_of(step, &next);
        if (!sum || !is_operator_of(*sum, "com.microsoft", "QLinearAdd") ||
            rounding_of(*sum->context.node) == IR_ROUNDING_TWICE)
            return;
        const auto input = [sum](size_t i) {
            return i < sum->inputs.size() ? sum->inputs[i] : nullptr;
        };
        const size_t own = input(0) == step.outputs[0] ? 0 : 3, other = 3 - own;
        tensor* addend = input(other);
        tensor* const scales[] = {input(own + 1),   input(own + 2), input(other + 1),
                                  input(other + 2), input(6),       input(7)};
        const Uses* uses = uses_.find(addend);
        Int8Addition addition;
        if (!uses || uses->writer > index || !has_same_shape(*addend, *step.outputs[0]) ||
            !has_same_shape(*addend, *sum->outputs[0]) ||
            !describe_int8_addition(scales, addend->data_type, &addition))
            return;
        step.inputs.resize(kInt8AddendInput, nullptr);
        step.context.fusion.addend = kInt8AddendInput;
        step.inputs.push_back(addend);
        for (tensor* scale : scales)
            step.inputs.push_back(scale);
        Vector<size_t>& readers = uses_[addend].readers;
        std::replace(readers.begin(), readers.end(), next, index);
        take_over(index, step, next);
    }

    void fuse_table(size_t index, Step& step)
    {
        size_t next;
        const Step* lookup = only_reader_of(step, &next);
        if (!lookup || !is_operator_of(*lookup, "tengine", "Lookup") ||
            lookup->inputs[1]->tensor_type != TENSOR_TYPE_CONST ||
            !has_same_shape(*step.outputs[0], *lookup->outputs[0]))
            return;
        step.context.fusion.table = static_cast<int>(step.inputs.size());
        step.inputs.push_back(lookup->inputs[1]);
        take_over(index, step, next);
    }

    // A pointwise convolution of x * s, with a factor for each channel of each image or of all, as
    // squeeze-and-excitation has it: the weights are multiplied in place of x where they are fewer.
    // efficientnet_b0 takes 4 % less time so.
    void fuse_scale(size_t index, Step& step)
    {
        const tensor &product = *step.inputs[0], &weight = *step.inputs[1];
        const tensor& result = *step.outputs[0];
        const Uses* uses = uses_.find(&product);
        if (!uses || uses->writer == kNoStep || uses->is_border || uses->readers.size() != 1)
            return;
        const size_t before = uses->writer;
        const Step& scaling = steps_[before];
        if (is_gone_[before] || scaling.dynamic || !is_operator(scaling, "Mul") ||
            !is_pointwise(result, product, weight))
            return;
        const int place = has_same_shape(*scaling.inputs[0], product) ? 0 : 1;
        tensor* x = scaling.inputs[static_cast<size_t>(place)];
        tensor* factors = scaling.inputs[static_cast<size_t>(1 - place)];
        const int64_t pixels = int64_t{result.dims[2]} * result.dims[3];
        if (x->tensor_type == TENSOR_TYPE_CONST || !has_same_shape(*x, product) ||
            !are_factors_of(*factors, product) || pixels < 2 * int64_t{weight.dims[0]})
            return;
        step.context.fusion.scale = kScaleInput;
        step.inputs[0] = x;
        step.inputs.resize(kScaleInput, nullptr);
        step.inputs.push_back(factors);
        for (const tensor* input : {x, factors}) {
            Vector<size_t>& readers = uses_[input].readers;
            std::replace(readers.begin(), readers.end(), before, index);
        }
        is_gone_[before] = true;
    }

    static bool are_factors_of(const tensor& factors, const tensor& product)
    {
        return factors.dim_num == 4 && factors.data_type == product.data_type &&
               (factors.dims[0] == 1 || factors.dims[0] == product.dims[0]) &&
               factors.dims[1] == product.dims[1] &&
               factors.elem_num == int64_t{factors.dims[0]} * factors.dims[1];
    }

    static bool is_pointwise(const tensor& result, const tensor& input, const tensor& weight)
    {
        return input.dim_num == 4 && result.dim_num == 4 && weight.dims[1] == input.dims[1] &&
               weight.dims[2] == 1 && weight.dims[3] == 1 &&
               std::equal(input.dims + 2, input.dims + 4, result.dims + 2);
    }

    void fuse_activation(size_t index, Step& step)
    {
        size_t next;
        const Step* function = only_reader_of(step, &next);
        Fusion fusion = step.context.fusion;
        if (!function || !read_activation(*function, &fusion)) return;
        step.context.fusion = fusion;
        take_over(index, step, next);
    }

    // Quantised products have scales and zero points before it.
    static size_t find_addend_input(const Step& step)
    {
        static constexpr const char* kProducts[] = {"MatMulIntegerToFloat", "DynamicQuantizeMatMul",
                                                    "RowQuantizeMatMul"};
        for (const char* product : kProducts)
            if (!std::strcmp(get_ir_node_op(step.context.node), product))
                return kProductAddendInput;
        return kAddendInput;
    }

    // After input, weight and bias.
    static constexpr int kBiasInput = 2;
    static constexpr int kProductAddendInput = 7;  // in quantised products
    static constexpr int kAddendInput = 3;
    static constexpr int kScaleInput = 4;
    static constexpr int kInt8AddendInput = 9;  // after all that a QLinearConv has

    const KernelList& kernels_;
    Vector<Step>& steps_;
    Vector<bool> is_gone_;
    TensorTable<Uses> uses_;
};

}  // namespace

void fuse_steps(const KernelList& kernels, const subgraph& part, Vector<Step>& steps)
{
    Fuser(kernels, part, steps).run();
}

}  // namespace tengine::cpu
