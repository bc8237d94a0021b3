// SPDX-License-Identifier: Apache-2.0
// See kernel_recorder.h.
#include "kernel_recorder.h"

namespace tengine {

Recorder& self(custom_kernel_ops* ops)
{
    return *reinterpret_cast<Recorder*>(ops);
}

int Recorder::note(const std::string& name, const custom_kernel_tensor* const* in, int in_num,
                   const custom_kernel_tensor* const* out, int out_num)
{
    calls.push_back(name);
    inputs.clear();
    outputs.clear();
    for (int i = 0; i < in_num; ++i)
        inputs.push_back(!in[i] ? custom_kernel_tensor() : *in[i]);
    for (int i = 0; i < out_num; ++i)
        outputs.push_back(!out[i] ? custom_kernel_tensor() : *out[i]);
    if (name == "prerun" && results[name] == 0) ++prepared;
    if (name == "postrun") --prepared;
    return result_of(name);
}

int Recorder::result_of(const std::string& name)
{
    const int result = results[name];
    if (result == 0 || sentence.empty()) return result;
    return tengine_error_set(result, "%s", sentence.c_str());
}

static void compute(const Recorder& kernel)
{
    for (const custom_kernel_tensor& output : kernel.outputs)
        for (int i = 0; i < output.element_num; ++i) {
            float sum = 0;
            for (const custom_kernel_tensor& input : kernel.inputs)
                if (input.data) sum += static_cast<const float*>(input.data)[i % input.element_num];
            static_cast<float*>(output.data)[i] = 2 * sum + 1;
        }
}

Recorder::Recorder()
{
    ops.kernel_name = "double";
    ops.bind = [](custom_kernel_ops* own, const custom_kernel_tensor* in[], int in_num,
                  const custom_kernel_tensor* out[],
                  int out_num) { return self(own).note("bind", in, in_num, out, out_num); };
    ops.prerun = [](custom_kernel_ops* own, custom_kernel_tensor* in[], int in_num,
                    custom_kernel_tensor* out[], int out_num, int dynamic_shape) {
        self(own).dynamic = dynamic_shape;
        return self(own).note("prerun", in, in_num, out, out_num);
    };
    ops.run = [](custom_kernel_ops* own, custom_kernel_tensor* in[], int in_num,
                 custom_kernel_tensor* out[], int out_num) {
        Recorder& kernel = self(own);
        const int status = kernel.note("run", in, in_num, out, out_num);
        kernel.input_data.clear();
        kernel.output_data.clear();
        for (const custom_kernel_tensor& input : kernel.inputs)
            kernel.input_data.push_back(input.data);
        for (const custom_kernel_tensor& output : kernel.outputs)
            kernel.output_data.push_back(output.data);
        if (kernel.outputs[0].data_type == TENGINE_DT_FP32) compute(kernel);
        return status;
    };
    ops.postrun = [](custom_kernel_ops* own, custom_kernel_tensor* in[], int in_num,
                     custom_kernel_tensor* out[],
                     int out_num) { return self(own).note("postrun", in, in_num, out, out_num); };
    ops.release = [](custom_kernel_ops* own) { ++self(own).releases; };
}

int infer_like_input(custom_kernel_ops* ops, const int* inputs[], int, int* outputs[],
                     int output_num, int layout)
{
    Recorder& kernel = self(ops);
    kernel.calls.push_back("infer_shape");
    EXPECT_EQ(layout, TENGINE_LAYOUT_NCHW);
    int rank = 0;
    for (; inputs[0][rank] != 0; ++rank)
        for (int i = 0; i < output_num; ++i)
            outputs[i][rank] = inputs[0][rank];
    if (output_num > 1 && outputs[1] && rank > 0) outputs[1][rank - 1] *= 2;
    return kernel.result_of("infer_shape");
}

int reshape_kernel(custom_kernel_ops* ops, custom_kernel_tensor* in[], int in_num,
                   custom_kernel_tensor* out[], int out_num)
{
    return self(ops).note("reshape", in, in_num, out, out_num);
}

int tell_in_place(custom_kernel_ops* ops, int output)
{
    self(ops).calls.push_back("inplace_info");
    return output == 0 ? self(ops).in_place : -1;
}

}  // namespace tengine
