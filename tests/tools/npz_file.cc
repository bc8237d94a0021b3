// SPDX-License-Identifier: Apache-2.0
// Zip files without compression. The contract is in npz_file.h.
#include "tools/npz_file.h"

#include "tensor_file/npy.h"

namespace tengine::program {
namespace {

std::string number(uint32_t value, size_t bytes)
{
    std::string text;
    for (size_t i = 0; i < bytes; ++i, value >>= 8)
        text += static_cast<char>(value & 0xff);
    return text;
}

uint32_t crc_of(const std::string& data)
{
    uint32_t crc = ~0u;
    for (const char byte : data) {
        for (int bit = 0; bit < 8; ++bit) {
            const uint32_t carry = (crc ^ static_cast<unsigned char>(byte) >> bit) & 1;
            crc = crc >> 1 ^ (carry != 0 ? 0xedb88320u : 0u);
        }
    }
    return ~crc;
}

}  // namespace

std::string encode_npz(const std::vector<tools::Tensor>& tensors)
{
    std::string content;
    std::string directory;
    for (const tools::Tensor& tensor : tensors) {
        const std::string name = tensor.name + ".npy";
        const std::string data = tools::encode_npy(tensor);
        const uint32_t size = static_cast<uint32_t>(data.size());
        // Version, flags, method, time and date; checksum, sizes; lengths of the name and of extra
        // fields.
        const std::string common = number(20, 2) + number(0, 8) + number(crc_of(data), 4) +
                                   number(size, 4) + number(size, 4) +
                                   number(static_cast<uint32_t>(name.size()), 2) + number(0, 2);
        directory += "PK\x01\x02" + number(20, 2) + common + number(0, 10) +
                     number(static_cast<uint32_t>(content.size()), 4) + name;
        content += "PK\x03\x04" + common + name + data;
    }
    const uint32_t entries = static_cast<uint32_t>(tensors.size());
    return content + directory + "PK\x05\x06" + number(0, 4) + number(entries, 2) +
           number(entries, 2) + number(static_cast<uint32_t>(directory.size()), 4) +
           number(static_cast<uint32_t>(content.size()), 4) + number(0, 2);
}

}  // namespace tengine::program
