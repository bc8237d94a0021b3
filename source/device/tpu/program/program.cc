// SPDX-License-Identifier: Apache-2.0
// The container of a program. Numbers are little-endian; all sizes are checked against the file
// before anything is made of them.
//
//     0  8 bytes   magic "TGTPU" and three zero bytes
//     8  uint32    version of the instruction set; 12: uint32, zero
//    16  uint64    fingerprint of the configuration
//    24  uint64    number of instructions
//    32  uint64    bytes of weights; 40: of constants; 48: of host memory; 56: of names
//    64            instructions, weights, constants, names
//  last  32 bytes  SHA-256 of all before it
//
// Names: uint32 number of bindings, and for each uint8 output (0 or 1), uint8 data type, uint8
// channels last (0 or 1), uint8 rank, uint64 address, int32 dimensions, uint32 length and bytes of
// the name; uint32 number of nodes, and for each the length and bytes of its name.
#include "device/tpu/program/program.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/guard.hpp"
#include "base/sha256.h"
#include "tengine/error.h"

namespace tengine::tpu {
namespace {

constexpr char kMagic[8] = {'T', 'G', 'T', 'P', 'U', 0, 0, 0};
constexpr size_t kHeaderBytes = 64;

class Writer
{
  public:
    void reserve(size_t size) { bytes_.reserve(size); }
    void put(uint64_t number, int bytes)
    {
        for (int i = 0; i < bytes; ++i)
            bytes_.push_back(static_cast<uint8_t>(number >> (8 * i)));
    }
    void put_bytes(const void* data, size_t size)
    {
        const auto* first = static_cast<const uint8_t*>(data);
        bytes_.insert(bytes_.end(), first, first + size);
    }
    void put_string(const std::string& text)
    {
        put(text.size(), 4);
        put_bytes(text.data(), text.size());
    }
    const std::vector<uint8_t>& bytes() const { return bytes_; }
    std::vector<uint8_t> take() { return std::move(bytes_); }

  private:
    std::vector<uint8_t> bytes_;
};

// Reads beyond the end give zeros and set a flag.
class Reader
{
  public:
    Reader(const uint8_t* data, size_t size) : data_(data), size_(size) {}
    uint64_t get(int bytes)
    {
        uint64_t number = 0;
        const uint8_t* taken = get_bytes(bytes);
        for (int i = 0; taken && i < bytes; ++i)
            number |= static_cast<uint64_t>(taken[i]) << (8 * i);
        return number;
    }
    // Returns null if fewer bytes are left.
    const uint8_t* get_bytes(uint64_t size)
    {
        if (size > size_ - position_) {
            failed_ = true;
            return nullptr;
        }
        const uint8_t* taken = data_ + position_;
        position_ += static_cast<size_t>(size);
        return taken;
    }
    std::string get_string()
    {
        const uint64_t length = get(4);
        const uint8_t* taken = get_bytes(length);
        return taken ? std::string(taken, taken + length) : std::string();
    }
    bool failed() const { return failed_; }
    bool at_end() const { return position_ == size_; }

  private:
    const uint8_t* data_;
    size_t size_;
    size_t position_ = 0;
    bool failed_ = false;
};

struct Header
{
    uint64_t fingerprint = 0;
    uint64_t instruction_num = 0;
    uint64_t weight_bytes = 0;
    uint64_t constant_bytes = 0;
    uint64_t host_bytes = 0;
    uint64_t name_bytes = 0;
};

std::vector<uint8_t> write_names(const Program& program)
{
    Writer writer;
    writer.put(program.bindings.size(), 4);
    for (const Binding& binding : program.bindings) {
        writer.put(binding.is_output, 1);
        writer.put(binding.data_type, 1);
        writer.put(binding.channels_last, 1);
        writer.put(binding.dims.size(), 1);
        writer.put(binding.address, 8);
        for (const int dim : binding.dims)
            writer.put(static_cast<uint32_t>(dim), 4);
        writer.put_string(binding.name);
    }
    writer.put(program.nodes.size(), 4);
    for (const std::string& node : program.nodes)
        writer.put_string(node);
    return writer.take();
}

int read_bool(Reader* reader, const char* what, bool* out_value)
{
    const uint64_t value = reader->get(1);
    if (value > 1)
        return tengine_error_set(TENGINE_EFORMAT,
                                 "TPU program: the %s of a binding is %d, expected 0 or 1", what,
                                 static_cast<int>(value));
    *out_value = value == 1;
    return TENGINE_OK;
}

int read_binding(Reader* reader, Binding* out_binding)
{
    TENGINE_RETURN_IF_ERROR(read_bool(reader, "direction", &out_binding->is_output));
    out_binding->data_type = static_cast<uint8_t>(reader->get(1));
    TENGINE_RETURN_IF_ERROR(read_bool(reader, "order", &out_binding->channels_last));
    const int rank = static_cast<int>(reader->get(1));
    out_binding->address = reader->get(8);
    for (int i = 0; i < rank; ++i)
        out_binding->dims.push_back(static_cast<int32_t>(static_cast<uint32_t>(reader->get(4))));
    out_binding->name = reader->get_string();
    return TENGINE_OK;
}

// A number that exceeds the section ends with its bytes.
int read_names(Reader reader, Program* program)
{
    const uint64_t binding_num = reader.get(4);
    for (uint64_t i = 0; i < binding_num && !reader.failed(); ++i) {
        Binding binding;
        TENGINE_RETURN_IF_ERROR(read_binding(&reader, &binding));
        program->bindings.push_back(std::move(binding));
    }
    const uint64_t node_num = reader.get(4);
    for (uint64_t i = 0; i < node_num && !reader.failed(); ++i)
        program->nodes.push_back(reader.get_string());
    if (reader.failed() || !reader.at_end())
        return tengine_error_set(TENGINE_EFORMAT,
                                 "TPU program: its bindings and nodes %s their section",
                                 reader.failed() ? "are longer than" : "do not fill");
    return TENGINE_OK;
}

int read_instructions(const uint8_t* bytes, uint64_t number, Program* program)
{
    program->instructions.resize(static_cast<size_t>(number));
    for (size_t i = 0; i < program->instructions.size(); ++i) {
        if (decode_instruction(bytes + i * kInstructionBytes, &program->instructions[i]) < 0) {
            const std::string reason = tengine_error_message();
            return tengine_error_set(TENGINE_EFORMAT, "TPU program: instruction %zu: %s", i,
                                     reason.c_str());
        }
    }
    return TENGINE_OK;
}

int check_magic(Reader* reader, size_t size)
{
    const uint8_t* magic = reader->get_bytes(sizeof kMagic);
    if (!magic || std::memcmp(magic, kMagic, sizeof kMagic) != 0)
        return tengine_error_set(TENGINE_EFORMAT,
                                 "not a TPU program: it does not begin with TGTPU");
    if (size < kHeaderBytes + SHA256_BYTES)
        return tengine_error_set(TENGINE_EFORMAT, "TPU program: truncated to %zu bytes", size);
    const auto version = static_cast<uint32_t>(reader->get(4));
    if (version != kIsaVersion)
        return tengine_error_set(
            TENGINE_ENOTSUP,
            "TPU program: version %u of the instruction set; this build supports %u", version,
            kIsaVersion);
    if (reader->get(4) != 0)
        return tengine_error_set(TENGINE_EFORMAT, "TPU program: bytes 12 to 15 are not zero");
    return TENGINE_OK;
}

// Sections fill the file exactly.
int read_header(Reader* reader, size_t size, Header* header)
{
    TENGINE_RETURN_IF_ERROR(check_magic(reader, size));
    header->fingerprint = reader->get(8);
    header->instruction_num = reader->get(8);
    header->weight_bytes = reader->get(8);
    header->constant_bytes = reader->get(8);
    header->host_bytes = reader->get(8);
    header->name_bytes = reader->get(8);
    uint64_t rest = size - kHeaderBytes - SHA256_BYTES;
    bool fits = header->instruction_num <= rest / kInstructionBytes;
    if (fits) rest -= header->instruction_num * kInstructionBytes;
    for (const uint64_t bytes :
         {header->weight_bytes, header->constant_bytes, header->name_bytes}) {
        fits = fits && bytes <= rest;
        if (fits) rest -= bytes;
    }
    if (!fits || rest != 0)
        return tengine_error_set(TENGINE_EFORMAT,
                                 "TPU program: %zu bytes do not match its sections: it is "
                                 "truncated, or has trailing bytes",
                                 size);
    return TENGINE_OK;
}

int check_digest(const uint8_t* data, size_t size)
{
    uint8_t digest[SHA256_BYTES];
    find_sha256(data, size - SHA256_BYTES, digest);
    if (std::equal(std::begin(digest), std::end(digest), data + size - SHA256_BYTES))
        return TENGINE_OK;
    return tengine_error_set(TENGINE_EFORMAT,
                             "TPU program: the SHA-256 does not match, the file was altered");
}

int read_program(const uint8_t* data, size_t size, bool borrowed, Program* out_program)
{
    Reader reader(data, size);
    Header header;
    TENGINE_RETURN_IF_ERROR(read_header(&reader, size, &header));
    if (!borrowed) TENGINE_RETURN_IF_ERROR(check_digest(data, size));
    Program program;
    program.fingerprint = header.fingerprint;
    program.host_bytes = header.host_bytes;
    const uint8_t* instructions = reader.get_bytes(header.instruction_num * kInstructionBytes);
    TENGINE_RETURN_IF_ERROR(read_instructions(instructions, header.instruction_num, &program));
    const uint8_t* weights = reader.get_bytes(header.weight_bytes);
    if (borrowed)
        program.weights = {std::shared_ptr<const uint8_t>(std::shared_ptr<void>(), weights),
                           static_cast<size_t>(header.weight_bytes)};
    else
        program.weights = std::vector<uint8_t>(weights, weights + header.weight_bytes);
    const uint8_t* constants = reader.get_bytes(header.constant_bytes);
    program.constants.assign(constants, constants + header.constant_bytes);
    const uint8_t* names = reader.get_bytes(header.name_bytes);
    TENGINE_RETURN_IF_ERROR(
        read_names(Reader(names, static_cast<size_t>(header.name_bytes)), &program));
    *out_program = std::move(program);
    return TENGINE_OK;
}

}  // namespace

std::vector<uint8_t> save_program(const Program& program)
{
    const std::vector<uint8_t> names = write_names(program);
    Writer writer;
    writer.reserve(kHeaderBytes + program.instructions.size() * kInstructionBytes +
                   program.weights.size() + program.constants.size() + names.size() + SHA256_BYTES);
    writer.put_bytes(kMagic, sizeof kMagic);
    writer.put(kIsaVersion, 4);
    writer.put(0, 4);
    for (const uint64_t number :
         {program.fingerprint, static_cast<uint64_t>(program.instructions.size()),
          static_cast<uint64_t>(program.weights.size()),
          static_cast<uint64_t>(program.constants.size()), program.host_bytes,
          static_cast<uint64_t>(names.size())})
        writer.put(number, 8);
    for (const Instruction& instruction : program.instructions) {
        uint8_t bytes[kInstructionBytes];
        encode_instruction(instruction, bytes);
        writer.put_bytes(bytes, sizeof bytes);
    }
    writer.put_bytes(program.weights.data(), program.weights.size());
    writer.put_bytes(program.constants.data(), program.constants.size());
    writer.put_bytes(names.data(), names.size());
    uint8_t digest[SHA256_BYTES];
    find_sha256(writer.bytes().data(), writer.bytes().size(), digest);
    writer.put_bytes(digest, sizeof digest);
    return writer.take();
}

int load_program(const uint8_t* data, size_t size, Program* out_program)
{
    return guarded([&] { return read_program(data, size, false, out_program); },
                   "TPU program: out of memory for %zu bytes", size);
}

int borrow_program(const uint8_t* data, size_t size, Program* out_program)
{
    return guarded([&] { return read_program(data, size, true, out_program); },
                   "TPU program: out of memory for %zu bytes", size);
}

}  // namespace tengine::tpu
