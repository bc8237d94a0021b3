// SPDX-License-Identifier: Apache-2.0
// Pictures into tensors. The contract is in image_input.h.
#include "image_input.h"

#include "tengine/inspect.h"
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
                      " numbers, expected 1 or 3");
    for (size_t c = 0; c < 3; ++c)
        out_values[c] = values[values.size() == 1 ? 0 : c];
}

void fill_free_dimensions(const std::string& content, std::vector<int>* shape)
{
    if (shape->size() != 4) return;
    if ((*shape)[0] < 0) (*shape)[0] = 1;
    int height;
    int width;
    const char* reason = image_size(content.data(), content.size(), &height, &width);
    if (reason) throw Failure(reason);
    if ((*shape)[2] < 0) (*shape)[2] = height;
    if ((*shape)[3] < 0) (*shape)[3] = width;
}

void check_takes_picture(int data_type, const std::vector<int>& shape)
{
    const bool fits = data_type == TENGINE_DT_FP32 && shape.size() == 4 && shape[0] == 1 &&
                      (shape[1] == 1 || shape[1] == 3) && shape[2] > 0 && shape[3] > 0;
    if (!fits)
        throw Failure("a picture needs an fp32 input of shape 1x1xHxW or 1x3xHxW; this one is " +
                      std::string(tengine_data_type_get_name(data_type)) + " " + shape_text(shape));
}

}  // namespace

bool is_picture(const std::string& content)
{
    return image_is_known(content.data(), content.size()) != 0;
}

Tensor decode_picture(const std::string& content, int data_type, const std::vector<int>& shape,
                      const ImageValues& values)
{
    std::vector<int> settled = shape;
    fill_free_dimensions(content, &settled);
    check_takes_picture(data_type, settled);
    image_values channels;
    copy_channels(values.mean, "--mean", channels.mean);
    copy_channels(values.scale, "--scale", channels.scale);
    Tensor tensor = make_tensor(data_type, {settled.begin(), settled.end()});
    const char* reason =
        image_decode(content.data(), content.size(), settled[1], settled[2], settled[3], &channels,
                     reinterpret_cast<float*>(tensor.bytes.data()));
    if (reason) throw Failure(reason);
    return tensor;
}

void read_picture(const std::string& path, const ImageValues& values, Tensor* tensor)
{
    const std::string content = read_file(path);
    try {
        Tensor picture = decode_picture(content, tensor->data_type, tensor->shape, values);
        tensor->bytes = std::move(picture.bytes);
    } catch (const Failure& failure) {
        throw Failure("'" + path + "': " + failure.what());
    }
}

}  // namespace tengine::tools
