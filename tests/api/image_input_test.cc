// SPDX-License-Identifier: Apache-2.0
// Pictures straight into inputs of graphs. Their values are compared with tengine_image_convert,
// whose numbers tests/image compares.
#include <functional>
#include <numeric>
#include <utility>

#include "fixture.h"
#include "onnx_graph.h"
#include "tengine/image.h"

namespace tengine {
namespace {

using Bytes = std::vector<unsigned char>;

Bytes make_pixels(size_t number)
{
    Bytes pixels(number);
    for (size_t i = 0; i < number; ++i)
        pixels[i] = static_cast<unsigned char>(31 * i + i * i / 7);
    return pixels;
}

const Bytes kPixels = make_pixels(17 * 11 * 3);
const tengine_image kImage = {kPixels.data(), 17, 11, TENGINE_IMAGE_RGB, 0, 0};
const tengine_image kOther = {kPixels.data() + 60, 11, 15, TENGINE_IMAGE_BGR, 0, 0};

class ImageInput : public ApiTest
{
  protected:
    // y = Identity(x)
    void make(const std::vector<int>& dims, int data_type = TENGINE_DT_FP32,
              context_t context = nullptr)
    {
        graph_ = create_graph(context, nullptr, nullptr);
        x_ = add_input(graph_, "x", dims, data_type);
        y_ = add_node(graph_, "y", "Identity", {x_}, data_type);
        ASSERT_TRUE(set_borders(graph_, {"x"}, {"y"}));
    }

    void TearDown() override
    {
        if (graph_) destroy_graph(graph_);
        ApiTest::TearDown();
    }

    // The bytes that the graph computes.
    Bytes result() const
    {
        Bytes bytes(static_cast<size_t>(get_tensor_buffer_size(y_)));
        EXPECT_EQ(get_tensor_data(y_, bytes.data(), static_cast<int>(bytes.size())), 0)
            << get_tengine_error();
        return bytes;
    }

    static Bytes expected(int data_type, std::initializer_list<int> dims,
                          const std::vector<tengine_image>& images,
                          const tengine_image_settings* settings = nullptr, float scale = 0,
                          int zero_point = 0)
    {
        tengine_image_target target = {data_type, {}, scale, zero_point};
        std::copy(dims.begin(), dims.end(), target.dims);
        const auto element = static_cast<size_t>(data_type == TENGINE_DT_FP32   ? 4
                                                 : data_type == TENGINE_DT_FP16 ? 2
                                                                                : 1);
        Bytes bytes(element * static_cast<size_t>(std::accumulate(dims.begin(), dims.end(), 1,
                                                                  std::multiplies<>())));
        EXPECT_EQ(tengine_image_convert(images.data(), static_cast<int>(images.size()), settings,
                                        &target, bytes.data(), bytes.size()),
                  0)
            << get_tengine_error();
        return bytes;
    }

    graph_t graph_ = nullptr;
    tensor_t x_ = nullptr, y_ = nullptr;
};

TEST_F(ImageInput, GetsTheValuesOfABatch)
{
    make({2, 3, 8, 9});
    const tengine_image images[] = {kImage, kOther};
    ASSERT_EQ(tengine_image_set_input(x_, images, 2, nullptr), 0) << get_tengine_error();
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    EXPECT_EQ(result(), expected(TENGINE_DT_FP32, {2, 3, 8, 9}, {kImage, kOther}));
    // The prepared graph takes other pictures, and the caller's buffer.
    std::vector<float> mine(2 * 3 * 8 * 9);
    ASSERT_EQ(set_tensor_buffer(x_, mine.data(), static_cast<int>(mine.size() * sizeof(float))), 0);
    const tengine_image others[] = {kOther, kImage};
    ASSERT_EQ(tengine_image_set_input(x_, others, 2, nullptr), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    EXPECT_EQ(result(), expected(TENGINE_DT_FP32, {2, 3, 8, 9}, {kOther, kImage}));
    EXPECT_EQ(mine[0] != 0 || mine[1] != 0, true);
}

TEST_F(ImageInput, HasAllTypesAndLayouts)
{
    for (const int type : {TENGINE_DT_FP32, TENGINE_DT_FP16, TENGINE_DT_UINT8}) {
        make({1, 6, 5, 3}, type);
        ASSERT_EQ(tengine_image_set_input(x_, &kImage, 1, nullptr), 0) << get_tengine_error();
        ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
        ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
        EXPECT_EQ(result(), expected(type, {1, 6, 5, 3}, {kImage})) << type;
        destroy_graph(std::exchange(graph_, nullptr));
    }
}

TEST_F(ImageInput, IsQuantisedByTheScaleOfTheTensor)
{
    for (const int type : {TENGINE_DT_INT8, TENGINE_DT_UINT8}) {
        make({1, 3, 6, 5}, type);
        const float scales[] = {0.0039f, 1};
        const int zero_points[] = {type == TENGINE_DT_INT8 ? -128 : 3, 0};
        if (type == TENGINE_DT_INT8) {
            EXPECT_EQ(tengine_image_set_input(x_, &kImage, 1, nullptr), -1);
            EXPECT_TRUE(failed_with(TENGINE_EDTYPE));
        }
        ASSERT_EQ(set_tensor_quant_param(x_, scales, zero_points, 1), 0);
        ASSERT_EQ(tengine_image_set_input(x_, &kImage, 1, nullptr), 0) << get_tengine_error();
        Bytes bytes(90);
        ASSERT_EQ(get_tensor_data(x_, bytes.data(), 90), 0);
        EXPECT_EQ(bytes,
                  expected(type, {1, 3, 6, 5}, {kImage}, nullptr, scales[0], zero_points[0]));
        ASSERT_EQ(set_tensor_quant_param(x_, scales, zero_points, 2), 0);
        EXPECT_EQ(tengine_image_set_input(x_, &kImage, 1, nullptr), -1);
        EXPECT_TRUE(failed_with(TENGINE_ENOTSUP));
        destroy_graph(std::exchange(graph_, nullptr));
    }
}

TEST_F(ImageInput, MayChangeWhileRunsAreInFlight)
{
    context_t context = create_context("pipeline", 0);
    ASSERT_EQ(tengine_context_set_option(context, "scheduler", "pipeline"), 0);
    make({1, 3, 4, 4}, TENGINE_DT_FP32, context);
    ASSERT_EQ(tengine_image_set_input(x_, &kImage, 1, nullptr), 0) << get_tengine_error();
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(graph_, 0), 0) << get_tengine_error();
    ASSERT_EQ(tengine_image_set_input(x_, &kOther, 1, nullptr), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(graph_, 0), 0) << get_tengine_error();
    for (const tengine_image& image : {kImage, kOther}) {
        ASSERT_EQ(wait_graph(graph_, 0), 1) << get_tengine_error();
        EXPECT_EQ(result(), expected(TENGINE_DT_FP32, {1, 3, 4, 4}, {image}));
    }
    destroy_graph(std::exchange(graph_, nullptr));
    destroy_context(context);
}

TEST_F(ImageInput, RefusesOtherTensors)
{
    make({1, 3, 4, 4});
    EXPECT_EQ(tengine_image_set_input(y_, &kImage, 1, nullptr), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_image_set_input_shape(y_, &kImage, 1, nullptr), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_image_set_input(x_, nullptr, 1, nullptr), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_image_set_input(x_, &kImage, 2, nullptr), -1);
    EXPECT_NE(std::string(get_tengine_error()).find("2 pictures, expected 1"), std::string::npos);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    for (const std::vector<int>& dims :
         std::vector<std::vector<int>>{{1, 4, 4, 4}, {3, 4, 4}, {}}) {
        ASSERT_EQ(set_tensor_shape(x_, dims.data(), static_cast<int>(dims.size())), 0);
        EXPECT_EQ(tengine_image_set_input(x_, &kImage, 1, nullptr), -1);
        EXPECT_NE(std::string(get_tengine_error()).find("tensor 'x' has shape"), std::string::npos)
            << get_tengine_error();
        EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    }
    EXPECT_EQ(get_tensor_buffer(x_), nullptr) << "nothing was allocated";
}

class FreeImageInput : public ImageInput
{
  protected:
    void load(const std::vector<int>& dims)
    {
        graph_ = onnx::load(onnx::graph({onnx::node("Identity", {"x"}, {"y"})},
                                        {onnx::value("x", onnx::kFloat, dims)},
                                        {onnx::value("y", onnx::kFloat, dims)}));
        ASSERT_NE(graph_, nullptr) << get_tengine_error();
        x_ = get_graph_tensor(graph_, "x");
        y_ = get_graph_tensor(graph_, "y");
    }

    std::vector<int> shape() const
    {
        int dims[MAX_SHAPE_DIM_NUM];
        const int number = get_tensor_shape(x_, dims, MAX_SHAPE_DIM_NUM);
        return {dims, dims + number};
    }
};

TEST_F(FreeImageInput, GetsItsShapeFromThePictureOrTheSettings)
{
    load({-1, 3, -1, -1});
    EXPECT_EQ(tengine_image_set_input(x_, &kImage, 1, nullptr), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    ASSERT_EQ(tengine_image_set_input_shape(x_, &kImage, 2, nullptr), 0) << get_tengine_error();
    EXPECT_EQ(shape(), (std::vector<int>{2, 3, 11, 17}));
    // Again: the model's declaration decides, not the shape that was set.
    tengine_image_settings settings;
    ASSERT_EQ(tengine_image_settings_init(&settings, sizeof settings), 0);
    settings.box[2] = 7;
    settings.box[3] = 5;
    ASSERT_EQ(tengine_image_set_input_shape(x_, &kImage, 1, &settings), 0) << get_tengine_error();
    EXPECT_EQ(shape(), (std::vector<int>{1, 3, 5, 7}));
    settings.height = 6;
    settings.width = 4;
    ASSERT_EQ(tengine_image_set_input_shape(x_, &kImage, 1, &settings), 0) << get_tengine_error();
    EXPECT_EQ(shape(), (std::vector<int>{1, 3, 6, 4}));
    // A shape that changes, prepared and run each time.
    for (const tengine_image& image : {kImage, kOther, kImage}) {
        ASSERT_EQ(tengine_image_set_input_shape(x_, &image, 1, nullptr), 0) << get_tengine_error();
        ASSERT_EQ(tengine_image_set_input(x_, &image, 1, nullptr), 0) << get_tengine_error();
        ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
        ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
        EXPECT_EQ(result(), expected(TENGINE_DT_FP32, {1, 3, image.height, image.width}, {image}));
    }
}

TEST_F(FreeImageInput, KeepsWhatTheModelFixes)
{
    load({-1, 8, -1, 3});
    ASSERT_EQ(tengine_image_set_input_shape(x_, &kImage, 3, nullptr), 0) << get_tengine_error();
    EXPECT_EQ(shape(), (std::vector<int>{3, 8, 17, 3}));
    destroy_graph(graph_);
    load({-1, -1, 8, 8});
    EXPECT_EQ(tengine_image_set_input_shape(x_, &kImage, 1, nullptr), -1);
    EXPECT_NE(std::string(get_tengine_error()).find("1x-1x8x8"), std::string::npos)
        << get_tengine_error();
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    const tengine_image unread = {};
    EXPECT_EQ(tengine_image_set_input_shape(x_, &unread, 0, nullptr), -1);
    EXPECT_NE(std::string(get_tengine_error()).find("number is 0"), std::string::npos)
        << get_tengine_error();
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_image_set_input_shape(x_, nullptr, 1, nullptr), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
}

}  // namespace
}  // namespace tengine
