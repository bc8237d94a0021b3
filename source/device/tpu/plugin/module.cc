// SPDX-License-Identifier: Apache-2.0
#include "device/tpu/plugin/module.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "tengine/c_api.h"
#include "tengine/error.h"
#include "tengine/version.h"

namespace tengine::tpu {
namespace {

constexpr char kMagic[] = "TPU ";
constexpr size_t kMagicSize = sizeof kMagic - 1;

}  // namespace

std::vector<uint8_t> make_module(const Config& config, const Program& program)
{
    const std::vector<uint8_t> file = save_program(program);
    const std::string head = kMagic + config.name;
    std::vector<uint8_t> module(kModuleHead + file.size());
    std::copy_n(head.begin(), std::min(head.size(), kModuleHead - 1), module.begin());
    std::copy(file.begin(), file.end(), module.begin() + kModuleHead);
    return module;
}

int read_module(const uint8_t* bytes, size_t size, Config* out_config, Program* out_program)
{
    const char* text = reinterpret_cast<const char*>(bytes);
    const bool is_module = size > kModuleHead && std::strncmp(text, kMagic, kMagicSize) == 0 &&
                           text[kModuleHead - 1] == '\0';
    const std::string machine = is_module ? text + kMagicSize : "";
    if (std::find(std::begin(kMachines), std::end(kMachines), machine) == std::end(kMachines))
        return tengine_error_set(TENGINE_EFORMAT, "%zu bytes: not a module of the TPU", size);
    TENGINE_RETURN_IF_ERROR(load_config(machine, out_config));
    TENGINE_RETURN_IF_ERROR(borrow_program(bytes + kModuleHead, size - kModuleHead, out_program));
    return validate_program(*out_program, *out_config);
}

int check_library(const char* plugin)
{
    const std::string library = get_tengine_version();
    if (library.rfind(TENGINE_VERSION_STRING, 0) != 0)
        return tengine_error_set(TENGINE_EVERSION,
                                 "%s has version %s, expected the library's version %s", plugin,
                                 TENGINE_VERSION_STRING, library.c_str());
    Dl_info here, there;
    const bool found = dladdr(kMagic, &here) != 0 &&
                       dladdr(reinterpret_cast<void*>(get_tengine_version), &there) != 0;
    if (found && here.dli_fbase != there.dli_fbase) return TENGINE_OK;
    return tengine_error_set(
        TENGINE_ENOTSUP, "%s does not see the library: it was opened without RTLD_GLOBAL", plugin);
}

}  // namespace tengine::tpu
