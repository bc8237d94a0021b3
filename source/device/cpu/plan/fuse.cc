// SPDX-License-Identifier: Apache-2.0
// Steps take over the nodes after them that their kernels compute before they store a result: a
// sum with what has been computed before, and an activation or a table; and a product before them
// that weights can have instead. The nodes that exporters write for LayerNormalization become one
// step.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#include "device/cpu/kernel/norm/layer_norm.h"
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

// A mean along the last axis, which stays and has more than one element.
bool is_mean_of_rows(const Step& step)
{
    if (!is_operator(step, "ReduceMean")) return false;
    const tensor &x = *step.inputs[0], &mean = *step.outputs[0];
    const int last = x.dim_num - 1;
    return is_fast_float(x.data_type) && last >= 0 && mean.dim_num == x.dim_num && x.elem_num > 0 &&
           x.dims[last] > 1 && mean.dims[last] == 1 && std::equal(x.dims, x.dims + last, mean.dims);
}

#ifndef TENGINE_MINIMAL
bool is_operator_of(const Step& step, const char* domain, const char* op)
{
    const node* node = step.context.node;
    return !std::strcmp(get_ir_node_domain(node), domain) && !std::strcmp(get_ir_node_op(node), op);
}
#endif

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
        constexpr bool kHasMeans = is_selected("ReduceMean");
        for (size_t i = 0; i < steps_.size(); ++i)
            if (!steps_[i].dynamic && !is_gone_[i] && !(kHasMeans && fuse_layer_norm(i, steps_[i])))
                fuse_around(i, steps_[i]);
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
#ifndef TENGINE_MINIMAL
        if (is_operator(step, "QLinearConv")) return fuse_bytes(index, step, *kernel);
#endif
        if (!kernel->fuses) return;
        fuse_after(index, step);
#ifndef TENGINE_MINIMAL
        if constexpr (is_selected("Mul"))
            if (kernel->scales) fuse_scale(index, step);
#endif
    }

    void fuse_after(size_t index, Step& step)
    {
        if constexpr (is_selected("MatMul")) fuse_bias(index, step);
        if constexpr (is_selected("Add")) fuse_sum(index, step);
        if constexpr (is_selected("Erf"))
            if (fuse_gelu(index, step)) return;
        if (fuse_activation(index, step)) return;
        if constexpr (is_selected("Sigmoid") || is_selected("HardSigmoid")) fuse_gate(index, step);
    }

    // The steps that read a result; none where it is an output of the part, too.
    const Vector<size_t>* readers_of(const Step& step) const
    {
        const Uses* uses = uses_.find(step.outputs[0]);
        return uses && !uses->is_border ? &uses->readers : nullptr;
    }

    const Step* only_reader_of(const Step& step, size_t* out_index) const
    {
        const Vector<size_t>* readers = readers_of(step);
        if (!readers || readers->size() != 1) return nullptr;
        *out_index = readers->front();
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

#ifndef TENGINE_MINIMAL
    // For a convolution of int8, the sum with others and the table that its results go through.
    void fuse_bytes(size_t index, Step& step, const Kernel& kernel)
    {
        if constexpr (is_selected("com.microsoft.QLinearAdd"))
            if (kernel.fuses) fuse_byte_sum(index, step);
        if constexpr (is_selected("tengine.Lookup"))
            if (kernel.looks_up) fuse_table(index, step);
    }

    // As fuse_sum(), for a QLinearAdd.
    void fuse_byte_sum(size_t index, Step& step)
    {
        size_t next;
        const Step* sum = only_reader_of(step, &next);
        if (!sum || !is_operator_of(*sum, "com.microsoft", "QLinearAdd")) return;
        const auto input = [sum](size_t i) {
            return i < sum->inputs.size() ? sum->inputs[i] : nullptr;
        };
        const size_t own = input(0) == step.outputs[0] ? 0 : 3, other = 3 - own;
        tensor* addend = input(other);
        tensor* const scales[] = {input(own + 1),   input(own + 2), input(other + 1),
                                  input(other + 2), input(6),       input(7)};
        const Uses* uses = uses_.find(addend);
        ByteAddition addition;
        if (!uses || uses->writer > index || !has_same_shape(*addend, *step.outputs[0]) ||
            !has_same_shape(*addend, *sum->outputs[0]) ||
            !describe_byte_addition(scales, addend->data_type, &addition))
            return;
        step.inputs.resize(kByteAddendInput, nullptr);
        step.context.fusion.addend = kByteAddendInput;
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
#endif

    // A pointwise convolution of x * s, with a factor for each channel, as squeeze-and-excitation
    // has it: the weights are multiplied in place of x where they are fewer. efficientnet_b0 takes
    // 4 % less time so.
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
            !is_pointwise_of_one_image(result, product, weight))
            return;
        const int place = has_same_shape(*scaling.inputs[0], product) ? 0 : 1;
        tensor* x = scaling.inputs[static_cast<size_t>(place)];
        tensor* factors = scaling.inputs[static_cast<size_t>(1 - place)];
        const int64_t pixels = int64_t{result.dims[2]} * result.dims[3];
        if (x->tensor_type == TENSOR_TYPE_CONST || !has_same_shape(*x, product) ||
            factors->dim_num != 4 || factors->elem_num != product.dims[1] ||
            factors->dims[1] != product.dims[1] || factors->data_type != product.data_type ||
            pixels < 2 * int64_t{weight.dims[0]})
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

    static bool is_pointwise_of_one_image(const tensor& result, const tensor& input,
                                          const tensor& weight)
    {
        return input.dim_num == 4 && result.dim_num == 4 && input.dims[0] == 1 &&
               weight.dims[1] == input.dims[1] && weight.dims[2] == 1 && weight.dims[3] == 1 &&
               std::equal(input.dims + 2, input.dims + 4, result.dims + 2);
    }

    bool fuse_activation(size_t index, Step& step)
    {
        size_t next;
        const Step* function = only_reader_of(step, &next);
        Fusion fusion = step.context.fusion;
        if (!function || !read_activation(*function, &fusion)) return false;
        step.context.fusion = fusion;
        take_over(index, step, next);
        return true;
    }

    // Whether a constant of one element is what its type has for the number.
    static bool is_near(const tensor& constant, float number)
    {
        float rounded = number;
        if (constant.data_type == TENGINE_DT_FP16) rounded = Half(number);
        if (constant.data_type == TENGINE_DT_BF16) rounded = BFloat16(number);
        return std::fabs(read_float(constant, 0) - rounded) <= 1e-6f;
    }

    // The step that computes op(x, c) from the result of `from` and nothing else, with a constant
    // of one element near `number`; null if there is none. c may come first in sums and products.
    const Step* find_scaling(const char* op, const tensor* from, double number, size_t reader) const
    {
        const Step& step = steps_[reader];
        if (step.dynamic || !is_operator(step, op) || step.inputs.size() != 2) return nullptr;
        const bool commutes = is_operator(step, "Add") || is_operator(step, "Mul");
        if (!commutes && step.inputs[0] != from) return nullptr;
        const tensor* other = step.inputs[step.inputs[0] == from ? 1 : 0];
        const bool is_number = other->tensor_type == TENSOR_TYPE_CONST &&
                               is_fast_float(other->data_type) && other->elem_num == 1;
        if (!is_number || !is_near(*other, static_cast<float>(number))) return nullptr;
        return uses_.find(step.outputs[0])->is_border ? nullptr : &step;
    }

    // x * (erf(x / sqrt(2)) + 1) * 0.5, as exporters write GELU in five nodes.
    bool fuse_gelu(size_t index, Step& step)
    {
        const Vector<size_t>* readers = readers_of(step);
        if (!readers || readers->size() != 2) return false;
        const size_t first = std::min(readers->front(), readers->back());
        const size_t product = std::max(readers->front(), readers->back());
        size_t erf, sum, half;
        const Step* scaled = find_scaling("Div", step.outputs[0], std::sqrt(2.0), first);
        const Step* function = scaled ? only_reader_of(*scaled, &erf) : nullptr;
        const Step* gate =
            function && is_operator(*function, "Erf") ? only_reader_of(*function, &sum) : nullptr;
        size_t next;
        if (!gate || !find_scaling("Add", function->outputs[0], 1, sum) ||
            !only_reader_of(*gate, &next) || next != product ||
            !is_operator(steps_[product], "Mul") || !only_reader_of(steps_[product], &half) ||
            !is_operator(steps_[half], "Mul") || !is_half(steps_[half], steps_[product].outputs[0]))
            return false;
        step.context.fusion.activation = Activation::kGelu;
        for (const size_t gone : {first, erf, sum, product})
            is_gone_[gone] = true;
        take_over(index, step, half);
        return true;
    }

    static bool is_half(const Step& step, const tensor* from)
    {
        const tensor* other = step.inputs[step.inputs[0] == from ? 1 : 0];
        return other->tensor_type == TENSOR_TYPE_CONST && other->elem_num == 1 &&
               is_fast_float(other->data_type) && read_float(*other, 0) == 0.5f;
    }

    // x * sigmoid(x), and the same with HardSigmoid.
    void fuse_gate(size_t index, Step& step)
    {
        const Vector<size_t>* readers = readers_of(step);
        if (!readers || readers->size() != 2) return;
        const size_t gate = std::min(readers->front(), readers->back());
        const size_t product = std::max(readers->front(), readers->back());
        if (gate == product || steps_[gate].dynamic || steps_[product].dynamic ||
            !is_operator(steps_[product], "Mul"))
            return;
        size_t next;
        Fusion fusion = step.context.fusion;
        if (!only_reader_of(steps_[gate], &next) || next != product ||
            !read_activation(steps_[gate], &fusion))
            return;
        if (fusion.activation == Activation::kSigmoid)
            fusion.activation = Activation::kSilu;
        else if (fusion.activation == Activation::kHardSigmoid &&
                 fusion.parameters[0] == 1.0f / 6 && fusion.parameters[1] == 0.5f)
            fusion.activation = Activation::kHardSwish;
        else
            return;
        step.context.fusion = fusion;
        is_gone_[gate] = true;
        take_over(index, step, product);
    }

    // The only reader of a result if it is the operator `op` with the result as its input `place`.
    const Step* find_next(const Step& step, const char* op, size_t place, size_t* out_index) const
    {
        const Step* next = only_reader_of(step, out_index);
        const bool fits = next && is_operator(*next, op) && next->inputs.size() > place &&
                          next->inputs[place] == step.outputs[0];
        return fits ? next : nullptr;
    }

    // The same where the other of its two inputs is a constant of `count` elements, or one.
    const Step* find_scaled(const Step& step, const char* op, int count, size_t* out_index,
                            tensor** out_constant) const
    {
        const Step* next = only_reader_of(step, out_index);
        if (!next || !is_operator(*next, op)) return nullptr;
        tensor* other = next->inputs[next->inputs[0] == step.outputs[0] ? 1 : 0];
        *out_constant = other;
        const bool fits = other->tensor_type == TENSOR_TYPE_CONST &&
                          is_fast_float(other->data_type) && other->elem_num == count &&
                          (count == 1 || other->dims[other->dim_num - 1] == count) &&
                          has_same_shape(*step.outputs[0], *next->outputs[0]);
        return fits ? next : nullptr;
    }

    // c = x - mean(x); c / sqrt(mean(c^2) + epsilon) * scale + bias, in nine nodes.
    bool fuse_layer_norm(size_t index, Step& step)
    {
        const Kernel* kernel = find_fused_layer_norm();
        if (!kernel || !is_mean_of_rows(step)) return false;
        size_t sub, pow, mean, add, sqrt, div, scale, bias;
        tensor *epsilon, *factor, *shift;
        const Step* left = find_next(step, "Sub", 1, &sub);
        if (!left || left->inputs[0] != step.inputs[0]) return false;
        const Vector<size_t>* readers = readers_of(*left);
        if (!readers || readers->size() != 2) return false;
        pow = std::min(readers->front(), readers->back());
        div = std::max(readers->front(), readers->back());
        size_t next;
        const Step* square = find_scaling("Pow", left->outputs[0], 2, pow);
        const Step* variance = square ? find_next(*square, "ReduceMean", 0, &mean) : nullptr;
        const Step* sum = variance && is_mean_of_rows(*variance)
                              ? find_scaled(*variance, "Add", 1, &add, &epsilon)
                              : nullptr;
        const Step* root = sum ? find_next(*sum, "Sqrt", 0, &sqrt) : nullptr;
        const Step* quotient = root ? find_next(*root, "Div", 1, &next) : nullptr;
        if (!quotient || next != div || quotient->inputs[0] != left->outputs[0]) return false;
        const int count = step.inputs[0]->dims[step.inputs[0]->dim_num - 1];
        const Step* scaled = find_scaled(*quotient, "Mul", count, &scale, &factor);
        if (!scaled || !find_scaled(*scaled, "Add", count, &bias, &shift)) return false;
        for (const size_t gone : {sub, pow, mean, add, sqrt, div, scale})
            is_gone_[gone] = true;
        step.kernel = kernel;
        step.context.fusion.parameters[0] = read_float(*epsilon, 0);
        tensor* x = step.inputs[0];
        step.inputs.clear();
        for (tensor* input : {x, factor, shift})
            step.inputs.push_back(input);
        take_over(index, step, bias);
        return true;
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
#ifndef TENGINE_MINIMAL
    static constexpr int kByteAddendInput = 9;  // after all that a QLinearConv has
#endif

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
