// SPDX-License-Identifier: Apache-2.0
#include "state.h"

#include <filesystem>

#include "model.h"
#include "tengine/graph.h"
#include "tengine/inspect.h"
#include "tengine/state.h"
#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"
#include "tensor_folder.h"
#include "text.h"

namespace tengine::tools {
namespace {

namespace fs = std::filesystem;

std::vector<Tensor> copy_states(graph_t graph)
{
    std::vector<Tensor> states;
    for (int i = 0; i < tengine_graph_get_state_number(graph); ++i) {
        tensor_t state = tengine_graph_get_state(graph, i);
        states.push_back(copy_tensor(state, std::string("state '") + get_tensor_name(state) + "'"));
    }
    return states;
}

void read_state(tensor_t state, const Tensor& present, const std::string& path)
{
    const Tensor value = read_tensor(path);
    if (value.data_type != present.data_type || value.shape != present.shape)
        throw Failure("state '" + present.name + "' is " +
                      tengine_data_type_get_name(present.data_type) + " " +
                      shape_text(present.shape) + ", '" + path + "' holds " +
                      tengine_data_type_get_name(value.data_type) + " " + shape_text(value.shape));
    if (tengine_tensor_set_data(state, value.bytes.data(), value.bytes.size()) < 0)
        fail_api("state '" + present.name + "'");
}

}  // namespace

void keep_states(graph_t graph, const std::vector<std::string>& pairs)
{
    for (const std::string& pair : pairs) {
        const size_t equals = pair.find('=');
        const std::string input = pair.substr(0, equals), output = pair.substr(equals + 1);
        if (tengine_graph_keep_state(graph, input.c_str(), output.c_str()) < 0)
            fail_api("--keep-state " + pair);
    }
}

std::vector<std::string> state_names(graph_t graph)
{
    std::vector<std::string> names;
    for (int i = 0; i < tengine_graph_get_state_number(graph); ++i)
        names.emplace_back(get_tensor_name(tengine_graph_get_state(graph, i)));
    return names;
}

void read_states(graph_t graph, const std::string& folder)
{
    const std::vector<Tensor> states = copy_states(graph);
    const std::vector<std::string> names = name_files(states);
    for (size_t i = 0; i < states.size(); ++i) {
        const std::string path = (fs::path(folder) / names[i]).string();
        if (fs::exists(path))
            read_state(tengine_graph_get_state(graph, static_cast<int>(i)), states[i], path);
    }
}

void write_states(graph_t graph, const std::string& folder)
{
    write_tensors(folder, copy_states(graph));
}

}  // namespace tengine::tools
