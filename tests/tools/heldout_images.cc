// SPDX-License-Identifier: Apache-2.0
// Reads the pictures and labels in examples/data. The contract is in heldout_images.h.
#include "tools/heldout_images.h"

#include <cstddef>

#include "tensor_file/tensor_file.h"
#include "tools/npz_file.h"
#include "tools/program.h"

namespace tengine::program {

std::string write_heldout_images(const std::string& folder, int number)
{
    tools::Tensor images = tools::read_tensor(data_file("heldout_images.npy"));
    images.name = "image";
    images.shape[0] = number;
    const size_t left_out = images.bytes.size() - images.element_number() * sizeof(float);
    images.bytes.erase(images.bytes.begin(),
                       images.bytes.begin() + static_cast<std::ptrdiff_t>(left_out));
    const std::string file = folder + "/images.npz";
    tools::write_file(file, encode_npz({images}));
    return file;
}

int count_right(const tools::Tensor& scores)
{
    const tools::Tensor labels = tools::read_tensor(data_file("heldout_labels.npy"));
    int right = 0;
    for (size_t i = 0; i < labels.element_number(); ++i) {
        size_t best = 0;
        for (size_t k = 1; k < 10; ++k) {
            if (tools::get_element(scores, 10 * i + k) > tools::get_element(scores, 10 * i + best))
                best = k;
        }
        right += static_cast<double>(best) == tools::get_element(labels, i) ? 1 : 0;
    }
    return right;
}

}  // namespace tengine::program
