// SPDX-License-Identifier: Apache-2.0
#include "mask_kind.h"

#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "mask.h"
#include "mask_device.h"
#include "tengine/custom_op.h"
#include "tengine/delegate.hpp"
#include "tengine/plugin_loader.h"
#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/c/c_api_opaque.h"

namespace tengine {
namespace {

size_t element_size(const tengine_op_tensor_t* tensor)
{
    return tengine_op_tensor_bytes(tensor) /
           static_cast<size_t>(tengine_op_tensor_elements(tensor));
}

// ---- callbacks of custom_op.h ----

int invoke(void*, tengine_op_context_t* context)
{
    const tengine_op_tensor_t* x = tengine_op_input(context, 0);
    mask_elements(tengine_op_tensor_data(x),
                  tengine_op_tensor_mutable_data(tengine_op_output(context, 0)),
                  tengine_op_tensor_elements(x), element_size(x));
    return 0;
}

int prepare_temporary(void*, tengine_op_context_t* context)
{
    const tengine_op_tensor_t* x = tengine_op_input(context, 0);
    tengine_op_request_temporary(context, 100);
    const int index = tengine_op_request_temporary(context, tengine_op_tensor_bytes(x));
    TENGINE_OP_ENSURE_EQ(context, index, 1);
    return tengine_op_set_output_like(context, 0, x);
}

// Computes in the temporary, and writes both completely.
int invoke_temporary(void*, tengine_op_context_t* context)
{
    const tengine_op_tensor_t* x = tengine_op_input(context, 0);
    void* temporary = tengine_op_temporary(context, 1);
    memset(tengine_op_temporary(context, 0), 0x55, 100);
    mask_elements(tengine_op_tensor_data(x), temporary, tengine_op_tensor_elements(x),
                  element_size(x));
    memcpy(tengine_op_tensor_mutable_data(tengine_op_output(context, 0)), temporary,
           tengine_op_tensor_bytes(x));
    return 0;
}

int prepare_dynamic(void*, tengine_op_context_t* context)
{
    return tengine_op_set_output_dynamic(context, 0);
}

int invoke_dynamic(void* user_data, tengine_op_context_t* context)
{
    const tengine_op_tensor_t* x = tengine_op_input(context, 0);
    std::vector<int> dims;
    for (int i = 0; i < tengine_op_tensor_rank(x); ++i)
        dims.push_back(tengine_op_tensor_dim(x, i));
    const int status =
        tengine_op_resize_output(context, 0, dims.data(), static_cast<int>(dims.size()));
    return status < 0 ? status : invoke(user_data, context);
}

// x may be both inputs. The second output has twice the elements that the first one drops.
int invoke_both(void*, tengine_op_context_t* context)
{
    const tengine_op_tensor_t* x = tengine_op_input(context, 0);
    TENGINE_OP_ENSURE_TYPE(context, x, TENGINE_DT_FP32);
    TENGINE_OP_ENSURE(
        context, tengine_op_tensor_data(x) == tengine_op_tensor_data(tengine_op_input(context, 1)));
    const auto* from = static_cast<const float*>(tengine_op_tensor_data(x));
    auto* kept = static_cast<float*>(tengine_op_tensor_mutable_data(tengine_op_output(context, 0)));
    auto* rest = static_cast<float*>(tengine_op_tensor_mutable_data(tengine_op_output(context, 1)));
    for (int64_t i = 0; i < tengine_op_tensor_elements(x); ++i) {
        kept[i] = is_kept(i) ? from[i] : 0;
        rest[i] = is_kept(i) ? 0 : from[i] + from[i];
    }
    return 0;
}

int begin(void* user_data, tengine_op_context_t* context, tengine_op_completion_t completion)
{
    std::thread([=] {
        const int status = invoke(user_data, context);
        tengine_op_complete(completion, status, nullptr);
    }).detach();
    return 0;
}

bool enter(const char* domain, const char* name, const std::function<void(tengine_op_t*)>& fill)
{
    tengine_op_t* op = tengine_op_create(domain, name, 1, 28);
    if (!op) return false;
    tengine_op_set_outputs_like(op, 0);
    fill(op);
    const int status = tengine_op_register(nullptr, op);
    tengine_op_destroy(op);
    return status == 0;
}

void fill_plain(tengine_op_t* op)
{
    tengine_op_set_invoke(op, invoke);
}

void fill_temporary(tengine_op_t* op)
{
    tengine_op_set_prepare(op, prepare_temporary);
    tengine_op_set_invoke(op, invoke_temporary);
}

void fill_dynamic(tengine_op_t* op)
{
    tengine_op_set_prepare(op, prepare_dynamic);
    tengine_op_set_invoke(op, invoke_dynamic);
}

// ---- TensorFlow Lite's names ----

TfLiteStatus prepare_tflite(TfLiteOpaqueContext* context, TfLiteOpaqueNode* node)
{
    const TfLiteOpaqueTensor* x = TfLiteOpaqueNodeGetInput(context, node, 0);
    TfLiteIntArray* size = TfLiteIntArrayCreate(TfLiteOpaqueTensorNumDims(x));
    for (int i = 0; i < size->size; ++i)
        size->data[i] = TfLiteOpaqueTensorDim(x, i);
    return TfLiteOpaqueContextResizeTensor(context, TfLiteOpaqueNodeGetOutput(context, node, 0),
                                           size);
}

TfLiteStatus invoke_tflite(TfLiteOpaqueContext* context, TfLiteOpaqueNode* node)
{
    const TfLiteOpaqueTensor* x = TfLiteOpaqueNodeGetInput(context, node, 0);
    const size_t size = tengine_tflite_size_of(TfLiteOpaqueTensorType(x));
    mask_elements(TfLiteOpaqueTensorData(x),
                  TfLiteOpaqueTensorData(TfLiteOpaqueNodeGetOutput(context, node, 0)),
                  static_cast<int64_t>(TfLiteOpaqueTensorByteSize(x) / size), size);
    return kTfLiteOk;
}

bool enter_tflite()
{
    static TfLiteOperator* op = [] {
        TfLiteOperator* made = TfLiteOperatorCreate(kTfLiteBuiltinCustom, "Mask", 1);
        TfLiteOperatorSetPrepare(made, prepare_tflite);
        TfLiteOperatorSetInvoke(made, invoke_tflite);
        return made;
    }();
    return tengine_tflite_register(nullptr, "com.example", op) == 0;
}

// ---- kernels of single nodes ----

int run_kernel(custom_kernel_ops*, custom_kernel_tensor* inputs[], int,
               custom_kernel_tensor* outputs[], int)
{
    mask_elements(inputs[0]->data, outputs[0]->data, inputs[0]->element_num,
                  static_cast<size_t>(inputs[0]->element_size));
    return 0;
}

int infer_like_input(custom_kernel_ops*, const int* inputs[], int, int* outputs[], int, int)
{
    memcpy(outputs[0], inputs[0], MAX_SHAPE_DIM_NUM * sizeof(int));
    return 0;
}

bool put_on(node_t node, int (*inplace_info)(custom_kernel_ops*, int))
{
    auto* ops = new custom_kernel_ops{};
    ops->kernel_name = "mask";
    ops->infer_shape = infer_like_input;
    ops->inplace_info = inplace_info;
    ops->run = run_kernel;
    ops->release = [](custom_kernel_ops* released) { delete released; };
    if (set_custom_kernel(node, "CPU", ops) == 0) return true;
    delete ops;
    return false;
}

bool put_plain(node_t node)
{
    return put_on(node, nullptr);
}

bool put_in_place(node_t node)
{
    return put_on(node, [](custom_kernel_ops*, int) { return 0; });
}

// ---- a delegate ----

class MaskKernel : public delegate::kernel::Kernel
{
  public:
    using Kernel::Kernel;
    int Prepare() override { return 0; }
    int ReSize() override { return 0; }
    int Execute() override
    {
        const delegate::MSTensor& x = inputs_[0];
        const auto number = static_cast<size_t>(x.ElementNum());
        mask_elements(x.Data().get(), outputs_[0].MutableData(), static_cast<int64_t>(number),
                      x.DataSize() / number);
        return 0;
    }
};

class MaskDelegate : public delegate::Delegate
{
  public:
    delegate::Status Init() override { return delegate::kSuccess; }
    delegate::Status Build(delegate::DelegateModel* model) override
    {
        delegate::KernelIter each = model->BeginKernelIterator();
        while (each != model->EndKernelIterator()) {
            const std::string name = (*each)->name();
            if (name.size() < 4 || name.compare(name.size() - 4, 4, "mask") != 0) {
                ++each;
                continue;
            }
            each = model->Replace(
                each, each + 1,
                new MaskKernel((*each)->inputs(), (*each)->outputs(), nullptr, (*each)->context()));
        }
        return delegate::kSuccess;
    }
    std::string Name() const override { return "MASK"; }
};

std::unique_ptr<delegate::DelegateDevice> mask_device;

bool enter_delegate()
{
    mask_device = std::make_unique<delegate::DelegateDevice>(std::make_shared<MaskDelegate>());
    return mask_device->Register().IsOk();
}

void leave_delegate()
{
    mask_device.reset();
}

}  // namespace

const MaskKind kMaskKinds[] = {
    {"Own", "com.example", "Mask", [] { return enter("com.example", "Mask", fill_plain); },
     nullptr},
    {"Temporary", "com.example", "Mask",
     [] { return enter("com.example", "Mask", fill_temporary); }, nullptr},
    {"Dynamic", "com.example", "Mask", [] { return enter("com.example", "Mask", fill_dynamic); },
     nullptr},
    {"Async", "com.example", "Mask",
     [] {
         return enter("com.example", "Mask",
                      [](tengine_op_t* op) { tengine_op_set_invoke_async(op, begin); });
     },
     nullptr},
    {"TwoOutputs", "com.example", "Mask",
     [] {
         return enter("com.example", "Mask",
                      [](tengine_op_t* op) { tengine_op_set_invoke(op, invoke_both); });
     },
     nullptr, nullptr, nullptr, 2, false},
    {"Override", "", "Relu", [] { return enter("", "Relu", fill_plain); }, nullptr},
    {"Tflite", "com.example", "Mask", enter_tflite, nullptr},
    {"PlugIn", "com.example", "Mask", [] { return tengine_plugin_load(MASK_PLUGIN) == 1; },
     nullptr},
    {"Kernel", "", "Relu", nullptr, put_plain},
    {"KernelInPlace", "", "Relu", nullptr, put_in_place},
    {"KernelOfOwn", "com.example", "Mask", nullptr, put_plain},
    {"Delegate", "", "Relu", enter_delegate, nullptr, "MASK", leave_delegate, 1, false, false},
    {"Compiler", "", "Relu", enter_compiler, nullptr, "MASKC", leave_compiler},
    {"Hosted", "com.example", "Mask", enter_host, nullptr, "MASKH", leave_host},
};
const int kMaskKindNum = sizeof kMaskKinds / sizeof *kMaskKinds;

}  // namespace tengine
