// SPDX-License-Identifier: Apache-2.0
// The contract is in array.h.
#include "quantize/array.h"

#include <cmath>

#include "tengine/inspect.h"
#include "tensor_file/failure.h"

namespace tengine::tools {
namespace {

bool is_channel_count(int extent)
{
    return extent == 1 || extent == 3;
}

// The axis of four that has the channels, by their count; -1: ambiguous.
int find_channel_axis(const std::vector<int>& shape)
{
    if (shape.size() != 4 || is_channel_count(shape[1]) == is_channel_count(shape[3])) return -1;
    return is_channel_count(shape[1]) ? 1 : 3;
}

// Elements in the order of the axes `order` of the array.
Tensor transpose(const Tensor& array, const int (&order)[4])
{
    std::vector<int64_t> shape;
    size_t strides[4];
    size_t stride = 1;
    for (size_t axis = 4; axis-- > 0; stride *= static_cast<size_t>(array.shape[axis]))
        strides[axis] = stride;
    for (const int axis : order)
        shape.push_back(array.shape[static_cast<size_t>(axis)]);
    Tensor made = make_tensor(array.data_type, shape);
    made.name = array.name;
    size_t at[4] = {};
    for (size_t i = 0; i < made.element_number(); ++i) {
        size_t from = 0;
        for (size_t k = 0; k < 4; ++k)
            from += at[k] * strides[order[k]];
        set_element(&made, i, get_element(array, from));
        for (size_t k = 4; k-- > 0 && ++at[k] == static_cast<size_t>(shape[k]);)
            at[k] = 0;
    }
    return made;
}

Tensor reorder(Tensor array, const Tensor& input)
{
    const int present = find_channel_axis(array.shape);
    const int wanted = find_channel_axis(input.shape);
    if (present < 0 || wanted < 0 || present == wanted) return array;
    const int to_planes[4] = {0, 3, 1, 2}, to_pixels[4] = {0, 2, 3, 1};
    return transpose(array, wanted == 1 ? to_planes : to_pixels);
}

bool is_equal_for_channels(const float (&factors)[3])
{
    return factors[0] == factors[1] && factors[1] == factors[2];
}

Tensor scale_pixels(const Tensor& bytes, int data_type, const tengine_image_settings& settings)
{
    const int axis = find_channel_axis(bytes.shape);
    if (axis < 0 &&
        !(is_equal_for_channels(settings.mean) && is_equal_for_channels(settings.scale)))
        throw Failure("mean and scale for R,G,B need an array of 3 channels, shape is " +
                      shape_text(bytes.shape));
    size_t inner = 1;
    for (size_t i = static_cast<size_t>(axis) + 1; axis >= 0 && i < 4; ++i)
        inner *= static_cast<size_t>(bytes.shape[i]);
    const size_t channels = axis < 0 ? 1 : static_cast<size_t>(bytes.shape[axis]);
    Tensor made = make_tensor(data_type, {bytes.shape.begin(), bytes.shape.end()});
    made.name = bytes.name;
    for (size_t i = 0; i < made.element_number(); ++i) {
        const size_t c = i / inner % channels;
        const float scale = settings.scale[c] != 0 ? settings.scale[c] : 1.0f / 255.0f;
        set_element(&made, i, (get_element(bytes, i) - settings.mean[c]) * scale);
    }
    return made;
}

// Null: the type does not have a value of the array.
bool convert_numbers(const Tensor& array, int data_type, Tensor* out)
{
    *out = make_tensor(data_type, {array.shape.begin(), array.shape.end()});
    out->name = array.name;
    for (size_t i = 0; i < array.element_number(); ++i) {
        const double value = get_element(array, i);
        set_element(out, i, value);
        if (!is_floating(data_type) && get_element(*out, i) != value) return false;
    }
    return true;
}

bool is_whole(int data_type)
{
    return data_type == TENGINE_DT_INT8 || data_type == TENGINE_DT_UINT8 ||
           data_type == TENGINE_DT_INT16 || data_type == TENGINE_DT_UINT16 ||
           data_type == TENGINE_DT_INT32 || data_type == TENGINE_DT_UINT32 ||
           data_type == TENGINE_DT_INT64 || data_type == TENGINE_DT_UINT64;
}

}  // namespace

Tensor adapt_array(Tensor array, const Tensor& input, const tengine_image_settings& settings,
                   const std::string& origin)
{
    const int from = array.data_type, to = input.data_type;
    if (is_floating(from) || is_whole(from)) array = reorder(std::move(array), input);
    if (from == to) return array;
    Tensor made;
    if (from == TENGINE_DT_UINT8 && is_floating(to)) return scale_pixels(array, to, settings);
    const bool is_same_kind =
        (is_floating(from) && is_floating(to)) || (is_whole(from) && is_whole(to));
    if (is_same_kind && convert_numbers(array, to, &made)) return made;
    throw Failure("'" + origin + "' holds " + tengine_data_type_get_name(from) + ", the input '" +
                  input.name + "' takes " + tengine_data_type_get_name(to) +
                  (is_floating(to) ? ": expected floats, or uint8 as pixels" : ""));
}

}  // namespace tengine::tools
