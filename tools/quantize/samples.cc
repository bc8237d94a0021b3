// SPDX-License-Identifier: Apache-2.0
// Finds and reads samples. The contract is in samples.h.
#include "quantize/samples.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <random>

#include "folder.h"
#include "quantize/array.h"
#include "tensor_file/failure.h"
#include "tensor_file/npz.h"
#include "tensor_file/tensor_file.h"

namespace tengine::tools {
namespace {

namespace fs = std::filesystem;

// ---- random numbers ----

Sample make_random(const std::vector<Tensor>& inputs, uint64_t seed, size_t index)
{
    std::mt19937_64 engine(seed + index);
    Sample sample;
    for (const Tensor& input : inputs) {
        Tensor tensor = make_tensor(input.data_type, {input.shape.begin(), input.shape.end()});
        tensor.name = input.name;
        fill_random(&engine, &tensor);
        sample.push_back(std::move(tensor));
    }
    return sample;
}

// ---- files ----

// Adds the files of the folders below, too, as there is one for each class.
void add_files(const std::string& folder, std::vector<std::string>* files)
{
    for (const std::string& name : list_names(folder)) {
        const std::string path = fs::path(folder) / name;
        if (name[0] == '.') continue;
        if (fs::is_directory(path)) add_files(path, files);
        if (fs::is_regular_file(path)) files->push_back(path);
    }
}

std::vector<std::string> list_files(const std::string& folder)
{
    std::vector<std::string> files;
    add_files(folder, &files);
    if (files.empty()) throw Failure("'" + folder + "' holds no files");
    std::sort(files.begin(), files.end());
    return files;
}

// The folder of each input.
std::vector<std::string> find_folders(const std::vector<std::string>& data,
                                      const std::vector<Tensor>& inputs)
{
    std::vector<std::string> folders;
    for (const Tensor& input : inputs) {
        std::string folder;
        for (const std::string& text : data) {
            if (text.compare(0, input.name.size() + 1, input.name + "=") == 0)
                folder = text.substr(input.name.size() + 1);
        }
        if (folder.empty() && data.size() == 1 && fs::is_directory(data[0]))
            folder = inputs.size() == 1 ? data[0] : (fs::path(data[0]) / input.name).string();
        if (folder.empty() && data.size() == 1 && inputs.size() == 1)
            throw Failure("--data '" + data[0] + "': expected a folder or an .npz file");
        if (folder.empty())
            throw Failure("--data names no folder for the input '" + input.name + "': expected " +
                          input.name + "=DIR");
        folders.push_back(folder);
    }
    if (data.size() > 1 && data.size() != inputs.size())
        throw Failure("--data is given " + std::to_string(data.size()) + " times, the model has " +
                      std::to_string(inputs.size()) + " inputs");
    return folders;
}

Tensor read_input(const std::string& file, const Tensor& input,
                  const tengine_image_settings& settings)
{
    Tensor tensor;
    if (has_ending(file, ".npy") || has_ending(file, ".pb")) {
        tensor = adapt_array(read_tensor(file), input, settings, file);
    } else {
        tensor = make_tensor(input.data_type, {input.shape.begin(), input.shape.end()});
        read_picture(file, settings, &tensor);
    }
    tensor.name = input.name;
    return tensor;
}

SampleSet open_folders(const DataOptions& options, const std::vector<Tensor>& inputs)
{
    std::vector<std::vector<std::string>> files;
    for (const std::string& folder : find_folders(options.data, inputs)) {
        files.push_back(list_files(folder));
        if (files.back().size() != files[0].size())
            throw Failure("'" + folder + "' holds " + std::to_string(files.back().size()) +
                          " files, that of the first input " + std::to_string(files[0].size()));
    }
    const size_t number = files[0].size();
    return {number, [files, inputs, settings = settle(options.image_values)](size_t index) {
                Sample sample;
                for (size_t i = 0; i < inputs.size(); ++i)
                    sample.push_back(read_input(files[i][index], inputs[i], settings));
                return sample;
            }};
}

// ---- .npz ----

const Tensor& find_array(const std::vector<Tensor>& arrays, const Tensor& input, bool is_only)
{
    for (const Tensor& array : arrays)
        if (array.name == input.name) return array;
    if (is_only && arrays.size() == 1) return arrays[0];
    std::string names;
    for (const Tensor& array : arrays)
        names += (names.empty() ? "'" : ", '") + array.name + "'";
    throw Failure("no array for the input '" + input.name + "'; the file has " + names);
}

// Samples that have an axis of their own become rows of the input's first axis.
Tensor join_samples(Tensor array, const Tensor& input)
{
    if (input.shape.empty() || array.shape.size() != input.shape.size() + 1 ||
        array.shape[1] != input.shape[0])
        return array;
    array.shape[1] *= array.shape[0];
    array.shape.erase(array.shape.begin());
    return array;
}

// The number of rows of the array that are one sample.
int rows_of_sample(const Tensor& array, const Tensor& input, const std::string& path)
{
    const bool fits = array.shape.size() == std::max<size_t>(1, input.shape.size());
    const int rows = input.shape.empty() ? 1 : std::max(1, input.shape[0]);
    if (!fits || array.shape[0] < rows || array.shape[0] % rows != 0)
        throw Failure("'" + path + "': the array '" + array.name + "' has shape " +
                      shape_text(array.shape) +
                      ", expected samples along its first dimension for the input '" + input.name +
                      "' of shape " + shape_text(input.shape));
    return rows;
}

Tensor slice(const Tensor& array, size_t begin, int rows)
{
    std::vector<int64_t> shape(array.shape.begin(), array.shape.end());
    shape[0] = rows;
    Tensor tensor = make_tensor(array.data_type, shape);
    const size_t size = tensor.bytes.size();
    if (size != 0)
        std::copy_n(array.bytes.begin() + static_cast<std::ptrdiff_t>(begin * size), size,
                    tensor.bytes.begin());
    return tensor;
}

SampleSet open_npz(const std::string& path, const tengine_image_settings& settings,
                   const std::vector<Tensor>& inputs)
{
    const std::vector<Tensor> all = read_npz(path);
    const auto arrays = std::make_shared<std::vector<Tensor>>();
    std::vector<int> rows;
    size_t number = 0;
    for (const Tensor& input : inputs) {
        arrays->push_back(
            adapt_array(join_samples(find_array(all, input, inputs.size() == 1), input), input,
                        settings, path));
        Tensor& array = arrays->back();
        rows.push_back(rows_of_sample(array, input, path));
        array.name = input.name;
        const size_t samples = static_cast<size_t>(array.shape[0] / rows.back());
        if (arrays->size() > 1 && samples != number)
            throw Failure("'" + path + "': the array '" + array.name + "' holds " +
                          std::to_string(samples) + " samples, the first one " +
                          std::to_string(number));
        number = samples;
    }
    return {number, [arrays, rows, inputs](size_t index) {
                Sample sample;
                for (size_t i = 0; i < arrays->size(); ++i) {
                    sample.push_back(slice((*arrays)[i], index, rows[i]));
                    sample.back().name = (*arrays)[i].name;
                    if (inputs[i].shape.empty()) sample.back().shape.clear();
                }
                return sample;
            }};
}

// ---- shapes ----

bool fits(const std::vector<int>& shape, const DeclaredShape& declared)
{
    if (!declared.has_rank) return true;
    return std::equal(shape.begin(), shape.end(), declared.dims.begin(), declared.dims.end(),
                      [](int dim, int wanted) { return wanted < 0 || dim == wanted; });
}

// The shape of pictures with the size of their settings; {}: they have none.
std::vector<int> shape_of_pictures(const DeclaredShape& declared, tengine_image_settings settings)
{
    const unsigned char pixel = 0;
    const tengine_image image = {&pixel, 1, 1, TENGINE_IMAGE_GREY, 0, 0};
    std::vector<int> shape = declared.dims;
    std::fill_n(settings.box, 4, 0);
    const bool is_known = settings.height > 0 && settings.width > 0 && shape.size() == 4 &&
                          tengine_image_fill_shape(&image, 1, &settings, shape.data()) == 0;
    return is_known ? shape : std::vector<int>();
}

// The shape of the first sample of each input, where that is an array, or a picture whose settings
// have a size; else {}.
std::vector<std::vector<int>> read_first_shapes(const DataOptions& options,
                                                const std::vector<Tensor>& inputs,
                                                const std::vector<DeclaredShape>& declared)
{
    std::vector<std::vector<int>> shapes;
    if (options.data.size() == 1 && has_ending(options.data[0], ".npz")) {
        const std::vector<Tensor> arrays = read_npz(options.data[0]);
        for (size_t i = 0; i < inputs.size(); ++i) {
            shapes.push_back(find_array(arrays, inputs[i], inputs.size() == 1).shape);
            std::vector<int>& shape = shapes.back();
            if (declared[i].has_rank && shape.size() == declared[i].dims.size() + 1) {
                shape.erase(shape.begin());
                continue;
            }
            const bool is_free =
                !declared[i].has_rank || declared[i].dims.empty() || declared[i].dims[0] < 0;
            if (!shape.empty()) shape[0] = is_free ? 1 : declared[i].dims[0];
        }
        return shapes;
    }
    const tengine_image_settings settings = settle(options.image_values);
    for (const std::string& folder : find_folders(options.data, inputs)) {
        const std::string file = list_files(folder)[0];
        const bool is_array = has_ending(file, ".npy") || has_ending(file, ".pb");
        shapes.push_back(is_array ? read_tensor(file).shape
                                  : shape_of_pictures(declared[shapes.size()], settings));
    }
    return shapes;
}

}  // namespace

std::vector<std::string> read_sample_shapes(const DataOptions& options,
                                            const std::vector<DeclaredShape>& inputs)
{
    if (options.data.empty()) return {};
    std::vector<Tensor> named(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i)
        named[i].name = inputs[i].input;
    const std::vector<std::vector<int>> shapes = read_first_shapes(options, named, inputs);
    std::vector<std::string> arguments;
    for (size_t i = 0; i < inputs.size(); ++i)
        if (is_free(inputs[i]) && !shapes[i].empty() && fits(shapes[i], inputs[i]))
            arguments.push_back(inputs[i].input + "=" + shape_text(shapes[i]));
    return arguments;
}

SampleSet open_samples(const DataOptions& options, const std::vector<Tensor>& inputs)
{
    if (inputs.empty()) throw Failure("the model has no inputs");
    if (options.data.empty() && options.random == 0)
        throw Failure("--data or --random is required: ranges come from running samples");
    if (options.random != 0)
        return {static_cast<size_t>(options.random), [inputs, seed = options.seed](size_t index) {
                    return make_random(inputs, seed, index);
                }};
    if (options.data.size() == 1 && has_ending(options.data[0], ".npz"))
        return open_npz(options.data[0], settle(options.image_values), inputs);
    return open_folders(options, inputs);
}

}  // namespace tengine::tools
