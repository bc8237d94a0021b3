// SPDX-License-Identifier: Apache-2.0
// The pictures in data/, and settings, for the tests of this folder.
#pragma once

#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "tengine/image.h"

namespace tengine::image {

// The reason for a test to be skipped, by what the build has.
#define TENGINE_NEEDS_DECODER() \
    if (!TENGINE_DECODES) GTEST_SKIP() << "built without stb_image"
#define TENGINE_NEEDS_JSON() \
    if (!TENGINE_READS_JSON) GTEST_SKIP() << "built without nlohmann-json"

std::string data_path(const std::string& name);

std::string read_file(const std::string& path);

// A decoded picture, freed at the end.
class Decoded
{
  public:
    Decoded() = default;
    ~Decoded() { tengine_image_free(&image_); }
    Decoded(const Decoded&) = delete;
    Decoded& operator=(const Decoded&) = delete;

    int load(const std::string& name)
    {
        return tengine_image_load(data_path(name).c_str(), 0, &image_);
    }
    int decode(const std::string& bytes, int64_t most = 0)
    {
        tengine_image_free(&image_);
        return tengine_image_decode(bytes.data(), bytes.size(), most, &image_);
    }
    const tengine_image& get() const { return image_; }

  private:
    tengine_image image_ = {};
};

// Defaults, or those with the members of a JSON object.
tengine_image_settings make_settings(const std::string& json = "{}");

// A target of these dimensions.
tengine_image_target make_target(int data_type, int n, int second, int third, int fourth);

// The bytes of one picture as a target of uint8, planes of `channels`; empty on failure.
std::vector<unsigned char> convert_bytes(const tengine_image& image, int channels, int height,
                                         int width, const tengine_image_settings& settings);

// Checks the code of the last failure, and that its message contains `text`.
testing::AssertionResult failed(int code, const std::string& text);

}  // namespace tengine::image
