// SPDX-License-Identifier: Apache-2.0
// Pictures into tensors. The contract is in image_input.h.
#include "image_input.h"

#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"

extern "C" {
#include "image.h"
}

namespace tengine::tools {
namespace {

void copy_channels(const std::vector<float>& values, const char* option, float out_values[3])
{
    if (values.size() != 1 && values.size() != 3)
        throw Failure(std::string(option) + " has " + std::to_string(values.size()) +
                      " numbers, wanted are 1 or 3");
    for (size_t c = 0; c < 3; ++c)
        out_values[c] = values[values.size() == 1 ? 0 : c];
}

}  // namespace

void read_picture(const std::string& path, const ImageValues& values, Tensor* tensor)
{
    const std::vector<int>& shape = tensor->shape;
    const bool fits = tensor->data_type == TENGINE_DT_FP32 && shape.size() == 4 && shape[0] == 1 &&
                      (shape[1] == 1 || shape[1] == 3) && shape[2] > 0 && shape[3] > 0;
    if (!fits)
        throw Failure("'" + path +
                      "' is a picture, which needs an fp32 input of shape 1x1xHxW or " +
                      "1x3xHxW; this one is " + shape_text(shape));
    image_values channels;
    copy_channels(values.mean, "--mean", channels.mean);
    copy_channels(values.scale, "--scale", channels.scale);
    // So that a file that is not there gets the system's sentence and not the decoder's.
    read_file(path);
    const char* reason = image_load(path.c_str(), shape[1], shape[2], shape[3], &channels,
                                    reinterpret_cast<float*>(tensor->bytes.data()));
    if (reason != nullptr) throw Failure("'" + path + "': " + reason);
}

}  // namespace tengine::tools
