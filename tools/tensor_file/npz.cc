// SPDX-License-Identifier: Apache-2.0
// Reads zip files by their directory, which is at the end. The contract is in npz.h.
#include "tensor_file/npz.h"

#include <cstdint>

#include "tensor_file/failure.h"
#include "tensor_file/inflate.h"
#include "tensor_file/npy.h"
#include "tensor_file/tensor_file.h"

namespace tengine::tools {
namespace {

constexpr uint32_t kEntryMagic = 0x04034b50;      // in front of a file's data
constexpr uint32_t kDirectoryMagic = 0x02014b50;  // an entry in the directory
constexpr uint32_t kEndMagic = 0x06054b50;
constexpr size_t kEntrySize = 30;
constexpr size_t kDirectorySize = 46;
constexpr size_t kEndSize = 22;
constexpr size_t kMostComment = 65535;
constexpr uint32_t kStored = 0;  // the methods of numpy.savez and numpy.savez_compressed
constexpr uint32_t kDeflated = 8;
constexpr uint32_t kInZip64 = 0xffffffff;  // the number is in a field of 64 bits

// Little-endian numbers at any place; a place outside of the file is a failure.
class Bytes
{
  public:
    explicit Bytes(const std::string& content) : content_(content) {}

    uint32_t number(size_t at, size_t bytes) const
    {
        check(at, bytes);
        uint32_t value = 0;
        for (size_t i = 0; i < bytes; ++i)
            value |= static_cast<uint32_t>(static_cast<unsigned char>(content_[at + i])) << (8 * i);
        return value;
    }

    std::string text(size_t at, size_t bytes) const
    {
        check(at, bytes);
        return content_.substr(at, bytes);
    }

    size_t size() const { return content_.size(); }

  private:
    void check(size_t at, size_t bytes) const
    {
        if (at > content_.size() || bytes > content_.size() - at)
            throw Failure("the zip file is truncated or damaged");
    }

    const std::string& content_;
};

// A comment of any length may follow the record.
size_t find_end(const Bytes& bytes)
{
    for (size_t comment = 0; comment <= kMostComment; ++comment) {
        if (bytes.size() < kEndSize + comment) break;
        const size_t at = bytes.size() - kEndSize - comment;
        if (bytes.number(at, 4) == kEndMagic && bytes.number(at + 20, 2) == comment) return at;
    }
    throw Failure("not an .npz file");
}

struct Entry
{
    std::string name;
    uint32_t flags = 0;
    uint32_t method = 0;
    uint32_t crc = 0;
    uint32_t compressed = 0;
    uint32_t size = 0;
    uint32_t offset = 0;
};

Entry read_entry(const Bytes& bytes, size_t at)
{
    if (bytes.number(at, 4) != kDirectoryMagic) throw Failure("the zip file's list is damaged");
    Entry entry;
    entry.flags = bytes.number(at + 8, 2);
    entry.method = bytes.number(at + 10, 2);
    entry.crc = bytes.number(at + 16, 4);
    entry.compressed = bytes.number(at + 20, 4);
    entry.size = bytes.number(at + 24, 4);
    entry.offset = bytes.number(at + 42, 4);
    entry.name = bytes.text(at + kDirectorySize, bytes.number(at + 28, 2));
    return entry;
}

// CRC-32 of ISO 3309 with the reflected polynomial 0xedb88320.
uint32_t checksum(const std::string& data)
{
    uint32_t crc = 0xffffffff;
    for (const char byte : data) {
        crc ^= static_cast<unsigned char>(byte);
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0u);
    }
    return ~crc;
}

Tensor read_array(const Bytes& bytes, const Entry& entry)
{
    if ((entry.flags & 1) != 0) throw Failure("it is encrypted");
    if (entry.method != kStored && entry.method != kDeflated)
        throw Failure("its compression method " + std::to_string(entry.method) +
                      " is not supported: expected 0 (numpy.savez) or 8 (numpy.savez_compressed)");
    if (entry.size == kInZip64 || entry.offset == kInZip64)
        throw Failure(
            "it is in the zip64 format, for files of 4 GB and more, which is not supported");
    if (entry.method == kStored && entry.size != entry.compressed)
        throw Failure("its sizes contradict each other");
    if (bytes.number(entry.offset, 4) != kEntryMagic) throw Failure("its header is missing");
    const size_t begin = entry.offset + kEntrySize + bytes.number(entry.offset + size_t{26}, 2) +
                         bytes.number(entry.offset + size_t{28}, 2);
    const std::string stored = bytes.text(begin, entry.compressed);
    const std::string data = entry.method == kStored ? stored : inflate(stored, entry.size);
    if (checksum(data) != entry.crc) throw Failure("its checksum is wrong");
    Tensor tensor = decode_npy(data);
    tensor.name = entry.name;
    if (has_ending(tensor.name, ".npy")) tensor.name.resize(tensor.name.size() - 4);
    return tensor;
}

}  // namespace

std::vector<Tensor> decode_npz(const std::string& content)
{
    const Bytes bytes(content);
    const size_t end = find_end(bytes);
    const uint32_t number = bytes.number(end + 10, 2);
    size_t at = bytes.number(end + 16, 4);
    std::vector<Tensor> arrays;
    uint64_t bytes_taken = 0;
    for (uint32_t i = 0; i < number; ++i) {
        const Entry entry = read_entry(bytes, at);
        // Entries that share bytes would let a small file fill the memory.
        bytes_taken += entry.method == kStored ? entry.size : entry.compressed;
        if (bytes_taken > bytes.size()) throw Failure("the zip file's list is damaged");
        try {
            arrays.push_back(read_array(bytes, entry));
        } catch (const Failure& failure) {
            throw Failure("array '" + entry.name + "': " + failure.what());
        }
        at += kDirectorySize + entry.name.size() + bytes.number(at + 30, 2) +
              bytes.number(at + 32, 2);
    }
    return arrays;
}

std::vector<Tensor> read_npz(const std::string& path)
{
    const std::string content = read_file(path);
    try {
        return decode_npz(content);
    } catch (const Failure& failure) {
        throw Failure("'" + path + "': " + failure.what());
    }
}

}  // namespace tengine::tools
