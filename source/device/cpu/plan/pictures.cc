// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/plan/pictures.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "device/cpu/plan/layout.h"
#include "device/cpu/shared/constant.h"
#include "operator/onnx/join_param.h"
#include "operator/onnx/norm_param.h"
#include "operator/onnx/slice_param.h"
#include "operator/onnx/transpose_param.h"

namespace tengine::cpu {
namespace {

template <class Param>
bool has_later_axis(const Step& step)
{
    const int axis = step.context.param<Param>().axis;
    return axis != 0 && axis != -step.outputs[0]->dim_num;
}

bool has_one_scale(const Step& step)
{
    return step.inputs[1]->elem_num == 1;
}

bool keeps_first_axis(const Step& step)
{
    const op_ints& perm = step.context.param<transpose_param>().perm;
    return perm.num > 0 && perm.values[0] == 0;
}

bool has_one_matrix(const Step& step)
{
    return step.inputs[0]->dim_num > 2 && step.inputs[1]->dim_num == 2;
}

bool keeps_pictures(const Step& step)
{
    slice_range ranges[MAX_SHAPE_DIM_NUM];
    return resolve_slice(step.context.node, ranges) == TENGINE_OK && ranges[0].start == 0 &&
           ranges[0].step == 1;
}

// Operators whose results are those of the pictures of input 0, with constants for the other
// inputs.
struct PictureOperator
{
    const char* op;                          // Kernel::op
    bool (*accepts)(const Step&) = nullptr;  // (optional) whether it holds for the step
};

constexpr PictureOperator kPictureOperators[] = {
    {"AveragePool"},
    {"BatchNormalization"},
    {"Conv"},
    {"ConvTranspose"},
    {"DepthToSpace"},
    {"DequantizeLinear", has_one_scale},
    {"GlobalAveragePool"},
    {"GlobalMaxPool"},
    {"GroupNormalization"},
    {"InstanceNormalization"},
    {"LayerNormalization", has_later_axis<layer_norm_param>},
    {"MatMul", has_one_matrix},
    {"MaxPool"},
    {"QLinearConv"},
    {"QuantizeLinear", has_one_scale},
    {"Reshape"},
    {"Slice", keeps_pictures},
    {"Split", has_later_axis<split_param>},
    {"Transpose", keeps_first_axis},
    {"com.microsoft.QLinearAveragePool"},
    {"com.microsoft.QLinearGlobalAveragePool"},
    {"tengine.Lookup"},
};

constexpr const char* kElementwise[] = {
    "Abs",
    "Add",
    "Cast",
    "Ceil",
    "Clip",
    "Div",
    "Elu",
    "Erf",
    "Exp",
    "Floor",
    "Gelu",
    "HardSigmoid",
    "HardSwish",
    "LeakyRelu",
    "Log",
    "Max",
    "Min",
    "Mish",
    "Mul",
    "Neg",
    "PRelu",
    "Pow",
    "Reciprocal",
    "Relu",
    "Round",
    "Selu",
    "Sigmoid",
    "Softplus",
    "Sqrt",
    "Sub",
    "Sum",
    "Swish",
    "Tanh",
    "com.microsoft.QLinearAdd",
    "com.microsoft.QLinearMul",
};

// Concat of other axes than the first has the rule of elementwise operators.
bool is_elementwise(const Step& step)
{
    const char* op = step.kernel->op;
    if (!std::strcmp(op, "Concat")) return has_later_axis<concat_param>(step);
    return std::any_of(std::begin(kElementwise), std::end(kElementwise),
                       [op](const char* each) { return !std::strcmp(op, each); });
}

bool is_picture_operator(const Step& step)
{
    for (const PictureOperator& row : kPictureOperators)
        if (!std::strcmp(row.op, step.kernel->op)) return !row.accepts || row.accepts(step);
    return false;
}

// Whether it is a step of layout.cc; its node is another step's.
bool is_copy(const Step& step)
{
    return step.kernel == find_layout_kernel(Layout::kPlanar) ||
           step.kernel == find_layout_kernel(Layout::kChannelsLast) ||
           step.kernel == find_view_kernel();
}

enum class Role : uint8_t
{
    kDivided,
    kWhole,
    kUnknown,
};

bool is_like_result(const tensor& input, const Step& step)
{
    return input.dim_num == step.outputs[0]->dim_num && input.dims[0] == step.outputs[0]->dims[0];
}

Role find_role(const Step& step, size_t index, bool is_elementwise)
{
    const tensor& input = *step.inputs[index];
    const bool is_result_like = is_like_result(input, step);
    if (is_constant(&input))
        return index == 0 || (is_elementwise && is_result_like) ? Role::kUnknown : Role::kWhole;
    if (!is_elementwise) {
        const bool is_own = index < static_cast<size_t>(step.context.node->input_num);
        return index == 0 || (!is_own && is_result_like) ? Role::kDivided : Role::kUnknown;
    }
    if (is_result_like) return Role::kDivided;
    return input.dim_num < step.outputs[0]->dim_num || input.dims[0] == 1 ? Role::kWhole
                                                                          : Role::kUnknown;
}

class Search
{
  public:
    explicit Search(const Step& step) : step_(step), node_(*step.context.node) {}

    PictureTensors run()
    {
        if (!is_known() || !add_outputs() || !add_inputs()) return {};
        tensors_.pictures = step_.outputs[0]->dims[0];
        return std::move(tensors_);
    }

  private:
    bool is_known()
    {
        if (step_.dynamic || step_.inputs.empty() || !step_.inputs[0] || step_.outputs.empty() ||
            !step_.outputs[0] || step_.outputs[0]->dim_num == 0 || step_.outputs[0]->dims[0] < 2)
            return false;
        is_copy_ = is_copy(step_);
        is_elementwise_ = !is_copy_ && is_elementwise(step_);
        return is_copy_ || is_elementwise_ || is_picture_operator(step_);
    }

    // False unless it has the pictures of the result, each of which is a whole number of bytes.
    bool add_divided(tensor* value)
    {
        if (value->dim_num == 0 || value->dims[0] != step_.outputs[0]->dims[0] ||
            value->elem_num == 0 ||
            get_ir_tensor_bytes(value) != static_cast<size_t>(value->elem_num) * value->elem_size)
            return false;
        tensors_.divided.push_back(value);
        return true;
    }

    // The positions of a MaxPool count through all pictures.
    bool add_outputs()
    {
        const bool may_have_others = !std::strcmp(step_.kernel->op, "Split");
        for (size_t i = 0; i < step_.outputs.size(); ++i) {
            tensor* output = step_.outputs[i];
            if (output && ((i > 0 && !may_have_others) || !add_divided(output))) return false;
        }
        for (int i = 0; i < node_.output_num && !is_copy_; ++i) {
            tensor* output = get_ir_node_output(&node_, i);
            if (output && !add_divided(output)) return false;
        }
        return true;
    }

    bool add_inputs()
    {
        for (size_t i = 0; i < step_.inputs.size(); ++i) {
            tensor* input = step_.inputs[i];
            if (!input) continue;
            const Role role = find_role(step_, i, is_elementwise_);
            if (role == Role::kUnknown || (role == Role::kDivided && !add_divided(input)))
                return false;
            if (role == Role::kWhole && !is_constant(input)) tensors_.whole.push_back(input);
            const bool is_own = !is_copy_ && i < static_cast<size_t>(node_.input_num);
            if (role == Role::kDivided && is_own &&
                !add_divided(get_ir_node_input(&node_, static_cast<int>(i))))
                return false;
        }
        return true;
    }

    const Step& step_;
    const node& node_;
    bool is_copy_ = false, is_elementwise_ = false;
    PictureTensors tensors_;
};

}  // namespace

PictureTensors find_pictures(const Step& step)
{
    return Search(step).run();
}

}  // namespace tengine::cpu
