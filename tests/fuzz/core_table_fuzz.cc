// SPDX-License-Identifier: Apache-2.0
// Fuzz target: any bytes as a calibration table.
#include <cstddef>
#include <cstdint>

#include "fuzz/input_file.h"
#include "fuzz/refusal.h"
#include "optimizer/precision/table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    const tengine::test::InputFile file(data, size);
    tengine::CalibrationTable table;
    tengine::test::note_input(tengine::read_calibration_table(file.path(), &table) == 0);
    return 0;
}
