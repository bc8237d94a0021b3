// SPDX-License-Identifier: Apache-2.0
// Shapes of a tmfile's tensors that its file does not have: inferred from scratch.
#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>

#include "models/model_run.h"
#include "models/sample_graph.h"
#include "tensor_file/tensor_file.h"

namespace tengine::models {
namespace {

// Returns a word of a tmfile.
uint32_t word(const std::string& bytes, size_t place)
{
    uint32_t value = 0;
    std::memcpy(&value, bytes.data() + place, sizeof(value));
    return value;
}

// Removes the shapes of computed tensors from the file, so that they must be inferred. Returns
// their number. Offsets: ../shared/spec/tmfile.md §3.
int forget_shapes(std::string* bytes)
{
    const uint32_t root = word(*bytes, 8);
    const uint32_t subgraph = word(*bytes, word(*bytes, root + 8) + 4);
    const uint32_t tensors = word(*bytes, subgraph + 24);
    int taken = 0;
    for (uint32_t i = 0; i < word(*bytes, tensors); ++i) {
        const uint32_t tensor = word(*bytes, tensors + 4 + 4 * i);
        const uint32_t type = word(*bytes, tensor + 24);
        if (type != TENSOR_TYPE_VAR || word(*bytes, tensor + 8) == 0) continue;
        std::memset(bytes->data() + tensor + 8, 0, 4);
        ++taken;
    }
    return taken;
}

// `computed`: the number of the file's tensors that are neither inputs nor constants.
void expect_inferred_shapes(const std::string& path, int computed)
{
    std::string bytes = tools::read_file(path);
    const SampleGraph stored(path);
    ASSERT_EQ(forget_shapes(&bytes), computed);
    const SampleGraph inferred = SampleGraph::of_bytes(bytes);
    const std::vector<tensor_t> expected = stored.tensors(), tensors = inferred.tensors();
    ASSERT_EQ(tensors.size(), expected.size());
    EXPECT_EQ(std::count_if(tensors.begin(), tensors.end(),
                            [](tensor_t tensor) { return shape_of(tensor).empty(); }),
              computed);
    inferred.prepare();
    for (size_t i = 0; i < tensors.size(); ++i) {
        EXPECT_FALSE(shape_of(expected[i]).empty());
        EXPECT_EQ(shape_of(tensors[i]), shape_of(expected[i])) << get_tensor_name(tensors[i]);
    }
}

TEST(TmfileShapes, MnistHasTheShapesOfItsFileWhenInferredFromScratch)
{
    const std::string path = shared_data("tmfile/mnist.tmfile");
    if (!exists(path)) GTEST_SKIP() << absent(path);
    expect_inferred_shapes(path, 8);
}

TEST(TmfileShapes, DigitsHaveTheShapesOfTheirFileWhenInferredFromScratch)
{
    const DigitsFile file;
    expect_inferred_shapes(file.path, 12);
}

}  // namespace
}  // namespace tengine::models
