// SPDX-License-Identifier: Apache-2.0
// How much memory loading a model takes at its peak: its weights once, not once more in protobuf
// and once more as pages of the file.
#include <fstream>

#include "serializer/onnx_builder.h"

namespace tengine::test {
namespace {

using OnnxMemoryTest = SerializerTest;

constexpr size_t kWeightBytes = size_t{64} << 20;
constexpr double kUnknown = -1e9;

// The thread sanitizer keeps several bytes of its own for each byte of ours.
#if defined(__SANITIZE_THREAD__)
constexpr bool kCountsOurs = false;
#else
constexpr bool kCountsOurs = true;
#endif

// A line of /proc/self/status ("VmRSS"), in bytes; 0 where there is no such file.
size_t read_status(const std::string& name)
{
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);) {
        if (line.rfind(name + ":", 0) == 0) return std::stoul(line.substr(name.size() + 1)) << 10;
    }
    return 0;
}

// Makes the present size the peak so far.
bool reset_peak()
{
    std::ofstream file("/proc/self/clear_refs");
    file << "5" << std::flush;
    return file.good();
}

std::string encode_large_model()
{
    OnnxBuilder builder;
    builder.add_output("w");
    auto* weight = builder.graph().add_initializer();
    weight->set_name("w");
    weight->set_data_type(onnx::TensorProto::UINT8);
    weight->add_dims(kWeightBytes);
    weight->set_raw_data(std::string(kWeightBytes, 'x'));
    return builder.encode();
}

// What loading `source` adds to the process at its peak, in multiples of the weights.
template <typename Source>
double measure_peak(const Source& source)
{
    const size_t before = read_status("VmRSS");
    if (!kCountsOurs || before == 0 || !reset_peak()) return kUnknown;
    const Loaded loaded(source);
    EXPECT_EQ(loaded.status, 0) << loaded.message;
    const double added = static_cast<double>(read_status("VmHWM")) - static_cast<double>(before);
    return added / kWeightBytes;
}

TEST_F(OnnxMemoryTest, FileHoldsWeightsOnce)
{
    const ScratchFolder folder;
    const std::filesystem::path file = folder.write("large.onnx", encode_large_model());
    const double peak = measure_peak(file);
    if (peak == kUnknown) GTEST_SKIP() << "the peak memory of the process is not known here, or not ours";
    EXPECT_LT(peak, 1.5);
}

TEST_F(OnnxMemoryTest, BufferIsNotCopied)
{
    const std::string bytes = encode_large_model();
    const double peak = measure_peak(bytes);
    if (peak == kUnknown) GTEST_SKIP() << "the peak memory of the process is not known here, or not ours";
    EXPECT_LT(peak, 1.5);
}

}  // namespace
}  // namespace tengine::test
