// SPDX-License-Identifier: Apache-2.0
// `tengine devices`: the devices and other contents of this build of the library, and the options
// of every context.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "command.h"
#include "command_line.h"
#include "json_file.h"
#include "model.h"
#include "tengine/inspect.h"
#include "text.h"

namespace tengine::tools {
namespace {

struct Option
{
    std::string key;
    std::string initial;
    std::string help;
};

struct Device
{
    std::string name;
    std::string features;                // its hardware, such as the instruction set; may be empty
    std::vector<std::string> operators;  // in alphabetical order
    std::vector<std::string> data_types;
    std::vector<Option> options;
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
    // Options have the names that --option takes.
    for (int i = 0; i < tengine_device_get_option_number(name); ++i)
        device.options.push_back({device.name + "." + tengine_device_get_option_name(name, i),
                                  tengine_device_get_option_default(name, i),
                                  tengine_device_get_option_help(name, i)});
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

// Prints the options in the form of the command line.
void print_options(const std::vector<Option>& options)
{
    for (const Option& option : options)
        std::printf("  %s=%s\n%s", option.key.c_str(), option.initial.c_str(),
                    paragraph_text(words_of(option.help), 4).c_str());
}

struct Plugin
{
    std::string name;
    std::string version;
    std::string file;
};

std::vector<Plugin> describe_plugins()
{
    std::vector<Plugin> plugins;
    for (int i = 0; i < get_tengine_plugin_number(); ++i)
        plugins.push_back({get_tengine_plugin_name(i), tengine_plugin_get_version(i),
                           tengine_plugin_get_file(i)});
    return plugins;
}

void print_devices(const std::vector<Device>& devices)
{
    std::printf("CPU features  %s\n", tengine_cpu_get_features());
    for (const Plugin& plugin : describe_plugins())
        std::printf("plug-in       %s %s, %s\n", plugin.name.c_str(), plugin.version.c_str(),
                    plugin.file.c_str());
    for (const Device& device : devices) {
        std::printf("\ndevice %s\n", device.name.c_str());
        if (!device.features.empty()) std::printf("  runs on %s\n", device.features.c_str());
        std::printf("  types (%zu)\n%s  operators (%zu)\n%s", device.data_types.size(),
                    paragraph_text(device.data_types, 4).c_str(), device.operators.size(),
                    paragraph_text(device.operators, 4).c_str());
    }
}

std::vector<Option> describe_options()
{
    std::vector<Option> options;
    for (int i = 0; i < tengine_option_get_number(); ++i)
        options.push_back({tengine_option_get_name(i), tengine_option_get_default(i),
                           tengine_option_get_help(i)});
    return options;
}

Json to_json(const std::vector<Option>& options)
{
    Json list = Json::array();
    for (const Option& option : options)
        list.push_back({{"key", option.key}, {"default", option.initial}, {"help", option.help}});
    return list;
}

void list_devices(const std::string& json)
{
    const std::vector<Device> devices = describe_devices();
    const std::vector<Option> options = describe_options();
    if (json != "-") {
        print_devices(devices);
        std::printf("\noptions (--option) and their defaults\n");
        print_options(options);
        for (const Device& device : devices)
            print_options(device.options);
    }
    if (json.empty()) return;
    Json list = Json::array();
    for (const Device& device : devices)
        list.push_back({{"name", device.name},
                        {"features", device.features},
                        {"types", device.data_types},
                        {"operators", device.operators},
                        {"options", to_json(device.options)}});
    Json plugins = Json::array();
    for (const Plugin& plugin : describe_plugins())
        plugins.push_back(
            {{"name", plugin.name}, {"version", plugin.version}, {"file", plugin.file}});
    write_json(json, {{"version", 1},
                      {"cpu_features", tengine_cpu_get_features()},
                      {"plugins", plugins},
                      {"devices", list},
                      {"options", to_json(options)}});
}

}  // namespace

void add_devices_command(CommandLine* line)
{
    const auto json = std::make_shared<std::string>();
    Command command = line->add_command(
        "devices",
        "List the devices with their types and operators, the CPU's features, and the options");
    command.add_option("--json", json.get(), "File to write the list to; - for standard output")
        .value_name("FILE");
    command.set_work([json] { list_devices(*json); });
}

}  // namespace tengine::tools
