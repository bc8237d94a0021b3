// SPDX-License-Identifier: Apache-2.0
// A small machine and a program for it that has every instruction in every form, for tests of the
// code that reads, writes and checks programs.
#pragma once

#include <string>

#include "device/tpu/machine/config.h"
#include "device/tpu/program/program.h"

namespace tengine::tpu {

// 8 x 8, 4 KiB of buffer, 64 accumulator rows, a FIFO of 4.
Config sample_config();
// The program as a string, without its fingerprint.
const std::string& sample_text();
Program sample_program();

// Replaces the file's SHA-256 by that of its bytes, as an attacker would.
void sign_program(std::vector<uint8_t>* file);

// Takes any bytes through all steps: load, print, check, and if they are valid and the program
// ends, count the cycles and run. Returns whether they were a valid program.
bool use_program(const std::vector<uint8_t>& file, const Config& config);

}  // namespace tengine::tpu
