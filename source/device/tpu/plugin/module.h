// SPDX-License-Identifier: Apache-2.0
// The TPU as a vendor's compiler and dispatch (tengine/compiler_plugin.h): two plug-ins that share
// the form of a module. They are built from this tree with the internals of the library, so they
// work with the library of the same build.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/tpu/machine/config.h"
#include "device/tpu/program/program.h"
#include "tengine/compiler_plugin.h"

namespace tengine::tpu {

constexpr const char* kPluginDevice = "TPU_PLUGIN";
// Another one where modules or programs have another form.
constexpr const char* kModuleVersion = "tpu module 1";
// Machines that can be compiled for; the second is the default, as the device's.
constexpr const char* kMachines[] = {"tpu-v1", "edge", "scale32"};

// A module is one program for one machine: a string of kModuleHead bytes, "TPU " and the machine's
// name, zeros after it; then the program's file (program.h).
constexpr size_t kModuleHead = 64;

std::vector<uint8_t> make_module(const Config& config, const Program& program);
// The program borrows `bytes`, and has been validated. TENGINE_EFORMAT for what is not a module,
// and what borrow_program() and validate_program() say.
int read_module(const uint8_t* bytes, size_t size, Config* out_config, Program* out_program);

// The tables that the plug-ins register; a test registers both in one program.
const tengine_compiler_t* plugin_compiler();
const tengine_dispatch_t* plugin_dispatch();

// TENGINE_EVERSION when the library that has loaded the plug-in is of another version,
// TENGINE_ENOTSUP when its functions are hidden from the plug-in, which would call its own copies.
int check_library(const char* plugin);

}  // namespace tengine::tpu
