// SPDX-License-Identifier: Apache-2.0
// Detects the format of a file. The contract is in input_file.h.
#include "input_file.h"

#include <algorithm>

#include "named_value.h"
#include "tensor_file/failure.h"
#include "tensor_file/npy.h"
#include "tensor_file/npz.h"
#include "tensor_file/tensor_file.h"

namespace tengine::tools {
namespace {

bool begins_with(const std::string& content, const std::string& beginning)
{
    return content.compare(0, beginning.size(), beginning) == 0;
}

Tensor find_array(const std::string& content, const std::string& name)
{
    std::vector<Tensor> arrays = decode_npz(content);
    std::vector<std::string> names;
    for (Tensor& array : arrays) {
        if (array.name == name) return std::move(array);
        names.push_back(array.name);
    }
    if (arrays.size() == 1) return std::move(arrays[0]);
    throw Failure("the file has no array '" + name + "'; its arrays are " + quoted_list(names));
}

Tensor make_raw(const std::string& content, const WantedTensor& wanted)
{
    if (!wanted.has_rank || std::count(wanted.shape.begin(), wanted.shape.end(), -1) > 1)
        throw Failure("raw elements need a complete shape: set that of '" + wanted.name +
                      "' with --shape");
    return decode_raw(content, wanted.data_type, wanted.shape);
}

Tensor decode(const std::string& path, const std::string& content, const WantedTensor& wanted,
              const ImageValues& image_values)
{
    const bool is_stream = path == "-";
    if (is_stream && content.empty())
        throw Failure("it is empty: expected .npy, .npz, a picture or raw elements");
    if (is_stream && begins_with(content, "\x93NUMPY")) return decode_npy(content);
    if (has_ending(path, ".npz") || (is_stream && begins_with(content, "PK\x03\x04")))
        return find_array(content, wanted.name);
    if (has_ending(path, ".bin") || (is_stream && !is_picture(content)))
        return make_raw(content, wanted);
    if (!is_picture(content))
        throw Failure(
            "unknown format: expected a tensor (.npy, .pb, .npz, .bin) or a picture (PNG, JPEG, "
            "BMP, PGM, PPM)");
    return decode_picture(content, wanted.picture_type, wanted.shape, settle(image_values));
}

}  // namespace

Tensor read_input_file(const std::string& path, const WantedTensor& wanted,
                       const ImageValues& image_values)
{
    if (has_ending(path, ".npy") || has_ending(path, ".pb")) return read_tensor(path);
    const std::string content = read_file(path);
    try {
        return decode(path, content, wanted, image_values);
    } catch (const Failure& failure) {
        const std::string subject = path == "-" ? "standard input" : "'" + path + "'";
        throw Failure(subject + ": " + failure.what());
    }
}

}  // namespace tengine::tools
