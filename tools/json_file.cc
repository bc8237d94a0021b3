// SPDX-License-Identifier: Apache-2.0
// Writes JSON. The contract is in json_file.h.
#include "json_file.h"

#include <cstdio>

#include "tensor_file/tensor_file.h"

namespace tengine::tools {

void write_json(const std::string& path, const Json& json)
{
    const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
    if (path == "-") {
        std::fputs(text.c_str(), stdout);
    } else {
        write_file(path, text);
    }
}

}  // namespace tengine::tools
