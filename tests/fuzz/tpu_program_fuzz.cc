// SPDX-License-Identifier: Apache-2.0
// Fuzz target: any bytes as a program of the simulated TPU: loaded, printed, checked, and if valid
// counted and run. The mutator signs its programs, so that more than the hash is tested.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/tpu/sample_program.h"
#include "fuzz/refusal.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed)
{
    using namespace tengine::tpu;
    static const std::vector<uint8_t> sample = save_program(sample_program());
    // Sometimes starts from the sample again: few inputs that start empty become programs.
    if ((size == 0 || seed % 64 == 0) && sample.size() <= max_size) {
        std::copy(sample.begin(), sample.end(), data);
        size = sample.size();
    }
    std::vector<uint8_t> file(data, data + LLVMFuzzerMutate(data, size, max_size));
    if (seed % 16 != 0) sign_program(&file);
    std::copy(file.begin(), file.end(), data);
    return file.size();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static const tengine::tpu::Config config = tengine::tpu::sample_config();
    tengine::test::note_input(
        tengine::tpu::use_program(std::vector<uint8_t>(data, data + size), config));
    return 0;
}
