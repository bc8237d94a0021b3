// SPDX-License-Identifier: Apache-2.0
// Tensors of graphs, and the failures of calls (model.h), for programs without the commands, too.
#include "model.h"
#include "tengine/string.h"
#include "tensor_file/failure.h"

namespace tengine::tools {

void fail_api(const std::string& subject)
{
    throw Failure(subject + ": " + get_tengine_error());
}

Tensor describe_tensor(tensor_t tensor)
{
    Tensor result;
    result.name = get_tensor_name(tensor);
    result.data_type = get_tensor_data_type(tensor);
    int dims[MAX_SHAPE_DIM_NUM];
    const int dim_num = get_tensor_shape(tensor, dims, MAX_SHAPE_DIM_NUM);
    if (dim_num < 0) fail_api(result.name);
    result.shape.assign(dims, dims + dim_num);
    return result;
}

Tensor copy_tensor(tensor_t tensor, const std::string& subject)
{
    const Tensor described = describe_tensor(tensor);
    Tensor copy =
        make_tensor(described.data_type, {described.shape.begin(), described.shape.end()});
    copy.name = described.name;
    for (size_t i = 0; i < copy.texts.size(); ++i) {
        const char* text = tengine_string_get(tensor, static_cast<int>(i));
        if (!text) fail_api(subject);
        copy.texts[i] = text;
    }
    if (!copy.bytes.empty() &&
        get_tensor_data(tensor, copy.bytes.data(), static_cast<int>(copy.bytes.size())) < 0)
        fail_api(subject);
    return copy;
}

}  // namespace tengine::tools
