// SPDX-License-Identifier: Apache-2.0
// The TPU as a vendor's compiler and dispatch (tengine/compiler_plugin.h): two plug-ins that share
// the format of a module. They are built from this tree with the internals of the library, so that
// they require the library of the same build.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/tpu/machine/config.h"
#include "device/tpu/program/program.h"
#include "tengine/compiler_plugin.h"

namespace tengine::tpu {

constexpr const char* kPluginDevice = "TPU_PLUGIN";
// Changes whenever the format of modules or programs does.
constexpr const char* kModuleVersion = "tpu module 1";
// The machines that can be compiled for; the second is the default, as for the device.
constexpr const char* kMachines[] = {"tpu-v1", "edge", "scale32"};

// A module is one program for one machine: a string of kModuleHead bytes, "TPU " and the machine's
// name, followed by zeros; then the program's file (program.h).
constexpr size_t kModuleHead = 64;

std::vector<uint8_t> make_module(const Config& config, const Program& program);
// Reads and validates a module. The program borrows `bytes`. TENGINE_EFORMAT: not a module; or the
// errors of borrow_program() and validate_program().
int read_module(const uint8_t* bytes, size_t size, Config* out_config, Program* out_program);

// Return the tables that the plug-ins register; a test registers both in one program.
const tengine_compiler_t* plugin_compiler();
const tengine_dispatch_t* plugin_dispatch();

// TENGINE_EVERSION: the library that has loaded the plug-in has another version; TENGINE_ENOTSUP:
// its functions are hidden from the plug-in, which would call its own copies.
int check_library(const char* plugin);

}  // namespace tengine::tpu
