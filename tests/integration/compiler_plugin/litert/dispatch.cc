// SPDX-License-Identifier: Apache-2.0
// Runs the byte code of compiler.cc.
#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tengine/compiler_plugin.h"

namespace {

struct Invocation
{
    std::string text;
    std::vector<const float*> inputs;
    std::vector<float*> outputs;
    std::vector<size_t> input_sizes, output_sizes;
};

int load(const void* bytes, size_t size, void** out_module)
{
    *out_module = new std::string(static_cast<const char*>(bytes), size);
    return 0;
}

void unload(void* module)
{
    delete static_cast<std::string*>(module);
}

int create_invocation(void* module, const char* entry_point, int input_num, int output_num,
                      void** out_invocation)
{
    if (std::string(entry_point).rfind("partition_", 0) != 0)
        return tengine_error_set(TENGINE_EINVAL, "no entry point '%s'", entry_point);
    auto* invocation = new Invocation;
    invocation->text = *static_cast<std::string*>(module);
    invocation->inputs.resize(static_cast<size_t>(input_num));
    invocation->input_sizes.resize(invocation->inputs.size());
    invocation->outputs.resize(static_cast<size_t>(output_num));
    invocation->output_sizes.resize(invocation->outputs.size());
    *out_invocation = invocation;
    return 0;
}

void destroy_invocation(void* invocation)
{
    delete static_cast<Invocation*>(invocation);
}

int attach_input(void* invocation, int port, const void* data, size_t size)
{
    auto* to = static_cast<Invocation*>(invocation);
    to->inputs[static_cast<size_t>(port)] = static_cast<const float*>(data);
    to->input_sizes[static_cast<size_t>(port)] = size / sizeof(float);
    return 0;
}

int attach_output(void* invocation, int port, void* data, size_t size)
{
    auto* to = static_cast<Invocation*>(invocation);
    to->outputs[static_cast<size_t>(port)] = static_cast<float*>(data);
    to->output_sizes[static_cast<size_t>(port)] = size / sizeof(float);
    return 0;
}

using Values = std::vector<float>;

Values combine(const std::string& step, const Values& a, const Values& b)
{
    Values y(std::max(a.size(), b.size()));
    for (size_t i = 0; i < y.size(); ++i) {
        const float left = a[i % a.size()], right = b[i % b.size()];
        y[i] = step == "mul" ? left * right : step == "sub" ? left - right : left + right;
    }
    return y;
}

Values normalize(const Values& x, const Values& scale, size_t columns)
{
    Values y(x.size());
    for (size_t row = 0; row < x.size(); row += columns) {
        double squares = 0;
        for (size_t i = 0; i < columns; ++i)
            squares += static_cast<double>(x[row + i]) * x[row + i];
        const double root = std::sqrt(squares / static_cast<double>(columns) + 1e-5);
        for (size_t i = 0; i < columns; ++i)
            y[row + i] = static_cast<float>(x[row + i] / root) * scale[i % scale.size()];
    }
    return y;
}

int invoke(void* data)
{
    const auto& invocation = *static_cast<Invocation*>(data);
    std::istringstream text(invocation.text);
    std::map<int, Values> registers;
    std::string step, value;
    size_t input = 0, output = 0;
    for (int y; text >> step >> y;) {
        Values& result = registers[y];
        if (step == "in") {
            const float* from = invocation.inputs[input];
            result.assign(from, from + invocation.input_sizes[input]);
            ++input;
        } else if (step == "out") {
            if (result.size() != invocation.output_sizes[output])
                return tengine_error_set(TENGINE_EDEVICE, "output %zu has %zu values", output,
                                         result.size());
            std::copy(result.begin(), result.end(), invocation.outputs[output]);
            ++output;
        } else if (step == "set") {
            size_t number = 0;
            for (text >> number; number > 0 && text >> value; --number)
                result.push_back(std::strtof(value.c_str(), nullptr));
        } else {
            int a = 0, b = 0;
            size_t columns = 0;
            text >> a >> b;
            if (step == "rms") text >> columns;
            result = step == "rms" ? normalize(registers[a], registers[b], columns)
                                   : combine(step, registers[a], registers[b]);
        }
    }
    return 0;
}

tengine_dispatch_t make_table()
{
    tengine_dispatch_t table = {};
    table.size = sizeof table;
    table.device = "EXAMPLE";
    table.manufacturer = "ExampleSocManufacturer";
    table.version = "1.0";
    table.byte_code_version = "text 1";
    table.load = load;
    table.unload = unload;
    table.create_invocation = create_invocation;
    table.destroy_invocation = destroy_invocation;
    table.attach_input = attach_input;
    table.attach_output = attach_output;
    table.invoke = invoke;
    return table;
}

const tengine_dispatch_t dispatch = make_table();

int register_dispatch()
{
    return tengine_register_dispatch(&dispatch);
}

int unregister_dispatch()
{
    return tengine_unregister_dispatch(&dispatch);
}

}  // namespace

TENGINE_PLUGIN("EXAMPLE_dispatch", "1.0", register_dispatch, unregister_dispatch);
