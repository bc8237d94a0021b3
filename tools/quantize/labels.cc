// SPDX-License-Identifier: Apache-2.0
#include "quantize/labels.h"

#include <sstream>

#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"

namespace tengine::tools {
namespace {

Labels read_array(const std::string& path)
{
    const Tensor array = read_tensor(path);
    if (is_floating(array.data_type))
        throw Failure("--labels '" + path + "' holds real numbers, expected integers");
    Labels labels;
    for (size_t i = 0; i < array.element_number(); ++i)
        labels.push_back(static_cast<int64_t>(get_element(array, i)));
    return labels;
}

Labels read_lines(const std::string& path)
{
    Labels labels;
    std::istringstream text(read_file(path));
    for (std::string line; std::getline(text, line);) {
        std::istringstream numbers(line);
        int64_t label = 0;
        std::string rest;
        if (!(numbers >> label) || numbers >> rest)
            throw Failure("--labels '" + path + "', line " + std::to_string(labels.size() + 1) +
                          ": invalid label '" + line.substr(0, 40) + "': expected one number");
        labels.push_back(label);
    }
    return labels;
}

}  // namespace

Labels read_labels(const std::string& path, size_t samples)
{
    const Labels labels = has_ending(path, ".npy") ? read_array(path) : read_lines(path);
    if (labels.empty() || samples == 0 || labels.size() % samples != 0)
        throw Failure("--labels '" + path + "' has " + std::to_string(labels.size()) +
                      " labels for " + std::to_string(samples) +
                      " samples; there must be one for each row of scores");
    return labels;
}

}  // namespace tengine::tools
