// SPDX-License-Identifier: Apache-2.0
// graph.h: models in memory, and sizes above 2 GiB. Large bytes are mapped without memory, so that
// only the pages with values exist.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <sys/mman.h>

#include "fixture.h"
#include "onnx_graph.h"
#include "serializer/tmfile/tmfile.h"
#include "tengine/calibration.h"
#include "tengine/graph.h"

namespace tengine {
namespace {

constexpr int kRowBytes = 1 << 20;
constexpr int kRows = 2500;
constexpr size_t kLargeBytes = size_t{kRows} * kRowBytes;
constexpr int kOnnxUint8 = 2;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || UINTPTR_MAX == UINT32_MAX
constexpr bool kHasLargeMemory = false;
#else
constexpr bool kHasLargeMemory = true;
#endif

// Zeroes that take no memory until they are written.
class SparseBytes
{
  public:
    explicit SparseBytes(size_t size) : size_(size)
    {
        void* mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        bytes_ = mapped == MAP_FAILED ? nullptr : static_cast<char*>(mapped);
    }
    ~SparseBytes()
    {
        if (bytes_) munmap(bytes_, size_);
    }
    SparseBytes(const SparseBytes&) = delete;
    SparseBytes& operator=(const SparseBytes&) = delete;

    char* get() const { return bytes_; }

  private:
    size_t size_;
    char* bytes_ = nullptr;
};

// y = Gather(w, i), rows of kRowBytes: the last row has other values than all before.
void expect_last_row(graph_t graph, char value)
{
    ASSERT_NE(graph, nullptr) << get_tengine_error();
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    const tensor_t index = get_graph_tensor(graph, "i");
    const tensor_t row = tengine_graph_get_output(graph, 0);
    ASSERT_EQ(get_tensor_buffer_size(row), kRowBytes);
    for (const int64_t place : {kRows - 1, kRows - 2}) {
        ASSERT_EQ(tengine_tensor_set_data(index, &place, sizeof place), 0) << get_tengine_error();
        ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        std::string read(kRowBytes, '\xff');
        ASSERT_EQ(tengine_tensor_get_data(row, &read[0], read.size()), 0) << get_tengine_error();
        EXPECT_TRUE(read == std::string(kRowBytes, place == kRows - 1 ? value : '\0')) << place;
    }
}

// The key and the length of a counted field, whose bytes follow.
std::string begin_field(int field, size_t size)
{
    std::string begin = Message().number(field, size).text();
    begin[0] = static_cast<char>(field << 3 | 2);
    return begin;
}

std::string make_opset()
{
    return Message().bytes(1, "").number(2, 13).text();
}

// y = Gather(w, i) with w as an input.
std::string make_gather_model()
{
    return make_model({make_node("Gather", {"w", "i"}, "y", "n")},
                      {onnx::value("w", kOnnxUint8, {kRows, kRowBytes}), onnx::value("i", 7, {1})},
                      onnx::value("y", kOnnxUint8, {1, kRowBytes}));
}

// The same with w as a constant: the bytes of the model before and after its values.
struct ModelEnds
{
    std::string before, after;
};

ModelEnds make_large_model()
{
    const std::string nodes =
        Message().bytes(1, make_node("Gather", {"w", "i"}, "y", "n")).bytes(2, "g").text();
    const std::string weight =
        Message().number(1, kRows).number(1, kRowBytes).number(2, kOnnxUint8).bytes(8, "w").text() +
        begin_field(9, kLargeBytes);
    const std::string initializer = begin_field(5, weight.size() + kLargeBytes) + weight;
    ModelEnds ends;
    ends.after = Message()
                     .bytes(11, onnx::value("i", 7, {1}))
                     .bytes(12, onnx::value("y", kOnnxUint8, {1, kRowBytes}))
                     .text();
    const size_t graph = nodes.size() + initializer.size() + kLargeBytes + ends.after.size();
    ends.before = Message().number(1, 8).bytes(8, make_opset()).text() + begin_field(7, graph) +
                  nodes + initializer;
    return ends;
}

class LargeModelTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        if (!kHasLargeMemory) GTEST_SKIP() << "no address space for several times 2 GiB";
    }
};

TEST_F(LargeModelTest, InputsAreLent)
{
    const std::string model = make_gather_model();
    const graph_t graph = tengine_graph_load(nullptr, "onnx", model.data(), model.size());
    ASSERT_NE(graph, nullptr) << get_tengine_error();
    const SparseBytes bytes(kLargeBytes);
    ASSERT_NE(bytes.get(), nullptr);
    std::memset(bytes.get() + kLargeBytes - kRowBytes, 7, kRowBytes);
    const tensor_t w = get_graph_tensor(graph, "w");
    ASSERT_EQ(tengine_tensor_get_buffer_size(w), static_cast<int64_t>(kLargeBytes));
    for (const size_t wrong : {kLargeBytes - 1, kLargeBytes + 1, size_t{0}}) {
        EXPECT_EQ(tengine_tensor_set_buffer(w, bytes.get(), wrong), -1);
        EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    }
    ASSERT_EQ(tengine_tensor_set_buffer(w, bytes.get(), kLargeBytes), 0) << get_tengine_error();
    expect_last_row(graph, 7);
    EXPECT_EQ(destroy_graph(graph), 0);
}

TEST_F(LargeModelTest, DataAreCopied)
{
    const std::string model = make_gather_model();
    const graph_t graph = tengine_graph_load(nullptr, "onnx", model.data(), model.size());
    ASSERT_NE(graph, nullptr) << get_tengine_error();
    const tensor_t w = get_graph_tensor(graph, "w");
    {
        const SparseBytes bytes(kLargeBytes);
        ASSERT_NE(bytes.get(), nullptr);
        std::memset(bytes.get() + kLargeBytes - kRowBytes, 9, kRowBytes);
        EXPECT_EQ(tengine_tensor_set_data(w, bytes.get(), kLargeBytes + 1), -1);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
        ASSERT_EQ(tengine_tensor_set_data(w, bytes.get(), kLargeBytes), 0) << get_tengine_error();
    }
    expect_last_row(graph, 9);
    {
        const SparseBytes read(kLargeBytes);
        ASSERT_NE(read.get(), nullptr);
        EXPECT_EQ(tengine_tensor_get_data(w, read.get(), kLargeBytes - 1), -1);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
        EXPECT_EQ(read.get()[kLargeBytes - 1], 0);
        ASSERT_EQ(tengine_tensor_get_data(w, read.get(), kLargeBytes), 0) << get_tengine_error();
        EXPECT_EQ(read.get()[kLargeBytes - 1], 9);
        EXPECT_EQ(read.get()[kLargeBytes - kRowBytes], 9);
        EXPECT_EQ(read.get()[kLargeBytes - kRowBytes - 1], 0);
    }
    EXPECT_EQ(destroy_graph(graph), 0);
}

// y = Conv(Slice(x)): the ranges are those of all elements.
TEST_F(LargeModelTest, SamplesOfACalibration)
{
    using namespace onnx;
    constexpr int kColumns = kRowBytes / 4;
    SparseBytes bytes(kLargeBytes);
    ASSERT_NE(bytes.get(), nullptr);
    const float first = -2, last = 7;
    std::memcpy(bytes.get(), &first, sizeof first);
    std::memcpy(bytes.get() + kLargeBytes - sizeof last, &last, sizeof last);
    const graph_t graph = load(onnx::graph(
        {node("Slice", {"x", "begin", "end", "axes"}, {"corner"}),
         node("Conv", {"corner", "w"}, {"y"})},
        {value("x", kFloat, {1, 1, kRows, kColumns})}, {value("y", kFloat, {1, 1, 4, 4})},
        {constant<int64_t>("begin", kInt64, {2}, {0, 0}),
         constant<int64_t>("end", kInt64, {2}, {4, 4}),
         constant<int64_t>("axes", kInt64, {2}, {2, 3}),
         constant<float>("w", kFloat, {1, 1, 1, 1}, {0.5f})}));
    ASSERT_NE(graph, nullptr) << get_tengine_error();
    tengine_calibration_options how = {};
    how.user = bytes.get();
    how.read_sample = [](void* user, int64_t index, tengine_sample_input inputs[], int) {
        inputs[0].data = user;
        EXPECT_EQ(inputs[0].size, kLargeBytes);
        return index == 0 ? 1 : 0;
    };
    const tengine_calibration_t calibration = tengine_calibration_create(graph, &how, sizeof how);
    ASSERT_EQ(tengine_calibration_run(calibration), 0) << get_tengine_error();
    tengine_calibration_summary summary;
    ASSERT_EQ(tengine_calibration_get_summary(calibration, &summary, sizeof summary), 0);
    bool has_input = false;
    for (int i = 0; i < summary.tensor_number; ++i) {
        tengine_calibrated_tensor tensor;
        ASSERT_EQ(tengine_calibration_get_tensor(calibration, i, &tensor, sizeof tensor), 0);
        if (std::strcmp(tensor.name, "x") != 0) continue;
        has_input = true;
        EXPECT_EQ(tensor.least, first);
        EXPECT_EQ(tensor.greatest, last);
    }
    EXPECT_TRUE(has_input);
    EXPECT_EQ(tengine_calibration_compare(calibration, nullptr, 0), 0) << get_tengine_error();
    EXPECT_EQ(tengine_calibration_destroy(calibration), 0);
    destroy_graph(graph);
}

TEST_F(LargeModelTest, OnnxModelsInMemory)
{
    const ModelEnds ends = make_large_model();
    const size_t size = ends.before.size() + kLargeBytes + ends.after.size();
    graph_t graph = nullptr;
    {
        const SparseBytes model(size);
        ASSERT_NE(model.get(), nullptr);
        ends.before.copy(model.get(), ends.before.size());
        char* values = model.get() + ends.before.size();
        std::memset(values + kLargeBytes - kRowBytes, 5, kRowBytes);
        ends.after.copy(values + kLargeBytes, ends.after.size());
        EXPECT_EQ(tengine_graph_load(nullptr, "onnx", model.get(), size - 1), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_EFORMAT));
        graph = tengine_graph_load(nullptr, "onnx", model.get(), size);
    }
    expect_last_row(graph, 5);
    EXPECT_EQ(destroy_graph(graph), 0);
}

TEST_F(LargeModelTest, OnnxFiles)
{
    const ModelEnds ends = make_large_model();
    const std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("large_" + std::to_string(getpid()) + ".onnx");
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    ASSERT_GE(file, 0);
    const auto begin = static_cast<off_t>(ends.before.size());
    const auto end = static_cast<off_t>(ends.before.size() + kLargeBytes);
    const std::string row(kRowBytes, 6);
    const auto write = [&](const std::string& bytes, off_t place) {
        return pwrite(file, bytes.data(), bytes.size(), place) ==
               static_cast<ssize_t>(bytes.size());
    };
    const bool written = write(ends.before, 0) && write(ends.after, end) &&
                         write(row, begin + static_cast<off_t>(kLargeBytes - kRowBytes));
    close(file);
    const graph_t graph = written ? create_graph(nullptr, "onnx", path.c_str()) : nullptr;
    std::filesystem::remove(path);
    if (!written) GTEST_SKIP() << "no sparse files of this size";
    expect_last_row(graph, 6);
    EXPECT_EQ(destroy_graph(graph), 0);
}

// Replaces a sequence of words of a file, which has it once.
template <size_t number>
void replace_words(std::string& bytes, const uint32_t (&from)[number], const uint32_t (&to)[number])
{
    const std::string wanted(reinterpret_cast<const char*>(from), sizeof from);
    const size_t place = bytes.find(wanted);
    ASSERT_NE(place, std::string::npos);
    ASSERT_EQ(bytes.find(wanted, place + 1), std::string::npos);
    std::memcpy(&bytes[place], to, sizeof to);
}

// y = Gather(w, i) as a tmfile of a w with two rows, changed to one whose w begins at *out_weight.
std::string make_large_tmfile(size_t* out_weight)
{
    const graph_t graph = create_graph(nullptr, nullptr, nullptr);
    const std::string rows(2 * kRowBytes, 'w');
    const tensor_t w = add_constant(graph, "w", {2, kRowBytes}, rows.data(), TENGINE_DT_UINT8);
    const tensor_t i = add_input(graph, "i", {1}, TENGINE_DT_INT64);
    const tensor_t y = create_graph_tensor(graph, "y", TENGINE_DT_UINT8);
    const node_t gather = tengine_graph_add_node(graph, "y", "", "Gather", 13);
    EXPECT_EQ(set_node_input_tensor(gather, 0, w), 0);
    EXPECT_EQ(set_node_input_tensor(gather, 1, i), 0);
    EXPECT_EQ(set_node_output_tensor(gather, 0, y, TENSOR_TYPE_VAR), 0);
    EXPECT_TRUE(set_borders(graph, {"i"}, {"y"}));
    Vector<char> encoded;
    EXPECT_EQ(encode_tmfile(static_cast<struct graph*>(graph), &encoded), 0) << get_tengine_error();
    EXPECT_EQ(destroy_graph(graph), 0);
    std::string bytes(encoded.begin(), encoded.end());
    *out_weight = (bytes.size() / kRowBytes + 1) * kRowBytes;
    const auto old_place = static_cast<uint32_t>(bytes.find(rows));
    replace_words(bytes, {static_cast<uint32_t>(rows.size()), old_place},
                  {static_cast<uint32_t>(kLargeBytes), static_cast<uint32_t>(*out_weight)});
    replace_words(bytes, {2, 2, uint32_t{kRowBytes}}, {2, uint32_t{kRows}, uint32_t{kRowBytes}});
    return bytes;
}

TEST_F(LargeModelTest, TmfilesInMemory)
{
    size_t weight = 0;
    const std::string head = make_large_tmfile(&weight);
    const size_t size = weight + kLargeBytes;
    const SparseBytes view(size);
    auto* block = static_cast<char*>(std::malloc(size));
    ASSERT_TRUE(view.get() && block);
    for (char* bytes : {view.get(), block}) {
        head.copy(bytes, head.size());
        std::memset(bytes + size - 2 * kRowBytes, 0, kRowBytes);
        std::memset(bytes + size - kRowBytes, 3, kRowBytes);
    }
    EXPECT_EQ(tengine_graph_load(nullptr, "tengine:view", view.get(), size - 1), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_EFORMAT));
    const graph_t viewed = tengine_graph_load(nullptr, "tengine:view", view.get(), size);
    expect_last_row(viewed, 3);
    EXPECT_EQ(destroy_graph(viewed), 0);
    const graph_t owner = tengine_graph_load(nullptr, "tengine:m", block, size);
    expect_last_row(owner, 3);
    EXPECT_EQ(get_tensor_buffer(get_graph_tensor(owner, "w")), block + weight);
    EXPECT_EQ(destroy_graph(owner), 0);
}

void expect_relu(graph_t graph)
{
    ASSERT_NE(graph, nullptr) << get_tengine_error();
    ASSERT_TRUE(write_floats(tengine_graph_get_input(graph, 0), {-1, 2, -3, 4}));
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
    EXPECT_EQ(read_floats(tengine_graph_get_output(graph, 0)), (std::vector<float>{0, 2, 0, 4}));
    EXPECT_EQ(destroy_graph(graph), 0);
}

class MemoryModelTest : public ApiTest
{
};

TEST_F(MemoryModelTest, CopiedBytesMayBeFreed)
{
    const graph_t relu = create_relu_graph();
    Vector<char> encoded;
    ASSERT_EQ(encode_tmfile(static_cast<struct graph*>(relu), &encoded), 0);
    EXPECT_EQ(destroy_graph(relu), 0);
    const std::string tmfile(encoded.begin(), encoded.end());
    const std::string onnx = make_unary_model("Relu");
    for (const char* format : {"onnx", "onnx:m", "onnx:view", "tengine"}) {
        SCOPED_TRACE(format);
        std::string bytes = std::strcmp(format, "tengine") == 0 ? tmfile : onnx;
        const graph_t graph = tengine_graph_load(nullptr, format, bytes.data(), bytes.size());
        bytes.assign(bytes.size(), '\xff');
        expect_relu(graph);
    }
}

TEST_F(MemoryModelTest, CopiedConstantsMayBeFreed)
{
    const graph_t graph = create_relu_graph();
    const std::vector<float> values(64, 2.5f);
    add_constant(graph, "w", {64}, values.data());
    Vector<char> bytes;
    ASSERT_EQ(encode_tmfile(static_cast<struct graph*>(graph), &bytes), 0);
    EXPECT_EQ(destroy_graph(graph), 0);
    const graph_t copy = tengine_graph_load(nullptr, "tengine", bytes.data(), bytes.size());
    std::fill(bytes.begin(), bytes.end(), '\0');
    EXPECT_EQ(read_floats(get_graph_tensor(copy, "w")), values);
    EXPECT_EQ(destroy_graph(copy), 0);
}

TEST_F(MemoryModelTest, Refusals)
{
    const std::string bytes = make_unary_model("Relu");
    const auto expect_refused = [&](const char* format, const void* data, size_t size, int code,
                                    const std::string& part) {
        EXPECT_EQ(tengine_graph_load(nullptr, format, data, size), nullptr);
        EXPECT_NE(std::string(get_tengine_error()).find(part), std::string::npos)
            << get_tengine_error();
        EXPECT_TRUE(failed_with(code));
    };
    expect_refused("onnx", nullptr, 8, TENGINE_EINVAL, "tengine_graph_load: data is NULL");
    expect_refused("onnx", bytes.data(), 0, TENGINE_EINVAL, "0 bytes, expected 1 or more");
    expect_refused(nullptr, bytes.data(), bytes.size(), TENGINE_EINVAL, "model_format");
    expect_refused("", bytes.data(), bytes.size(), TENGINE_EINVAL, "model_format");
    expect_refused("other", bytes.data(), bytes.size(), TENGINE_ENOENT,
                   "tengine_graph_load: unknown model format 'other'");
    expect_refused("onnx", bytes.data(), bytes.size() - 1, TENGINE_EFORMAT, "not an ONNX model");
    expect_refused("tengine", bytes.data(), bytes.size(), TENGINE_EFORMAT, "");
    EXPECT_EQ(tengine_graph_load(const_cast<char*>(bytes.data()), "onnx", bytes.data(), 1),
              nullptr);
    EXPECT_TRUE(failed_with(TENGINE_EHANDLE));
}

}  // namespace
}  // namespace tengine
