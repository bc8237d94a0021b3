// SPDX-License-Identifier: Apache-2.0
// Parses and prints shapes. The contract is in input_shape.h.
#include "input_shape.h"

#include <algorithm>
#include <climits>

#include "tengine/inspect.h"
#include "tengine/metadata.h"
#include "tensor_file/failure.h"
#include "tensor_file/tensor.h"

namespace tengine::tools {
namespace {

int parse_extent(const std::string& extent, const std::string& text)
{
    if (extent.empty() || extent.find_first_not_of("0123456789") != std::string::npos)
        throw Failure("invalid shape '" + text + "': expected e.g. 1x3x224x224 or scalar");
    int64_t value = 0;
    for (const char digit : extent) {
        value = value * 10 + (digit - '0');
        if (value > INT_MAX)
            throw Failure("invalid shape '" + text + "': a dimension is at most " +
                          std::to_string(INT_MAX));
    }
    return static_cast<int>(value);
}

}  // namespace

DeclaredShape declared_shape(tensor_t input)
{
    DeclaredShape shape;
    const char* name = get_tensor_name(input);
    int dims[MAX_SHAPE_DIM_NUM];
    const int dim_num = get_tensor_shape(input, dims, MAX_SHAPE_DIM_NUM);
    if (!name || dim_num < 0) throw Failure(get_tengine_error());
    shape.input = name;
    shape.has_rank = tengine_tensor_has_rank(input) == 1;
    shape.dims.assign(dims, dims + dim_num);
    for (int i = 0; i < dim_num; ++i)
        shape.names.push_back(tengine_tensor_get_dim_name(input, i));
    return shape;
}

DeclaredShape declared_output(tensor_t output)
{
    DeclaredShape shape;
    shape.input = get_tensor_name(output);
    int dims[MAX_SHAPE_DIM_NUM];
    const int dim_num = tengine_tensor_get_declared_shape(output, dims, MAX_SHAPE_DIM_NUM);
    shape.has_rank = dim_num >= 0;
    for (int i = 0; i < dim_num; ++i) {
        shape.dims.push_back(dims[i]);
        shape.names.push_back(tengine_tensor_get_dim_name(output, i));
    }
    return shape;
}

DeclaredShape model_shape(tensor_t input)
{
    const DeclaredShape shape = declared_output(input);
    return shape.has_rank ? shape : declared_shape(input);
}

bool is_free(const DeclaredShape& shape)
{
    return !shape.has_rank || std::count(shape.dims.begin(), shape.dims.end(), -1) > 0;
}

std::string declared_text(const DeclaredShape& shape)
{
    if (!shape.has_rank) return "any shape";
    const auto is_named = [](const std::string& name) { return !name.empty(); };
    if (!is_free(shape) && std::none_of(shape.names.begin(), shape.names.end(), is_named))
        return shape_text(shape.dims);
    std::string text;
    for (size_t i = 0; i < shape.dims.size(); ++i) {
        const std::string extent = shape.dims[i] < 0 ? "?" : std::to_string(shape.dims[i]);
        text += (i == 0 ? "" : " x ") + (shape.names[i].empty() ? extent : shape.names[i]);
    }
    return text;
}

std::string wanted_shape_text(const DeclaredShape& shape)
{
    if (!shape.has_rank) return shape.input + "=1x3x224x224";
    std::vector<int> dims = shape.dims;
    if (!dims.empty() && dims[0] < 0) dims[0] = 1;
    return shape.input + "=" + shape_text(dims);
}

std::vector<int> parse_shape(const std::string& text)
{
    std::vector<int> shape;
    if (text == "scalar") return shape;
    size_t begin = 0;
    while (begin <= text.size()) {
        const size_t end = std::min(text.find('x', begin), text.size());
        shape.push_back(parse_extent(text.substr(begin, end - begin), text));
        begin = end + 1;
    }
    return shape;
}

}  // namespace tengine::tools
