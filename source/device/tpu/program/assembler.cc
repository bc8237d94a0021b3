// SPDX-License-Identifier: Apache-2.0
// Text to programs; the way back is disassembler.cc. A line is an instruction, a directive, or
// empty; # begins a comment.
//
//     .version 1                       of the instruction set, first
//     .fingerprint 0x1234              of the configuration
//     .host 4096                       bytes of host memory
//     .input "x" int8 1x3x8x8 at=0x40 channels_last      and .output
//     .node "conv1"                    what tags refer to, in order
//     .weights                         the .bytes (hexadecimal) and .zeros (a number) that follow
//     .constants
//     .code                            optional
//     read_weights tiles=1 weights=0x0
//     matrix_multiply next_tile signed_a outer=4 inner=8 length=32 columns=32 a=0x100/256/32 d=17
//
// Flags and fields (isa_table.h) follow the name of an instruction, in any order; a field that is
// not there is zero.
#include "device/tpu/program/assembler.h"

#include <algorithm>
#include <string_view>

#include "base/guard.hpp"
#include "device/tpu/machine/isa_table.h"
#include "device/tpu/program/assembler_token.h"
#include "tengine/error.h"

namespace tengine::tpu {
namespace {

// The limit of all .zeros, so that a short text does not allocate much memory: a share of the
// text's length, plus as much as any program of a small model has.
constexpr uint64_t kZerosPerCharacter = 16;
constexpr uint64_t kMoreZeros = uint64_t{64} << 20;

class Assembler
{
  public:
    explicit Assembler(const std::string& text)
        : rest_(text), zeros_left_(text.size() * kZerosPerCharacter + kMoreZeros)
    {
    }

    int run(Program* out_program)
    {
        while (!rest_.empty()) {
            ++line_;
            const size_t end = rest_.find('\n');
            const std::string_view line = rest_.substr(0, end);
            rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
            if (!split_line(line, &tokens_)) return fail("unterminated string", "");
            if (!tokens_.empty()) TENGINE_RETURN_IF_ERROR(read_line());
        }
        if (!has_version_) return fail("missing .version", "");
        program_.weights = std::move(weights_);
        *out_program = std::move(program_);
        return TENGINE_OK;
    }

  private:
    int read_line();
    int read_directive(std::string_view name);
    int read_version();
    int read_number(uint64_t* out_value);
    int read_binding(bool is_output);
    int read_dims(std::string_view text, std::vector<int>* out_dims);
    int read_string(size_t index, std::string* out_text);
    int read_bytes();
    int read_zeros();
    int read_instruction();
    int read_field(const Form& form, std::string_view token, uint64_t* seen,
                   Instruction* instruction);
    int read_member(const Field& field, int index, std::string_view text, Instruction* instruction);
    int fail(const char* what, std::string_view which) const
    {
        return tengine_error_set(TENGINE_EFORMAT, "line %d: %s%s%.*s%s", line_, what,
                                 which.empty() ? "" : " '",
                                 static_cast<int>(std::min<size_t>(which.size(), 80)), which.data(),
                                 which.empty() ? "" : "'");
    }

    std::string_view rest_;
    uint64_t zeros_left_;
    int line_ = 0;
    bool has_version_ = false;
    std::vector<Token> tokens_;
    std::vector<uint8_t>* data_ = nullptr;  // the section that .bytes belong to
    Program program_;
    std::vector<uint8_t> weights_;
};

int Assembler::read_line()
{
    const std::string_view name = tokens_[0].text;
    if (tokens_[0].is_string) return fail("expected an instruction or a directive, got", name);
    if (!has_version_ && name != ".version") return fail("the first line must be .version", "");
    if (!name.empty() && name[0] == '.') return read_directive(name);
    return read_instruction();
}

int Assembler::read_directive(std::string_view name)
{
    if (name == ".version") return read_version();
    if (name == ".fingerprint") return read_number(&program_.fingerprint);
    if (name == ".host") return read_number(&program_.host_bytes);
    if (name == ".input" || name == ".output") return read_binding(name == ".output");
    if (name == ".bytes") return read_bytes();
    if (name == ".zeros") return read_zeros();
    if (name == ".node") {
        std::string node;
        TENGINE_RETURN_IF_ERROR(read_string(1, &node));
        program_.nodes.push_back(std::move(node));
        return tokens_.size() == 2 ? TENGINE_OK : fail("more than one name", "");
    }
    if (tokens_.size() > 1) return fail("nothing may follow", name);
    if (name == ".weights")
        data_ = &weights_;
    else if (name == ".constants")
        data_ = &program_.constants;
    else if (name == ".code")
        data_ = nullptr;
    else
        return fail("unknown directive", name);
    return TENGINE_OK;
}

int Assembler::read_version()
{
    uint64_t version = 0;
    if (has_version_) return fail("duplicate .version", "");
    TENGINE_RETURN_IF_ERROR(read_number(&version));
    if (version != kIsaVersion)
        return tengine_error_set(
            TENGINE_ENOTSUP, "line %d: version %llu of the instruction set; this build supports %u",
            line_, static_cast<unsigned long long>(version), kIsaVersion);
    has_version_ = true;
    return TENGINE_OK;
}

int Assembler::read_number(uint64_t* out_value)
{
    if (tokens_.size() == 2 && parse_unsigned(tokens_[1].text, out_value)) return TENGINE_OK;
    return fail("one number must follow", tokens_[0].text);
}

int Assembler::read_binding(bool is_output)
{
    Binding binding;
    binding.is_output = is_output;
    TENGINE_RETURN_IF_ERROR(read_string(1, &binding.name));
    const bool has_order = tokens_.size() == 6 && tokens_[5].text == "channels_last";
    if ((tokens_.size() != 5 && !has_order) || tokens_[4].text.substr(0, 3) != "at=")
        return fail("expected: name, type, dimensions, at=address, and maybe channels_last", "");
    binding.channels_last = has_order;
    std::string_view type = tokens_[2].text;
    uint64_t number = 256;
    for (const TypeName& known : kTypeNames) {
        if (type == known.name) number = known.data_type;
    }
    if (type.substr(0, 5) == "type_" && !parse_unsigned(type.substr(5), &number)) number = 256;
    if (number > 255) return fail("unknown data type", type);
    binding.data_type = static_cast<uint8_t>(number);
    if (tokens_[3].text != "scalar")
        TENGINE_RETURN_IF_ERROR(read_dims(tokens_[3].text, &binding.dims));
    if (!parse_unsigned(tokens_[4].text.substr(3), &binding.address))
        return fail("no address:", tokens_[4].text);
    program_.bindings.push_back(std::move(binding));
    return TENGINE_OK;
}

int Assembler::read_dims(std::string_view text, std::vector<int>* out_dims)
{
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find('x', begin), text.size());
        Number number;
        uint64_t bits = 0;
        if (!parse_number(text.substr(begin, end - begin), &number) ||
            !number_bits(number, 4, true, &bits) || out_dims->size() == 255)
            return fail("no dimensions:", text);
        out_dims->push_back(static_cast<int32_t>(bits));
        begin = end + 1;
    }
    return TENGINE_OK;
}

int Assembler::read_string(size_t index, std::string* out_text)
{
    if (index >= tokens_.size() || !tokens_[index].is_string)
        return fail("a name in quotes must follow", tokens_[0].text);
    if (unescape(tokens_[index].text, out_text)) return TENGINE_OK;
    return fail("two hexadecimal digits must follow \\x:", tokens_[index].text);
}

int Assembler::read_bytes()
{
    if (!data_) return fail(".bytes must follow .weights or .constants", "");
    for (size_t t = 1; t < tokens_.size(); ++t) {
        const std::string_view digits = tokens_[t].text;
        if (digits.size() % 2 != 0) return fail("an odd number of digits:", digits);
        for (size_t i = 0; i < digits.size(); i += 2) {
            const int byte = hex_byte(digits.substr(i));
            if (byte < 0) return fail("no hexadecimal digits:", digits);
            data_->push_back(static_cast<uint8_t>(byte));
        }
    }
    return TENGINE_OK;
}

int Assembler::read_zeros()
{
    uint64_t number = 0;
    if (!data_) return fail(".zeros must follow .weights or .constants", "");
    TENGINE_RETURN_IF_ERROR(read_number(&number));
    if (number > zeros_left_) return fail("more zeros than the program may have:", tokens_[1].text);
    zeros_left_ -= number;
    data_->resize(data_->size() + number);
    return TENGINE_OK;
}

int Assembler::read_instruction()
{
    const std::string name(tokens_[0].text);
    Instruction instruction;
    for (size_t t = 1; t < tokens_.size(); ++t) {
        for (const FlagName& known : kFlagNames) {
            if (tokens_[t].text == known.name) instruction.flags |= known.flag;
        }
    }
    const Form* form = find_form(name.c_str(), instruction.flags);
    if (!form) return fail("unknown instruction", name);
    instruction.opcode = form->opcode;
    if (check_flags(*form, instruction.flags) < 0)
        return fail(std::string(tengine_error_message()).c_str(), "");
    uint64_t seen = 0;
    for (size_t t = 1; t < tokens_.size(); ++t)
        TENGINE_RETURN_IF_ERROR(read_field(*form, tokens_[t].text, &seen, &instruction));
    program_.instructions.push_back(instruction);
    return TENGINE_OK;
}

// Reads a token after the instruction's name: name=value, or a flag, which was read before.
int Assembler::read_field(const Form& form, std::string_view token, uint64_t* seen,
                          Instruction* instruction)
{
    const size_t equal = token.find('=');
    if (equal == std::string_view::npos) {
        for (const FlagName& known : kFlagNames) {
            if (token == known.name) return TENGINE_OK;
        }
        return fail("unknown flag", token);
    }
    int index = 0;
    while (index < form.field_num && token.substr(0, equal) != form.fields[index].name)
        ++index;
    if (index == form.field_num) return fail("the instruction has no field", token);
    if (*seen >> index & 1) return fail("given twice:", token);
    *seen |= uint64_t{1} << index;
    const Field& field = form.fields[index];
    const std::string_view values = token.substr(equal + 1);
    int member = 0;
    for (size_t begin = 0; begin <= values.size(); ++member) {
        const size_t end = std::min(values.find('/', begin), values.size());
        if (member == field.member_num) return fail("too many numbers:", token);
        TENGINE_RETURN_IF_ERROR(
            read_member(field, member, values.substr(begin, end - begin), instruction));
        begin = end + 1;
    }
    return TENGINE_OK;
}

int Assembler::read_member(const Field& field, int index, std::string_view text,
                           Instruction* instruction)
{
    const Member& member = field.members[index];
    const bool is_signed =
        field.kind == FieldKind::kSigned ||
        (field.kind == FieldKind::kByte && (instruction->flags & field.sign_flag) != 0);
    Number number;
    uint64_t bits = 0;
    const bool is_read =
        field.kind == FieldKind::kReal
            ? parse_real(text, &bits)
            : parse_number(text, &number) && number_bits(number, member.bytes, is_signed, &bits);
    if (!is_read)
        return fail((std::string(field.name) + " cannot be").c_str(), text.empty() ? "''" : text);
    set_member(instruction, member, bits);
    return TENGINE_OK;
}

}  // namespace

int assemble(const std::string& text, Program* out_program)
{
    return guarded([&] { return Assembler(text).run(out_program); },
                   "out of memory for the program");
}

}  // namespace tengine::tpu
