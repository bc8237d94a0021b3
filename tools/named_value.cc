// SPDX-License-Identifier: Apache-2.0
// Finds the tensors of arguments. The contract is in named_value.h.
#include "named_value.h"

#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"

namespace tengine::tools {
namespace {

// Names may contain a '=', so the longest match counts. npos: the argument names none.
size_t name_length(const std::string& argument, const std::vector<std::string>& names)
{
    size_t length = std::string::npos;
    for (const std::string& name : names) {
        const bool fits = argument.size() > name.size() && argument[name.size()] == '=' &&
                          argument.compare(0, name.size(), name) == 0;
        if (fits && (length == std::string::npos || name.size() > length)) length = name.size();
    }
    return length;
}

}  // namespace

std::string quoted_list(const std::vector<std::string>& words)
{
    std::string text;
    for (const std::string& word : words)
        text += (text.empty() ? "'" : ", '") + word + "'";
    return text;
}

std::map<std::string, std::string> name_values(const std::string& option,
                                               const std::vector<std::string>& arguments,
                                               const std::vector<std::string>& names,
                                               const std::string& role)
{
    std::map<std::string, std::string> values;
    const auto add = [&](const std::string& name, const std::string& value) {
        const auto [place, is_new] = values.emplace(name, value);
        if (!is_new)
            throw Failure(option + " is given twice for the " + role + " '" + name + "': '" +
                          place->second + "' and '" + value + "'");
    };
    std::vector<std::string> files_for_all;
    for (const std::string& argument : arguments) {
        const size_t length = name_length(argument, names);
        const bool is_unnamed = argument.find('=') == std::string::npos;
        if (length != std::string::npos) {
            add(argument.substr(0, length), argument.substr(length + 1));
        } else if (names.size() == 1 && is_unnamed) {
            add(names[0], argument);
        } else if (is_unnamed && has_ending(argument, ".npz")) {
            files_for_all.push_back(argument);
        } else {
            throw Failure(option + " '" + argument + "' names no " + role +
                          " of the model: expected " + quoted_list(names));
        }
    }
    const std::map<std::string, std::string> named = values;
    for (const std::string& file : files_for_all) {
        for (const std::string& name : names)
            if (named.count(name) == 0) add(name, file);
    }
    return values;
}

}  // namespace tengine::tools
