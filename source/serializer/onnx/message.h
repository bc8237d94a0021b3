// SPDX-License-Identifier: Apache-2.0
// Names in messages. Names from a file may hold any bytes and have any length.
#pragma once

#include <string>
#include <string_view>

namespace tengine {

// `name` with control characters as '?', cut after 100 bytes; and the same in quotes.
std::string clean_name(std::string_view name);
std::string quote_name(std::string_view name);

// "Conv 'conv1'".
std::string node_label(std::string_view operator_type, std::string_view name);

}  // namespace tengine
