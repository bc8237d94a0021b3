// SPDX-License-Identifier: Apache-2.0
// Measures the accuracy of the shipped network on the held-out images again; digits.json and the
// README state it.
#include <gtest/gtest.h>
#include <regex>

#include "models/model_run.h"
#include "tensor_file/tensor_file.h"

namespace tengine::models {
namespace {

using tools::Tensor;

std::string data_file(const std::string& name)
{
    return std::string(TENGINE_EXAMPLES_DATA_DIR) + "/" + name;
}

// Returns the number under `key` in digits.json.
int stated(const std::string& key)
{
    const std::string text = tools::read_file(data_file("digits.json"));
    std::smatch match;
    if (!std::regex_search(text, match, std::regex("\"" + key + "\": ([0-9]+)"))) return -1;
    return std::stoi(match[1]);
}

class Digits : public testing::Test
{
  protected:
    Tensor images_ = tools::read_tensor(data_file("heldout_images.npy"));
    Tensor labels_ = tools::read_tensor(data_file("heldout_labels.npy"));
    ModelRun model_{data_file("digits.onnx")};

    int number() const { return images_.shape[0]; }

    Tensor image(int index) const
    {
        const size_t size = images_.bytes.size() / static_cast<size_t>(number());
        const auto begin = images_.bytes.begin() + static_cast<std::ptrdiff_t>(size) * index;
        Tensor image = images_;
        image.shape[0] = 1;
        image.bytes.assign(begin, begin + static_cast<std::ptrdiff_t>(size));
        return image;
    }

    // Whether row `row` of `probabilities` is largest at the label of image `index`.
    bool is_right(const Tensor& probabilities, int row, int index) const
    {
        const int classes = probabilities.shape[1];
        int best = 0;
        for (int i = 1; i < classes; ++i) {
            if (probability(probabilities, row, i) > probability(probabilities, row, best))
                best = i;
        }
        return best == tools::get_element(labels_, static_cast<size_t>(index));
    }

  private:
    static double probability(const Tensor& probabilities, int row, int column)
    {
        const int place = row * probabilities.shape[1] + column;
        return tools::get_element(probabilities, static_cast<size_t>(place));
    }
};

TEST_F(Digits, AllImagesAsOneBatchAreAsRightAsStated)
{
    const Tensor probabilities = model_.run(images_);
    ASSERT_EQ(probabilities.shape, (std::vector<int>{number(), 10}));
    int right = 0;
    for (int i = 0; i < number(); ++i)
        right += is_right(probabilities, i, i);
    EXPECT_EQ(number(), stated("images"));
    EXPECT_EQ(right, stated("correct"));
}

TEST_F(Digits, ImagesOneByOneAreAsRightAsStated)
{
    int right = 0;
    for (int i = 0; i < number(); ++i)
        right += is_right(model_.run(image(i)), 0, i);
    EXPECT_EQ(right, stated("correct"));
}

TEST_F(Digits, ASmallerBatchAfterALargerOneGivesTheSame)
{
    const Tensor all = model_.run(images_);
    const Tensor first = model_.run(image(0));
    for (size_t i = 0; i < first.element_number(); ++i)
        EXPECT_NEAR(tools::get_element(first, i), tools::get_element(all, i), 1e-6);
}

}  // namespace
}  // namespace tengine::models
