// SPDX-License-Identifier: Apache-2.0
// Whole files, and the programs in them. Errors are thrown with the file's name.
#pragma once

#include <string>

#include "device/tpu/program/program.h"

namespace tengine::tpu {

std::string read_file(const std::string& path);
void write_file(const std::string& path, const void* data, size_t size);
Program read_program(const std::string& path);

}  // namespace tengine::tpu
