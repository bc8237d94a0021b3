// SPDX-License-Identifier: Apache-2.0
// Writes reports. The contract is in json_file.h.
#include "json_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"

namespace tengine::tools {

void write_text(const std::string& path, const std::string& text)
{
    if (path != "-") return write_file(path, text);
    if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
        throw Failure(std::string("standard output cannot be written: ") + std::strerror(errno));
}

void write_json(const std::string& path, const Json& json)
{
    write_text(path, json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n');
}

}  // namespace tengine::tools
