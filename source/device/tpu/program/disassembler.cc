// SPDX-License-Identifier: Apache-2.0
// Programs as text; assembler.cc does the reverse, and its comment describes the form.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "device/tpu/machine/isa_table.h"
#include "device/tpu/program/assembler.h"
#include "device/tpu/program/program.h"

namespace tengine::tpu {
namespace {

constexpr size_t kBytesOfLine = 32;

void append_hex(uint64_t number, std::string* text)
{
    char digits[16];
    text->append("0x");
    text->append(digits, std::to_chars(digits, digits + sizeof digits, number, 16).ptr);
}

void append_hex_byte(uint8_t byte, std::string* text)
{
    static const char digits[] = "0123456789abcdef";
    text->push_back(digits[byte >> 4]);
    text->push_back(digits[byte & 15]);
}

void append_string(const std::string& string, std::string* text)
{
    text->push_back('"');
    for (const char letter : string) {
        const auto byte = static_cast<uint8_t>(letter);
        if (byte < ' ' || byte > '~') {
            text->append("\\x");
            append_hex_byte(byte, text);
        } else {
            if (letter == '"' || letter == '\\') text->push_back('\\');
            text->push_back(letter);
        }
    }
    text->push_back('"');
}

// A NaN has many bit patterns, so its bits are shown.
void append_real(uint32_t bits, std::string* text)
{
    float value;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isnan(value)) return append_hex(bits, text);
    char digits[40];
    text->append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

void append_member(const Instruction& instruction, const Field& field, int index, std::string* text)
{
    const uint64_t bits = get_member(instruction, field.members[index]);
    const bool is_signed_byte =
        field.kind == FieldKind::kByte && (instruction.flags & field.sign_flag) != 0;
    if (field.kind == FieldKind::kReal)
        append_real(static_cast<uint32_t>(bits), text);
    else if (field.kind == FieldKind::kAddress && index == 0)
        append_hex(bits, text);
    else if (field.kind == FieldKind::kSigned)
        text->append(std::to_string(static_cast<int32_t>(bits)));
    else if (is_signed_byte)
        text->append(std::to_string(static_cast<int8_t>(bits)));
    else
        text->append(std::to_string(bits));
}

// A field that is not shown is zero: single addresses, factors, bytes and reals of zero, and zeros
// at the end of a field, are left out. Counts and grids are always shown.
void append_field(const Instruction& instruction, const Field& field, std::string* text)
{
    const bool is_grid = field.kind == FieldKind::kAddress && field.member_num > 1;
    const int least = field.kind == FieldKind::kNumber || is_grid ? 1 : 0;
    int shown = field.member_num;
    while (shown > least && get_member(instruction, field.members[shown - 1]) == 0)
        --shown;
    for (int i = 0; i < shown; ++i) {
        text->append(i == 0 ? std::string(" ") + field.name + "=" : "/");
        append_member(instruction, field, i, text);
    }
}

void append_instruction(const Program& program, const Instruction& instruction, std::string* text)
{
    const Form* form = find_form(instruction.opcode, instruction.flags);
    if (!form) {
        text->append("opcode_" + std::to_string(static_cast<int>(instruction.opcode)) + "\n");
        return;
    }
    text->append(form->name);
    for (const FlagName& known : kFlagNames) {
        if (instruction.flags & known.flag) text->append(" ").append(known.name);
    }
    for (int i = 0; i < form->field_num; ++i)
        append_field(instruction, form->fields[i], text);
    if (instruction.opcode == Opcode::kTag && instruction.value < program.nodes.size()) {
        text->append("  # ");
        append_string(program.nodes[instruction.value], text);
    }
    text->push_back('\n');
}

void append_binding(const Binding& binding, std::string* text)
{
    text->append(binding.is_output ? ".output " : ".input ");
    append_string(binding.name, text);
    std::string type = "type_" + std::to_string(int{binding.data_type});
    for (const TypeName& known : kTypeNames) {
        if (known.data_type == binding.data_type) type = known.name;
    }
    text->append(" ").append(type).append(" ");
    for (size_t i = 0; i < binding.dims.size(); ++i)
        text->append(i == 0 ? "" : "x").append(std::to_string(binding.dims[i]));
    text->append(binding.dims.empty() ? "scalar at=" : " at=");
    append_hex(binding.address, text);
    text->append(binding.channels_last ? " channels_last\n" : "\n");
}

void append_data(const char* directive, const uint8_t* data, size_t size, std::string* text)
{
    if (size == 0) return;
    text->append(directive).append("\n");
    for (size_t i = 0; i < size;) {
        size_t zeroes = 0;
        while (i + zeroes < size && data[i + zeroes] == 0)
            ++zeroes;
        if (zeroes >= kBytesOfLine) {
            text->append("    .zeros " + std::to_string(zeroes) + "\n");
            i += zeroes;
            continue;
        }
        text->append("    .bytes ");
        for (size_t end = std::min(i + kBytesOfLine, size); i < end; ++i)
            append_hex_byte(data[i], text);
        text->push_back('\n');
    }
}

}  // namespace

const TypeName kTypeNames[kTypeNameNum] = {
    {TENGINE_DT_INT8, "int8"}, {TENGINE_DT_UINT8, "uint8"}, {TENGINE_DT_BF16, "bf16"}};

std::string disassemble_code(const Program& program)
{
    std::string text;
    for (const Instruction& instruction : program.instructions)
        append_instruction(program, instruction, &text);
    return text;
}

std::string disassemble(const Program& program)
{
    std::string text = ".version " + std::to_string(kIsaVersion) + "\n.fingerprint ";
    append_hex(program.fingerprint, &text);
    text += "\n.host " + std::to_string(program.host_bytes) + "\n";
    for (const Binding& binding : program.bindings)
        append_binding(binding, &text);
    for (const std::string& node : program.nodes) {
        text += ".node ";
        append_string(node, &text);
        text += "\n";
    }
    append_data(".weights", program.weights.data(), program.weights.size(), &text);
    append_data(".constants", program.constants.data(), program.constants.size(), &text);
    return text + ".code\n" + disassemble_code(program);
}

}  // namespace tengine::tpu
