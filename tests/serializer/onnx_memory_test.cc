// SPDX-License-Identifier: Apache-2.0
// The peak memory of loading a model: none for weights that stay in the mapped file, at any
// address; for others one copy, without another in protobuf or as pages of the file.
#include <fstream>

#include "graph/graph.h"
#include "serializer/onnx_builder.h"

namespace tengine::test {
namespace {

using OnnxMemoryTest = SerializerTest;

constexpr size_t kWeightBytes = size_t{64} << 20;
constexpr double kUnknown = -1e9;

// The thread sanitizer keeps several bytes for each byte of the program.
#if defined(__SANITIZE_THREAD__)
constexpr bool kCountsOurs = false;
#else
constexpr bool kCountsOurs = true;
#endif

// A line of /proc/self/status ("VmRSS"), in bytes; 0 without such a file.
size_t read_status(const std::string& name)
{
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);) {
        if (line.rfind(name + ":", 0) == 0) return std::stoul(line.substr(name.size() + 1)) << 10;
    }
    return 0;
}

// Resets the peak to the present size.
bool reset_peak()
{
    std::ofstream file("/proc/self/clear_refs");
    file << "5" << std::flush;
    return file.good();
}

// One constant of floats, whose bytes begin at a multiple of 4 in the file or one byte after it.
std::string encode_large_model(bool aligned)
{
    for (size_t length = 1;; ++length) {
        OnnxBuilder builder;
        const std::string name(length, 'w');
        builder.add_output(name);
        auto* weight = builder.graph().add_initializer();
        weight->set_name(name);
        weight->set_data_type(onnx::TensorProto::FLOAT);
        weight->add_dims(2);
        weight->add_dims(kWeightBytes / sizeof(float) / 2);
        weight->set_raw_data(std::string(kWeightBytes, 'x'));
        std::string bytes = builder.encode();
        if (bytes.find("xxxxxxxx") % sizeof(float) == (aligned ? 0 : 1)) return bytes;
    }
}

// Returns the memory that an action adds to the process at its peak, in multiples of the weights.
template <typename Action>
double measure_added(const Action& action)
{
    const size_t before = read_status("VmRSS");
    if (!kCountsOurs || before == 0 || !reset_peak()) return kUnknown;
    action();
    const double added = static_cast<double>(read_status("VmHWM")) - static_cast<double>(before);
    return added / kWeightBytes;
}

template <typename Source>
double measure_peak(const Source& source)
{
    return measure_added([&source] {
        const Loaded loaded(source);
        EXPECT_EQ(loaded.status, 0) << loaded.message;
    });
}

void expect_peak(double peak, double most)
{
    if (peak == kUnknown)
        GTEST_SKIP() << "the peak memory of the process is not known here, or not ours";
    EXPECT_LT(peak, most);
}

TEST_F(OnnxMemoryTest, WeightsStayInTheFile)
{
    const ScratchFolder folder;
    expect_peak(measure_peak(folder.write("large.onnx", encode_large_model(true))), 0.1);
}

TEST_F(OnnxMemoryTest, UnalignedWeightsStayThereToo)
{
    const ScratchFolder folder;
    expect_peak(measure_peak(folder.write("large.onnx", encode_large_model(false))), 0.1);
}

TEST_F(OnnxMemoryTest, TheirCopyIsMadeInPieces)
{
    const ScratchFolder folder;
    const Loaded loaded(folder.write("large.onnx", encode_large_model(false)));
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    const auto align = [&loaded] { EXPECT_EQ(align_ir_constants(loaded.graph), TENGINE_OK); };
    expect_peak(measure_added(align), 1.1);
    EXPECT_NE(loaded.graph->tensor_list[0]->free_host_mem, 0);
}

TEST_F(OnnxMemoryTest, ABufferIsCopiedOnce)
{
    expect_peak(measure_peak(encode_large_model(true)), 1.15);
}

TEST_F(OnnxMemoryTest, ExternalWeightsStayInTheirFile)
{
    const ScratchFolder folder;
    folder.write("large.bin", std::string(kWeightBytes, 'x'));
    OnnxBuilder builder;
    builder.add_output("w");
    auto* weight = builder.graph().add_initializer();
    weight->set_name("w");
    weight->set_data_type(onnx::TensorProto::FLOAT);
    weight->add_dims(kWeightBytes / sizeof(float));
    weight->set_data_location(onnx::TensorProto::EXTERNAL);
    weight->add_external_data()->set_key("location");
    weight->mutable_external_data(0)->set_value("large.bin");
    expect_peak(measure_peak(folder.write("large.onnx", builder.encode())), 0.1);
}

}  // namespace
}  // namespace tengine::test
