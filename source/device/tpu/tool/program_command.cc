// SPDX-License-Identifier: Apache-2.0
// tengine-tpu disasm, asm and validate: programs as text and back, whether a machine can run a
// program, and whether the simulator agrees with published figures of such machines.
#include <cstdio>
#include <string>
#include <vector>

#include "device/tpu/machine/config_fields.h"
#include "device/tpu/program/assembler.h"
#include "device/tpu/published/comparison.h"
#include "device/tpu/published/topology.h"
#include "device/tpu/simulator/simulator.h"
#include "device/tpu/tool/command.h"
#include "device/tpu/tool/file.h"
#include "tengine/error.h"

namespace tengine::tpu {
namespace {

// Returns the named configuration, or else the preset that the program is for.
Config choose_config(const Program& program, const std::string& name)
{
    Config config;
    if (!name.empty()) {
        check(load_config(name, &config));
        return config;
    }
    for (const Config& preset : all_presets()) {
        if (fingerprint_of(preset) == program.fingerprint) return preset;
    }
    throw Failure("the program is for another configuration than " + preset_names() +
                  "; set --config");
}

void print_share(const char* name, int64_t cycles, int64_t total)
{
    std::printf("%-14s %14lld  %5.1f %%\n", name, static_cast<long long>(cycles),
                total > 0 ? 100.0 * cycles / total : 0.0);
}

void validate_file(const ProgramOptions& options)
{
    const Program program = read_program(options.input);
    const Config config = choose_config(program, options.config);
    check(validate_program(program, config));
    Counters counters;
    check(count_cycles(program, config, &counters));
    std::printf("'%s' is valid for '%s': %zu instructions, %zu bytes of weights\n",
                options.input.c_str(), config.name.c_str(), program.instructions.size(),
                program.weights.size());
    std::printf("%-14s %14lld  %.4g ms\n", "cycles", static_cast<long long>(counters.total),
                counters.total / (config.clock_mhz * 1e3));
    print_share("  active", counters.active, counters.total);
    print_share("  weight stall", counters.weight_stall, counters.total);
    print_share("  weight shift", counters.weight_shift, counters.total);
    print_share("  non-matrix", counters.non_matrix, counters.total);
}

void print_rows(const std::vector<ValidationRow>& rows)
{
    std::fputs(print_validation(rows).c_str(), stdout);
    size_t failed = 0;
    for (const ValidationRow& row : rows)
        failed += row.ok ? 0 : 1;
    if (failed > 0)
        throw Failure(std::to_string(failed) + " of " + std::to_string(rows.size()) +
                      " figures are out of bounds");
}

void validate_simulator()
{
    std::vector<ValidationRow> rows;
    check(run_validation(&rows));
    print_rows(rows);
}

void validate_topology(const ProgramOptions& options)
{
    Config config;
    check(load_config(options.config, &config));
    std::vector<TopologyLayer> layers;
    check(parse_topology(read_file(options.topology), "'" + options.topology + "'", &layers));
    std::vector<ValidationRow> rows;
    check(run_topology_validation(layers, config, &rows));
    print_rows(rows);
}

}  // namespace

void run_disasm(const ProgramOptions& options)
{
    const Program program = read_program(options.input);
    const std::string text = options.code_only ? disassemble_code(program) : disassemble(program);
    std::fwrite(text.data(), 1, text.size(), stdout);
}

void run_asm(const ProgramOptions& options)
{
    Program program;
    if (assemble(read_file(options.input), &program) < 0)
        throw Failure("'" + options.input + "', " + tengine_error_message());
    const std::vector<uint8_t> file = save_program(program);
    write_file(options.output, file.data(), file.size());
}

void run_validate(const ProgramOptions& options)
{
    if (!options.topology.empty()) return validate_topology(options);
    if (!options.input.empty()) return validate_file(options);
    validate_simulator();
}

}  // namespace tengine::tpu
