// SPDX-License-Identifier: Apache-2.0
// MediaPipe's operators on landmarks. Results are calculated by hand.
#include <flatbuffers/flexbuffers.h>

#include "serializer/tflite/model_test.h"

namespace tengine::test {
namespace {

constexpr int kCustom = 32;

class TfliteLandmarkTest : public TfliteModelTest
{
  protected:
    static std::string finish(flexbuffers::Builder& builder)
    {
        builder.Finish();
        const auto& bytes = builder.GetBuffer();
        return {bytes.begin(), bytes.end()};
    }

    static std::string matrix_options(const std::vector<int>& subset)
    {
        flexbuffers::Builder builder;
        builder.Map([&] {
            builder.Int("left_rotation_idx", 0);
            builder.Int("right_rotation_idx", 1);
            builder.Int("output_height", 2);
            builder.Int("output_width", 2);
            builder.Float("scale_x", 1);
            builder.Float("scale_y", 1);
            builder.Float("target_rotation_radians", 0);
            builder.Vector("subset_idxs", [&] {
                for (const int index : subset)
                    builder.Int(index);
            });
        });
        return finish(builder);
    }

    static std::string crop_options(int height, int width)
    {
        flexbuffers::Builder builder;
        builder.Map([&] {
            builder.Int("output_height", height);
            builder.Int("output_width", width);
        });
        return finish(builder);
    }

    static TfliteModel make(const char* op, const std::string& options,
                            const std::vector<std::vector<int32_t>>& inputs,
                            const std::vector<int32_t>& result)
    {
        TfliteModel model;
        TfliteOperator record;
        record.code = kCustom;
        record.name = op;
        record.custom_options = options;
        for (const std::vector<int32_t>& shape : inputs) {
            const auto index = static_cast<int32_t>(model.tensors.size());
            model.tensors.push_back({"x" + std::to_string(index), shape});
            model.inputs.push_back(index);
            record.inputs.push_back(index);
        }
        const auto index = static_cast<int32_t>(model.tensors.size());
        model.tensors.push_back({"y", result});
        record.outputs = {index};
        model.outputs = {index};
        model.operators = {record};
        return model;
    }

    void expect(const TfliteModel& model, const std::vector<std::vector<float>>& inputs,
                const std::vector<float>& result)
    {
        std::vector<std::string> fed;
        for (const std::vector<float>& values : inputs)
            fed.push_back(bytes_of<float>(values));
        const auto results = run(model, fed);
        ASSERT_EQ(results.size(), 1u);
        EXPECT_THAT(values_of<float>(results[0]),
                    testing::Pointwise(testing::FloatNear(1e-5f), result));
    }
};

// The landmarks 0 and 1 lie below each other: a quarter of a turn. In that direction, the landmarks
// are 4 wide and 2 high around 1, 2.
TEST_F(TfliteLandmarkTest, MatrixOfATurnedCrop)
{
    expect(make("Landmarks2TransformMatrix", matrix_options({0, 1, 2, 2}), {{1, 3, 3}}, {1, 4, 4}),
           {{0, 0, 9, 0, 4, 9, 2, 2, 9}}, {0, -1, 0, 2, 2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1});
}

TEST_F(TfliteLandmarkTest, MatrixWithoutADirection)
{
    expect(make("Landmarks2TransformMatrix", matrix_options({0, 2}), {{1, 3, 3}}, {1, 4, 4}),
           {{1, 1, 0, 1, 1, 0, 5, 3, 0}}, {2, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1});
}

TEST_F(TfliteLandmarkTest, LandmarksThatAreMoved)
{
    const std::vector<float> matrix = {0, -1, 0, 2, 2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    expect(make("TransformLandmarks", "", {{1, 2, 3}, {1, 4, 4}}, {1, 2, 3}),
           {{1, 1, 7, 3, 0, 8}, matrix}, {1, 2, 7, 2, 6, 8});
    expect(make("TransformLandmarks", "", {{1, 2, 2}, {1, 4, 4}}, {1, 2, 2}),
           {{1, 1, 3, 0}, matrix}, {1, 2, 2, 6});
}

// The last column lies beyond the picture.
TEST_F(TfliteLandmarkTest, CropBetweenPixels)
{
    expect(make("TransformTensorBilinear", crop_options(2, 3), {{1, 2, 2, 1}, {1, 4, 4}},
                {1, 2, 3, 1}),
           {{1, 2, 3, 4}, {0.5f, 0, 0, 0.5f, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}},
           {1.25f, 1.75f, 0, 3.25f, 3.75f, 0});
}

TEST_F(TfliteLandmarkTest, RefusedOptions)
{
    for (const auto& subset : {std::vector<int>{0, 3}, std::vector<int>{}})
        expect_refusal(
            make("Landmarks2TransformMatrix", matrix_options(subset), {{1, 3, 3}}, {1, 4, 4}),
            TENGINE_EINVAL, "indices of the landmarks");
    expect_refusal(
        make("Landmarks2TransformMatrix", matrix_options({-1, 0}), {{1, 3, 3}}, {1, 4, 4}),
        TENGINE_ERANGE, "'subset_idxs' is -1");
    expect_refusal(make("TransformLandmarks", "", {{1, 1, 2, 2}, {1, 4, 4}}, {1, 1, 2, 2}),
                   TENGINE_EINVAL, "expected [1, landmarks, 2 or 3]");
    expect_refusal(make("TransformTensorBilinear", "", {{1, 2, 2, 1}, {1, 4, 4}}, {1, 2, 3, 1}),
                   TENGINE_EINVAL, "the options of version 2");
}

}  // namespace
}  // namespace tengine::test
