// SPDX-License-Identifier: Apache-2.0
// create_graph with tmfiles: from a path, from memory that the graph then owns, from memory that it
// does not own, and the ownership afterwards. The library itself saves the model.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "fixture.h"
#include "graph/graph.h"
#include "serializer/tmfile/tmfile.h"

namespace tengine {
namespace {

// Long enough to be used in place.
const std::vector<float> kWeights(20, 2.5f);

// y = Relu(x), which is saved as an extension record, and a constant.
std::string make_tmfile()
{
    const graph_t graph = create_relu_graph();
    add_constant(graph, "w", {static_cast<int>(kWeights.size())}, kWeights.data());
    Vector<char> bytes;
    EXPECT_EQ(encode_tmfile(static_cast<struct graph*>(graph), &bytes), 0) << get_tengine_error();
    EXPECT_EQ(destroy_graph(graph), 0);
    return std::string(bytes.begin(), bytes.end());
}

char* copy_block(const std::string& bytes)
{
    char* block = static_cast<char*>(std::malloc(bytes.size()));
    std::copy(bytes.begin(), bytes.end(), block);
    return block;
}

void expect_relu(graph_t graph)
{
    ASSERT_NE(graph, nullptr) << get_tengine_error();
    EXPECT_EQ(read_floats(get_graph_tensor(graph, "w")), kWeights);
    ASSERT_TRUE(write_floats(get_graph_input_tensor(graph, 0, 0), {-1, 2, -3, 4}));
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
    EXPECT_EQ(read_floats(get_graph_output_tensor(graph, 0, 0)), (std::vector<float>{0, 2, 0, 4}));
}

class TmfileSourceTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        bytes_ = make_tmfile();
    }
    void TearDown() override
    {
        // Tengine Lite logged an error for valid files.
        EXPECT_EQ(take_logged_failures(), std::vector<std::string>());
        ApiTest::TearDown();
    }

    bool lies_in(const void* data, const char* block) const
    {
        const char* place = static_cast<const char*>(data);
        return place >= block && place < block + bytes_.size();
    }

    std::string bytes_;
};

TEST_F(TmfileSourceTest, PathIsMapped)
{
    const std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("source_" + std::to_string(getpid()) + ".tmfile");
    std::ofstream(path, std::ios::binary) << bytes_;
    const graph_t graph = create_graph(nullptr, "tengine", path.c_str());
    ASSERT_NE(graph, nullptr) << get_tengine_error();
    // Sets values as benchmark programs do; the file does not change.
    const tensor_t w = get_graph_tensor(graph, "w");
    static_cast<float*>(get_tensor_buffer(w))[0] = 9;
    std::ifstream stream(path, std::ios::binary);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(stream), {}), bytes_);
    static_cast<float*>(get_tensor_buffer(w))[0] = kWeights[0];
    std::filesystem::remove(path);
    expect_relu(graph);
    EXPECT_EQ(destroy_graph(graph), 0);
    EXPECT_EQ(create_graph(nullptr, "tengine", path.c_str()), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_EIO));
    EXPECT_EQ(create_graph(nullptr, "tengine", nullptr), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
}

// The address sanitizer detects a leak or a double free.
TEST_F(TmfileSourceTest, MemoryIsTakenOver)
{
    for (const char* format : {"tengine:m", "anything:m", ":m", "tengine:mem"}) {
        SCOPED_TRACE(format);
        char* block = copy_block(bytes_);
        const graph_t graph = create_graph(nullptr, format, block, static_cast<int>(bytes_.size()));
        ASSERT_NE(graph, nullptr) << get_tengine_error();
        EXPECT_TRUE(lies_in(get_tensor_buffer(get_graph_tensor(graph, "w")), block));
        expect_relu(graph);
        EXPECT_EQ(destroy_graph(graph), 0);
    }
}

TEST_F(TmfileSourceTest, MemoryStaysTheCallersAfterAFailure)
{
    char* block = copy_block(bytes_);
    EXPECT_EQ(create_graph(nullptr, "tengine:m", block, static_cast<int>(bytes_.size()) - 8),
              nullptr);
    EXPECT_TRUE(failed_with(TENGINE_EFORMAT));
    block[0] = 1;
    EXPECT_EQ(create_graph(nullptr, "tengine:m", block, static_cast<int>(bytes_.size())), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_EFORMAT));
    std::free(block);
    EXPECT_EQ(create_graph(nullptr, "tengine:m", bytes_.data(), 0), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(create_graph(nullptr, "tengine:m", nullptr, 8), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
}

TEST_F(TmfileSourceTest, ViewIsOnlyRead)
{
    const std::string original = bytes_;
    const auto size = static_cast<int>(bytes_.size());
    const graph_t first = create_graph(nullptr, "tengine:view", bytes_.data(), size);
    const graph_t second = create_graph(nullptr, "tengine:view", bytes_.data(), size);
    ASSERT_NE(first, nullptr) << get_tengine_error();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes_.data()) % sizeof(float), 0u);
    EXPECT_TRUE(lies_in(get_tensor_buffer(get_graph_tensor(first, "w")), bytes_.data()));
    expect_relu(first);
    expect_relu(second);
    EXPECT_EQ(destroy_graph(first), 0);
    EXPECT_EQ(destroy_graph(second), 0);
    EXPECT_EQ(bytes_, original);
    EXPECT_EQ(create_graph(nullptr, "anything:view", bytes_.data(), size), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ENOENT));
}

}  // namespace
}  // namespace tengine
