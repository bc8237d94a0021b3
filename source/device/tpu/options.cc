// SPDX-License-Identifier: Apache-2.0
// The device's options by key: config, save_program, fault.
#include <cstdlib>
#include <iterator>
#include <sys/stat.h>

#include "device/tpu/driver.h"

namespace tengine::tpu {
namespace {

int set_config(const std::string& value, Options* options)
{
    return load_config(value, &options->config);
}

int set_save_program(const std::string& value, Options* options)
{
    struct stat status;
    if (stat(value.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
        return tengine_error_set(TENGINE_ENOENT, "save_program: '%s' is not a folder",
                                 value.c_str());
    options->save_program = value;
    return TENGINE_OK;
}

struct FaultName
{
    const char* name;
    int64_t Faults::*at;
};

constexpr FaultName kFaults[] = {
    {"bad_opcode", &Faults::bad_opcode_at},
    {"dma", &Faults::dma_error_at},
    {"hang", &Faults::hang_at},
    {"bit_flip", &Faults::bit_flip},
};

// Reads "dma@12"; "" or "none": no fault.
int set_fault(const std::string& value, Options* options)
{
    options->faults = {};
    if (value.empty() || value == "none") return TENGINE_OK;
    const size_t at = value.find('@');
    const std::string name = value.substr(0, at);
    const std::string digits = at == std::string::npos ? "" : value.substr(at + 1);
    const bool is_number = !digits.empty() && digits.size() <= 18 &&
                           digits.find_first_not_of("0123456789") == std::string::npos;
    for (const FaultName& fault : kFaults) {
        if (name != fault.name || !is_number) continue;
        options->faults.*fault.at = std::strtoll(digits.c_str(), nullptr, 10);
        return TENGINE_OK;
    }
    return tengine_error_set(
        TENGINE_EINVAL,
        "invalid fault '%s': expected bad_opcode@N, dma@N, hang@N (instruction N, from 0), "
        "bit_flip@N (bit N of the program's file) or none",
        value.c_str());
}

struct Key
{
    ir_device_option_t option;
    int (*set)(const std::string& value, Options* options);
};

constexpr Key kKeys[] = {
    {{"config", "edge", "machine: tpu-v1, edge, scale32, or a JSON file"}, set_config},
    {{"save_program", "", "folder for the program of each part; empty: programs are not written"},
     set_save_program},
    {{"fault", "none",
      "injected fault: bad_opcode@N, dma@N or hang@N in instruction N, bit_flip@N in bit N of the "
      "program; empty: none"},
     set_fault},
};

}  // namespace

int set_option(const std::string& key, const std::string& value, Options* options)
{
    std::string known;
    for (const Key& candidate : kKeys) {
        if (key == candidate.option.key) return candidate.set(value, options);
        known += std::string(known.empty() ? "" : ", ") + candidate.option.key;
    }
    return tengine_error_set(TENGINE_ENOENT, "TPU: unknown option '%.100s': expected %s",
                             key.c_str(), known.c_str());
}

const ir_device_option_t* get_option(int index)
{
    const int number = static_cast<int>(std::size(kKeys));
    return index >= 0 && index < number ? &kKeys[index].option : nullptr;
}

int read_options(const graph& graph, const device& device, Options* out_options)
{
    *out_options = {};
    TENGINE_RETURN_IF_ERROR(load_config("", &out_options->config));
    for (const Key& key : kKeys) {
        const char* value = get_ir_device_option(&graph, &device, key.option.key);
        if (value) TENGINE_RETURN_IF_ERROR(key.set(value, out_options));
    }
    return TENGINE_OK;
}

}  // namespace tengine::tpu
