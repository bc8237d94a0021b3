// SPDX-License-Identifier: Apache-2.0
// Fuzz target: any string as a program of the simulated TPU. An assembled program is as untrusted
// as any program file, and its own text assembles to it again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "device/tpu/program/assembler.h"
#include "device/tpu/sample_program.h"
#include "fuzz/refusal.h"
#include "tengine/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    using namespace tengine::tpu;
    static const Config config = sample_config();
    Program program, again;
    const std::string text(reinterpret_cast<const char*>(data), size);
    const bool is_assembled = assemble(text, &program) == 0;
    tengine::test::note_input(is_assembled);
    if (!is_assembled) return 0;
    const std::vector<uint8_t> file = save_program(program);
    if (assemble(disassemble(program), &again) != 0 || save_program(again) != file) std::abort();
    use_program(file, config);
    tengine_error_clear();
    return 0;
}
