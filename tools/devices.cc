// SPDX-License-Identifier: Apache-2.0
// `tengine devices`: what this build of the library can use.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "command.h"
#include "json_file.h"
#include "model.h"
#include "tengine/inspect.h"
#include "text.h"

namespace tengine::tools {
namespace {

struct Device
{
    std::string name;
    std::string features;  // what it runs on, such as the instruction set; may be empty
    std::vector<std::string> operators;  // in alphabetical order
    std::vector<std::string> data_types;
};

Device describe_device(const char* name)
{
    Device device;
    device.name = name;
    const int operators = tengine_device_get_operator_number(name);
    const int data_types = tengine_device_get_data_type_number(name);
    const char* features = tengine_device_get_features(name);
    if (operators < 0 || data_types < 0 || !features) fail_api(device.name);
    device.features = features;
    for (int i = 0; i < operators; ++i)
        device.operators.push_back(tengine_device_get_operator(name, i));
    for (int i = 0; i < data_types; ++i)
        device.data_types.push_back(
            tengine_data_type_get_name(tengine_device_get_data_type(name, i)));
    std::sort(device.operators.begin(), device.operators.end());
    return device;
}

std::vector<Device> describe_devices()
{
    std::vector<Device> devices;
    for (int i = 0; i < tengine_device_get_number(); ++i)
        devices.push_back(describe_device(tengine_device_get_name(i)));
    return devices;
}

void print_devices(const std::vector<Device>& devices)
{
    std::printf("CPU features  %s\n", tengine_cpu_get_features());
    for (const Device& device : devices) {
        std::printf("\ndevice %s\n", device.name.c_str());
        if (!device.features.empty()) std::printf("  runs on %s\n", device.features.c_str());
        std::printf("  types (%zu)\n%s  operators (%zu)\n%s", device.data_types.size(),
                    paragraph_text(device.data_types, 4).c_str(), device.operators.size(),
                    paragraph_text(device.operators, 4).c_str());
    }
}

void list_devices(const std::string& json)
{
    const std::vector<Device> devices = describe_devices();
    if (json != "-") print_devices(devices);
    if (json.empty()) return;
    Json list = Json::array();
    for (const Device& device : devices)
        list.push_back({{"name", device.name},
                        {"features", device.features},
                        {"types", device.data_types},
                        {"operators", device.operators}});
    write_json(json,
               {{"version", 1}, {"cpu_features", tengine_cpu_get_features()}, {"devices", list}});
}

}  // namespace

void add_devices_command(CLI::App* app)
{
    const auto json = std::make_shared<std::string>();
    CLI::App* command =
        app->add_subcommand("devices", "List the devices, what they take, and the CPU's features");
    command->add_option("--json", *json, "File to write the list to; - : standard output")
        ->type_name("FILE");
    command->callback([json] { list_devices(*json); });
}

}  // namespace tengine::tools
