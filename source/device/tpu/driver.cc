// SPDX-License-Identifier: Apache-2.0
#include "device/tpu/driver.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>

#include "base/float_to_index.h"
#include "base/replace_file.h"
#include "device/tpu/compiler/compiler.h"
#include "device/tpu/compiler/tiles.h"

namespace tengine::tpu {
namespace {

// Returns a file name for a part: its first node, whose name may have any characters, distinguishes
// it.
std::string file_name(const subgraph& part)
{
    std::string name = get_ir_graph_node(part.graph, part.node_list[0])->name;
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-') c = '_';
    return name.substr(0, 200) + ".tpu";
}

int check_bindings(const subgraph& part, const Program& program)
{
    const size_t number =
        static_cast<size_t>(part.input_num) + static_cast<size_t>(part.output_num);
    if (program.bindings.size() == number) return TENGINE_OK;
    return tengine_error_set(TENGINE_EINTERNAL,
                             "the program has %zu inputs and outputs, expected %zu",
                             program.bindings.size(), number);
}

// Calls visit(offset in NCHW order, offset in NHWC order) for all elements, each `element` bytes.
template <class Visit>
void for_each_transposed(const std::vector<int>& dims, int element, const Visit& visit)
{
    const auto size = [&](int axis) {
        return static_cast<size_t>(dims[static_cast<size_t>(axis)]);
    };
    const size_t images = size(0), channels = size(1), pixels = size(2) * size(3);
    const auto bytes = static_cast<size_t>(element);
    for (size_t n = 0; n < images; ++n)
        for (size_t c = 0; c < channels; ++c)
            for (size_t p = 0; p < pixels; ++p)
                visit(((n * channels + c) * pixels + p) * bytes,
                      ((n * pixels + p) * channels + c) * bytes);
}

size_t bytes_of(const Binding& binding, int element)
{
    size_t bytes = static_cast<size_t>(element);
    for (const int dim : binding.dims)
        bytes *= static_cast<size_t>(dim);
    return bytes;
}

const tensor* boundary_tensor(const subgraph& part, size_t index)
{
    const auto inputs = static_cast<size_t>(part.input_num);
    return get_ir_graph_tensor(part.graph, index < inputs
                                               ? part.input_tensor_list[index]
                                               : part.output_tensor_list[index - inputs]);
}

}  // namespace

void pack_tensor(const Binding& binding, int element, const uint8_t* tensor, uint8_t* host)
{
    if (!binding.channels_last) {
        std::memcpy(host, tensor, bytes_of(binding, element));
        return;
    }
    for_each_transposed(binding.dims, element, [&](size_t from, size_t to) {
        std::memcpy(host + to, tensor + from, static_cast<size_t>(element));
    });
}

void unpack_tensor(const Binding& binding, int element, const uint8_t* host, uint8_t* tensor)
{
    if (!binding.channels_last) {
        std::memcpy(tensor, host, bytes_of(binding, element));
        return;
    }
    for_each_transposed(binding.dims, element, [&](size_t to, size_t from) {
        std::memcpy(tensor + to, host + from, static_cast<size_t>(element));
    });
}

int make_host_memory(const Program& program, HostMemory* out_memory)
{
    const auto bytes = static_cast<size_t>(program.host_bytes);
    if (bytes == program.host_bytes)
        out_memory->reset(static_cast<uint8_t*>(std::calloc(std::max<size_t>(bytes, 1), 1)));
    if (!*out_memory)
        return tengine_error_set(TENGINE_ENOMEM, "out of memory for the %llu bytes of a program",
                                 static_cast<unsigned long long>(program.host_bytes));
    std::copy(program.constants.begin(), program.constants.end(), out_memory->get());
    return TENGINE_OK;
}

int Driver::create(const subgraph& part, const Options& options, const SavedProgram& saved,
                   std::unique_ptr<Driver>* out_driver)
{
    std::unique_ptr<Driver> driver(new Driver(options));
    for (int i = 0; i < part.node_num; ++i)
        driver->macs_ += get_ir_node_macs(get_ir_graph_node(part.graph, part.node_list[i]));
    TENGINE_RETURN_IF_ERROR(driver->load(part, saved));
    TENGINE_RETURN_IF_ERROR(Machine::create(driver->options_.config, &driver->machine_));
    TENGINE_RETURN_IF_ERROR(make_host_memory(driver->program_, &driver->host_));
    *out_driver = std::move(driver);
    return TENGINE_OK;
}

int Driver::load(const subgraph& part, const SavedProgram& saved)
{
    TENGINE_RETURN_IF_ERROR(saved.data ? borrow_program(saved.data, saved.size, &program_)
                                       : compile_part(part, options_.config, &program_));
    TENGINE_RETURN_IF_ERROR(try_file(part));
    TENGINE_RETURN_IF_ERROR(validate_program(program_, options_.config));
    return check_bindings(part, program_);
}

int Driver::try_file(const subgraph& part)
{
    const int64_t flip = options_.faults.bit_flip;
    if (flip < 0 && options_.save_program.empty()) return TENGINE_OK;
    std::vector<uint8_t> bytes = save_program(program_);
    if (flip >= 0 && flip / 8 < static_cast<int64_t>(bytes.size()))
        bytes[static_cast<size_t>(flip / 8)] ^= static_cast<uint8_t>(1u << (flip % 8));
    if (!options_.save_program.empty())
        TENGINE_RETURN_IF_ERROR(put_file(options_.save_program.c_str(), file_name(part).c_str(),
                                         bytes.data(), bytes.size()));
    Program read;
    return load_program(bytes.data(), bytes.size(), &read);
}

int Driver::count(const Counters** out_counters)
{
    if (!counters_) {
        Counters counted;
        TENGINE_RETURN_IF_ERROR(count_cycles(program_, options_.config, &counted));
        counters_ = std::move(counted);
    }
    *out_counters = &*counters_;
    return TENGINE_OK;
}

int Driver::list_intervals(std::vector<ir_interval_t>* out_intervals) const
{
    Counters counters;
    std::vector<Interval> intervals;
    TENGINE_RETURN_IF_ERROR(count_cycles(program_, options_.config, &counters, &intervals));
    const auto begins_before = [](const Interval& a, const Interval& b) {
        return a.begin < b.begin;
    };
    std::stable_sort(intervals.begin(), intervals.end(), begins_before);
    const auto nanoseconds = [this](int64_t cycles) {
        return float_to_index(static_cast<double>(cycles) * 1e3 / options_.config.clock_mhz, 0,
                              INT64_MAX);
    };
    for (const Interval& interval : intervals) {
        ir_interval_t shown = {};
        std::snprintf(shown.unit, sizeof shown.unit, "%s", interval.unit);
        std::snprintf(shown.cause, sizeof shown.cause, "%s", interval.cause);
        shown.node = static_cast<int32_t>(interval.node);
        shown.begin_ns = nanoseconds(interval.begin);
        shown.end_ns = nanoseconds(interval.end);
        out_intervals->push_back(shown);
    }
    return TENGINE_OK;
}

ir_part_memory_t Driver::memory() const
{
    const size_t program = program_.instructions.capacity() * sizeof(Instruction) +
                           count_tiles(program_.weights) + program_.constants.capacity();
    ir_part_memory_t memory = {};
    // Accumulators and tiles of the machine hold no tensors.
    const auto buffer = static_cast<uint64_t>(options_.config.unified_buffer_bytes);
    memory.compiled = static_cast<int64_t>(program + machine_->memory_bytes() - buffer);
    memory.arena = static_cast<int64_t>(program_.host_bytes + buffer);
    return memory;
}

int Driver::run(const subgraph& part)
{
    const auto inputs = static_cast<size_t>(part.input_num);
    for (size_t i = 0; i < inputs; ++i) {
        const Binding& binding = program_.bindings[i];
        const tensor* tensor = boundary_tensor(part, i);
        pack_tensor(binding, tensor->elem_size, tensor->u8, host_.get() + binding.address);
    }
    TENGINE_RETURN_IF_ERROR(machine_->run(program_, host_.get(), options_.faults,
                                          [&] { return is_ir_part_cancelled(&part) != 0; }));
    for (size_t i = inputs; i < program_.bindings.size(); ++i) {
        const Binding& binding = program_.bindings[i];
        const tensor* tensor = boundary_tensor(part, i);
        unpack_tensor(binding, tensor->elem_size, host_.get() + binding.address, tensor->u8);
    }
    return TENGINE_OK;
}

}  // namespace tengine::tpu
