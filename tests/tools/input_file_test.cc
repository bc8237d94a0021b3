// SPDX-License-Identifier: Apache-2.0
// `tengine run` with inputs in files of every kind and from standard input, and with faulty files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensor_file/npy.h"
#include "tensor_file/tensor_file.h"
#include "tools/npz_file.h"
#include "tools/program.h"

namespace tengine::program {
namespace {

using testing::HasSubstr;

class InputFile : public testing::Test
{
  protected:
    void SetUp() override
    {
        image_ = tools::read_tensor(data_file("heldout_images.npy"));
        image_.name = "image";
        image_.shape[0] = 1;
        image_.bytes.resize(image_.element_number() * sizeof(float));
        expected_ = output_of(save("image.npy", tools::encode_npy(image_)));
    }

    std::string save(const std::string& name, const std::string& content) const
    {
        tools::write_file(folder_ + "/" + name, content);
        return folder_ + "/" + name;
    }

    std::string raw() const
    {
        return {reinterpret_cast<const char*>(image_.bytes.data()), image_.bytes.size()};
    }

    // Returns the standard output; the run must succeed.
    static std::string output_of(const std::string& file, const std::string& streamed = "")
    {
        const Finished finished =
            run({"run", data_file("digits.onnx"), "--input", "image=" + file}, streamed);
        EXPECT_EQ(finished.status, 0) << finished.errors;
        EXPECT_EQ(finished.errors, "");
        return finished.output;
    }

    static std::string failure_of(const std::string& file, const std::string& streamed = "")
    {
        const Finished finished =
            run({"run", data_file("digits.onnx"), "--input", "image=" + file}, streamed);
        EXPECT_EQ(finished.status, 1);
        EXPECT_EQ(finished.output, "");
        return finished.errors;
    }

    std::string folder_ = scratch_folder();
    tools::Tensor image_;
    std::string expected_;
};

TEST_F(InputFile, AllKindsGiveTheSame)
{
    tools::Tensor other = tools::make_tensor(TENGINE_DT_INT8, {3});
    other.name = "other";
    EXPECT_EQ(output_of(save("image.bin", raw())), expected_);
    EXPECT_EQ(output_of(save("both.npz", encode_npz({other, image_}))), expected_);
    EXPECT_EQ(output_of("-", tools::encode_npy(image_)), expected_);
    EXPECT_EQ(output_of("-", encode_npz({image_})), expected_);
    EXPECT_EQ(output_of("-", raw()), expected_);
    const std::string picture = data_file("digit_3_003.png");
    EXPECT_EQ(output_of("-", tools::read_file(picture)), output_of(picture));
}

TEST_F(InputFile, RawElementsDecideTheBatch)
{
    EXPECT_THAT(output_of(save("three.bin", raw() + raw() + raw())),
                HasSubstr("output  probabilities  3x10  fp32\n"));
    EXPECT_THAT(
        failure_of(save("odd.bin", raw() + "x")),
        HasSubstr("odd.bin': there are 257 bytes; fp32 of shape ?x1x8x8 takes a multiple of "
                  "256"));
    EXPECT_THAT(failure_of("-", "abc"), HasSubstr("standard input: there are 3 bytes"));
    EXPECT_THAT(failure_of("-", ""), HasSubstr("standard input: it is empty"));
}

TEST_F(InputFile, AnArrayIsFoundByItsName)
{
    tools::Tensor first = image_;
    tools::Tensor second = image_;
    first.name = "a";
    second.name = "b";
    EXPECT_EQ(output_of(save("one.npz", encode_npz({first}))), expected_);
    EXPECT_THAT(failure_of(save("two.npz", encode_npz({first, second}))),
                HasSubstr("the file has no array 'image'; its arrays are 'a', 'b'"));
}

TEST_F(InputFile, TheShapeOptionAndTheFileMustAgree)
{
    const Finished finished = run({"run", data_file("digits.onnx"), "--shape", "image=2x1x8x8",
                                   "--input", "image=" + folder_ + "/image.npy"});
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.errors, HasSubstr("input 'image': --shape is 2x1x8x8, '" + folder_ +
                                           "/image.npy' holds 1x1x8x8\n"));
}

TEST_F(InputFile, IsGivenOnce)
{
    const std::string file = folder_ + "/image.npy";
    const Finished finished = run({"run", data_file("digits.onnx"), "--input", file, "--input",
                                   "image=" + data_file("digit_3_003.png")});
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.errors, HasSubstr("--input is given twice for the input 'image': '"));
}

TEST_F(InputFile, FoldersAndUnknownKindsAreNamed)
{
    EXPECT_THAT(failure_of(folder_), HasSubstr("is a folder, expected a file"));
    EXPECT_THAT(failure_of(data_file("digits.json")),
                HasSubstr("unknown format: expected a tensor (.npy, .pb, .npz, .bin) or a picture "
                          "(PNG, JPEG, BMP, PGM, PPM)"));
    const Finished model = run({"run", folder_});
    EXPECT_EQ(model.status, 1);
    EXPECT_THAT(model.errors, HasSubstr("is a folder, expected a file"));
}

TEST_F(InputFile, ACutPictureIsRefused)
{
    const std::string png = tools::read_file(data_file("digit_3_003.png"));
    for (size_t size = 8; size + 12 < png.size(); size += 7)
        EXPECT_THAT(failure_of("-", png.substr(0, size)),
                    HasSubstr("the file ends before the picture does"))
            << size;
    const std::string pgm = "P5\n8 8\n255\n" + std::string(64, '\x40');
    const std::string large = "P5\n32 32\n255\n" + std::string(1024, '\x40');
    EXPECT_EQ(output_of(save("whole.pgm", pgm)), output_of(save("large.pgm", large)));
    for (const std::string& whole : {pgm, large})
        EXPECT_THAT(failure_of(save("cut.pgm", whole.substr(0, whole.size() - 1))),
                    HasSubstr("the file ends before the picture does"));
}

// stb writes the lengths of codes into a list of 257, for any number that the file states.
TEST_F(InputFile, AJpegWithTooManyCodesIsRefused)
{
    const std::string table =
        std::string(1, '\0') + std::string(16, '\xff') + std::string(4080, '\1');
    const size_t length = table.size() + 2;
    std::string jpeg = "\xff\xd8\xff\xc4";
    jpeg += static_cast<char>(length >> 8);
    jpeg += static_cast<char>(length & 0xff);
    EXPECT_THAT(failure_of(save("codes.jpg", jpeg + table)), HasSubstr("a damaged JPEG file"));
}

TEST_F(InputFile, APictureWithoutPixelsIsRefused)
{
    for (const char* size : {"0 0", "0 8", "8 0"})
        EXPECT_THAT(failure_of(save("empty.pgm", std::string("P5\n") + size + "\n255\n")),
                    HasSubstr("empty.pgm': the picture has no pixels"))
            << size;
    EXPECT_THAT(failure_of(save("vast.pgm", "P5\n99999 99999\n255\n")),
                HasSubstr("the picture has 99999 x 99999 pixels, expected at most 268435456"));
    EXPECT_THAT(
        failure_of(save("claim.pgm", "P5\n9999 9999\n255\n")),
        HasSubstr("the picture has 9999 x 9999 pixels, which its file of 17 bytes cannot hold"));
    // stb would read beyond the end of such a picture when it converts colours.
    EXPECT_THAT(failure_of(save("deep.ppm", "P6\n2 2\n65535\n" + std::string(24, '\1'))),
                HasSubstr("a PGM or PPM file with numbers up to 65535, expected at most 255"));
}

}  // namespace
}  // namespace tengine::program
