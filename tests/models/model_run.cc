// SPDX-License-Identifier: Apache-2.0
// Loads and runs. The contract is in model_run.h.
#include "models/model_run.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "support/emulated.h"
#include "tengine/c_api.h"
#include "tensor_file/failure.h"

namespace tengine::models {
namespace {

using tools::Failure;
using tools::Tensor;

void check(bool is_good)
{
    if (!is_good) throw Failure(get_tengine_error());
}

std::vector<int> shape_of(tensor_t tensor)
{
    int dims[MAX_SHAPE_DIM_NUM];
    const int dim_num = get_tensor_shape(tensor, dims, MAX_SHAPE_DIM_NUM);
    check(dim_num >= 0);
    return {dims, dims + dim_num};
}

}  // namespace

std::string shared_data(const std::string& name)
{
    return std::string(TENGINE_SHARED_DATA_DIR) + "/" + name;
}

bool exists(const std::string& path)
{
    return std::filesystem::exists(path);
}

bool takes_too_long(const std::string& network)
{
    static constexpr std::string_view kLarge[] = {"vgg16",     "vgg19", "resnet50", "inception_v3",
                                                  "googlenet", "mssd",  "zfnet512"};
    return test::kEmulated &&
           std::find(std::begin(kLarge), std::end(kLarge), network) != std::end(kLarge);
}

std::string absent(const std::string& path)
{
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    return "files of ../shared/data/" + folder.filename().string() + " are missing";
}

ModelRun::ModelRun(const std::string& path)
{
    check(init_tengine() == 0);
    // Networks of the light data compute their weights from a few numbers.
    const context_t context = create_context("models", 1);
    check(context && tengine_context_set_option(context, "memory.fold_mb", "2048") == 0);
    graph_ = create_graph(context, "onnx", path.c_str());
    check(graph_ != nullptr);
}

ModelRun::~ModelRun()
{
    destroy_graph(graph_);
    release_tengine();
}

std::vector<int> ModelRun::input_shape() const
{
    return shape_of(tengine_graph_get_input(graph_, 0));
}

Tensor ModelRun::run(Tensor input)
{
    tensor_t fed = tengine_graph_get_input(graph_, 0);
    if (input.shape != prepared_) {
        const int dim_num = static_cast<int>(input.shape.size());
        check(set_tensor_shape(fed, input.shape.data(), dim_num) == 0);
        check(prerun_graph(graph_) == 0);
        prepared_ = input.shape;
    }
    const int size = static_cast<int>(input.bytes.size());
    check(set_tensor_buffer(fed, input.bytes.data(), size) == 0);
    check(run_graph(graph_, 1) == 0);

    tensor_t result = tengine_graph_get_output(graph_, 0);
    const std::vector<int> shape = shape_of(result);
    Tensor output = tools::make_tensor(get_tensor_data_type(result), {shape.begin(), shape.end()});
    check(get_tensor_data(result, output.bytes.data(), static_cast<int>(output.bytes.size())) == 0);
    return output;
}

}  // namespace tengine::models
