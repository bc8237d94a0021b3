// SPDX-License-Identifier: Apache-2.0
// The rows of isa_table.h. Their order within an opcode is the order in a file, so that a change
// here requires a new kIsaVersion.
#include "device/tpu/machine/isa_table.h"

#include <array>
#include <cstring>
#include <type_traits>

#include "tengine/error.h"

namespace tengine::tpu {
namespace {

static_assert(std::is_standard_layout<Instruction>::value, "members are found by offset");

#define MEMBER(name)                                                                  \
    {                                                                                 \
        offsetof(Instruction, name), sizeof(static_cast<Instruction*>(nullptr)->name) \
    }

constexpr Field kOuter = {"outer", FieldKind::kNumber, 0, 1, {MEMBER(outer)}};
constexpr Field kInner = {"inner", FieldKind::kNumber, 0, 1, {MEMBER(inner)}};
constexpr Field kLength = {"length", FieldKind::kNumber, 0, 1, {MEMBER(length)}};
constexpr Field kColumns = {"columns", FieldKind::kNumber, 0, 1, {MEMBER(columns)}};
constexpr Field kTiles = {"tiles", FieldKind::kNumber, 0, 1, {MEMBER(tiles)}};
constexpr Field kA = {"a",
                      FieldKind::kAddress,
                      0,
                      3,
                      {MEMBER(a.address), MEMBER(a.pitch_outer), MEMBER(a.pitch_inner)}};
constexpr Field kB = {"b",
                      FieldKind::kAddress,
                      0,
                      3,
                      {MEMBER(b.address), MEMBER(b.pitch_outer), MEMBER(b.pitch_inner)}};
constexpr Field kD = {"d",
                      FieldKind::kAddress,
                      0,
                      3,
                      {MEMBER(d.address), MEMBER(d.pitch_outer), MEMBER(d.pitch_inner)}};
constexpr Field kSumsRead = {"a", FieldKind::kNumber, 0, 1, {MEMBER(a.address)}};
constexpr Field kSumsWritten = {"d", FieldKind::kNumber, 0, 1, {MEMBER(d.address)}};
constexpr Field kParameters = {"parameters", FieldKind::kAddress, 0, 1, {MEMBER(b.address)}};
constexpr Field kWeights = {"weights", FieldKind::kAddress, 0, 1, {MEMBER(host_address)}};
constexpr Field kHostRead = {"host",
                             FieldKind::kAddress,
                             0,
                             3,
                             {MEMBER(host_address), MEMBER(a.pitch_outer), MEMBER(a.pitch_inner)}};
constexpr Field kHostWritten = {
    "host",
    FieldKind::kAddress,
    0,
    3,
    {MEMBER(host_address), MEMBER(d.pitch_outer), MEMBER(d.pitch_inner)}};
constexpr Field kWindow = {"window",
                           FieldKind::kNumber,
                           0,
                           4,
                           {MEMBER(window_outer), MEMBER(window_inner), MEMBER(window_pitch_outer),
                            MEMBER(window_pitch_inner)}};
constexpr Field kLookupTable = {"table", FieldKind::kAddress, 0, 1, {MEMBER(table)}};
constexpr Field kFactorA = {"factor_a", FieldKind::kSigned, 0, 1, {MEMBER(factor_a)}};
constexpr Field kFactorB = {"factor_b", FieldKind::kSigned, 0, 1, {MEMBER(factor_b)}};
constexpr Field kShift = {"shift", FieldKind::kNumber, 0, 1, {MEMBER(shift)}};
constexpr Field kZeroA = {"zero_a", FieldKind::kByte, kSignedA, 1, {MEMBER(zero_a)}};
constexpr Field kZeroB = {"zero_b", FieldKind::kByte, kSignedB, 1, {MEMBER(zero_b)}};
constexpr Field kZeroD = {"zero_d", FieldKind::kByte, kSignedD, 1, {MEMBER(zero_d)}};
constexpr Field kLowest = {"lowest", FieldKind::kByte, kSignedD, 1, {MEMBER(lowest)}};
constexpr Field kHighest = {"highest", FieldKind::kByte, kSignedD, 1, {MEMBER(highest)}};
constexpr Field kLowReal = {"low", FieldKind::kReal, 0, 1, {MEMBER(low_real)}};
constexpr Field kHighReal = {"high", FieldKind::kReal, 0, 1, {MEMBER(high_real)}};
constexpr Field kScale = {"scale", FieldKind::kReal, 0, 1, {MEMBER(low_real)}};
constexpr Field kValue = {"value", FieldKind::kNumber, 0, 1, {MEMBER(value)}};
#undef MEMBER

constexpr Field kReadWeightsFields[] = {kTiles, kWeights};
constexpr Field kMatrixMultiplyFields[] = {kOuter, kInner, kLength, kColumns, kA, kSumsWritten};
constexpr Field kActivateFields[] = {kOuter, kInner,       kLength, kSumsRead, kParameters,
                                     kD,     kLookupTable, kZeroD,  kLowest,   kHighest};
constexpr Field kActivateFloatFields[] = {kOuter,      kInner, kLength,  kSumsRead,
                                          kParameters, kD,     kLowReal, kHighReal};
constexpr Field kCopyFields[] = {kOuter, kInner, kLength, kA, kD};
constexpr Field kFillFields[] = {kOuter, kInner, kLength, kD, kValue};
constexpr Field kLookupFields[] = {kOuter, kInner, kLength, kA, kD, kLookupTable};
constexpr Field kAddFields[] = {kOuter,   kInner, kLength, kA,     kB,     kD,      kFactorA,
                                kFactorB, kShift, kZeroA,  kZeroB, kZeroD, kLowest, kHighest};
constexpr Field kPairFloatFields[] = {kOuter, kInner, kLength, kA, kB, kD, kLowReal, kHighReal};
constexpr Field kMultiplyFields[] = {kOuter, kInner, kLength, kA,     kB,      kD,      kFactorA,
                                     kShift, kZeroA, kZeroB,  kZeroD, kLowest, kHighest};
constexpr Field kMaxPoolFields[] = {kOuter, kInner, kLength, kA, kD, kWindow};
constexpr Field kAveragePoolFields[] = {kOuter,   kInner, kLength, kA,     kD,      kWindow,
                                        kFactorA, kShift, kZeroA,  kZeroD, kLowest, kHighest};
constexpr Field kAveragePoolFloatFields[] = {kOuter, kInner, kLength, kA, kD, kWindow, kScale};
constexpr Field kReadHostFields[] = {kOuter, kInner, kLength, kHostRead, kD};
constexpr Field kWriteHostFields[] = {kOuter, kInner, kLength, kA, kHostWritten};
constexpr Field kTagFields[] = {kValue};

constexpr int kHeadBytes = 3;  // opcode and flags

template <int number>
constexpr bool fits(const Field (&fields)[number])
{
    int bytes = kHeadBytes;
    for (const Field& field : fields) {
        for (int i = 0; i < field.member_num; ++i)
            bytes += field.members[i].bytes;
    }
    return bytes <= kInstructionBytes;
}

template <int number>
constexpr Form make_form(Opcode opcode, const char* name, int flags, int required_flags,
                         const Field (&fields)[number])
{
    return {opcode, name,  static_cast<uint16_t>(flags), static_cast<uint16_t>(required_flags),
            fields, number};
}

constexpr Form make_form(Opcode opcode, const char* name)
{
    return {opcode, name, 0, 0, nullptr, 0};
}

static_assert(fits(kReadWeightsFields) && fits(kMatrixMultiplyFields) && fits(kActivateFields) &&
                  fits(kActivateFloatFields) && fits(kCopyFields) && fits(kFillFields) &&
                  fits(kLookupFields) && fits(kAddFields) && fits(kPairFloatFields) &&
                  fits(kMultiplyFields) && fits(kMaxPoolFields) && fits(kAveragePoolFields) &&
                  fits(kAveragePoolFloatFields) && fits(kReadHostFields) &&
                  fits(kWriteHostFields) && fits(kTagFields),
              "an instruction's members need more than its bytes");

constexpr int kProductFlags = kAccumulate | kNextTile | kWideWeights;
constexpr int kPairFlags = kSignedA | kSignedB | kSignedD;

// Ordered by opcode; a form with kFloat follows the one without.
constexpr Form kForms[] = {
    make_form(Opcode::kNop, "nop"),
    make_form(Opcode::kReadWeights, "read_weights", kWideWeights, 0, kReadWeightsFields),
    make_form(Opcode::kMatrixMultiply, "matrix_multiply", kProductFlags | kSignedA | kWideA, 0,
              kMatrixMultiplyFields),
    make_form(Opcode::kMatrixMultiply, "matrix_multiply", kProductFlags | kFloat,
              kWideWeights | kFloat, kMatrixMultiplyFields),
    make_form(Opcode::kActivate, "activate", kSignedD | kTable, 0, kActivateFields),
    make_form(Opcode::kActivate, "activate", kFloat, kFloat, kActivateFloatFields),
    make_form(Opcode::kCopy, "copy", 0, 0, kCopyFields),
    make_form(Opcode::kFill, "fill", kWide, 0, kFillFields),
    make_form(Opcode::kLookup, "lookup", 0, 0, kLookupFields),
    make_form(Opcode::kAdd, "add", kPairFlags, 0, kAddFields),
    make_form(Opcode::kAdd, "add", kFloat, kFloat, kPairFloatFields),
    make_form(Opcode::kMultiply, "multiply", kPairFlags, 0, kMultiplyFields),
    make_form(Opcode::kMultiply, "multiply", kFloat, kFloat, kPairFloatFields),
    make_form(Opcode::kMaxPool, "max_pool", kSignedA, 0, kMaxPoolFields),
    make_form(Opcode::kMaxPool, "max_pool", kFloat, kFloat, kMaxPoolFields),
    make_form(Opcode::kAveragePool, "average_pool", kSignedA | kSignedD, 0, kAveragePoolFields),
    make_form(Opcode::kAveragePool, "average_pool", kFloat, kFloat, kAveragePoolFloatFields),
    make_form(Opcode::kReadHost, "read_host", 0, 0, kReadHostFields),
    make_form(Opcode::kWriteHost, "write_host", 0, 0, kWriteHostFields),
    make_form(Opcode::kSync, "sync"),
    make_form(Opcode::kTag, "tag", 0, 0, kTagFields),
    make_form(Opcode::kHalt, "halt"),
};

// Returns the form that matches `flags` if forms differ in kFloat; else the only one.
template <typename Predicate>
constexpr const Form* find_if(uint16_t flags, Predicate is_meant)
{
    const Form* found = nullptr;
    for (const Form& form : kForms) {
        if (!is_meant(form)) continue;
        if (!found || (form.required_flags & flags & kFloat) != 0) found = &form;
    }
    return found;
}

// Indexed by opcode, without and with kFloat: programs have many thousands of instructions.
using FormsOfOpcode = std::array<const Form*, 2>;
constexpr std::array<FormsOfOpcode, kOpcodeNum> index_forms()
{
    std::array<FormsOfOpcode, kOpcodeNum> index = {};
    for (int opcode = 0; opcode < kOpcodeNum; ++opcode)
        for (const uint16_t flags : {uint16_t{0}, uint16_t{kFloat}})
            index[static_cast<size_t>(opcode)][flags != 0] = find_if(
                flags, [=](const Form& form) { return static_cast<int>(form.opcode) == opcode; });
    return index;
}
constexpr std::array<FormsOfOpcode, kOpcodeNum> kFormsOf = index_forms();

}  // namespace

const FlagName kFlagNames[kFlagNum] = {
    {kAccumulate, "accumulate"},
    {kNextTile, "next_tile"},
    {kSignedA, "signed_a"},
    {kSignedB, "signed_b"},
    {kSignedD, "signed_d"},
    {kWideA, "wide_a"},
    {kWideWeights, "wide_weights"},
    {kFloat, "float"},
    {kTable, "table"},
    {kWide, "wide"},
};

const Form* find_form(Opcode opcode, uint16_t flags)
{
    const auto number = static_cast<size_t>(opcode);
    return number < kFormsOf.size() ? kFormsOf[number][(flags & kFloat) != 0] : nullptr;
}

const Form* find_form(const char* name, uint16_t flags)
{
    return find_if(flags, [=](const Form& form) { return std::strcmp(form.name, name) == 0; });
}

int check_flags(const Form& form, uint16_t flags)
{
    const int foreign = flags & ~form.flags;
    const int missing = form.required_flags & ~flags;
    if (foreign == 0 && missing == 0) return TENGINE_OK;
    const int wrong = foreign != 0 ? foreign : missing;
    const char* name = "of an unknown bit";
    for (const FlagName& known : kFlagNames) {
        if (wrong & known.flag) name = known.name;
    }
    return tengine_error_set(TENGINE_EFORMAT, "%s%s %s the flag %s (flags 0x%x)", form.name,
                             form.required_flags & kFloat ? " with float" : "",
                             foreign != 0 ? "cannot have" : "needs", name, unsigned{flags});
}

uint64_t get_member(const Instruction& instruction, const Member& member)
{
    const auto* place = reinterpret_cast<const unsigned char*>(&instruction) + member.offset;
    uint8_t byte = 0;
    uint16_t half = 0;
    uint32_t word = 0;
    uint64_t whole = 0;
    switch (member.bytes) {
        case 1:
            std::memcpy(&byte, place, 1);
            return byte;
        case 2:
            std::memcpy(&half, place, 2);
            return half;
        case 4:
            std::memcpy(&word, place, 4);
            return word;
        default:
            std::memcpy(&whole, place, 8);
            return whole;
    }
}

void set_member(Instruction* instruction, const Member& member, uint64_t bits)
{
    auto* place = reinterpret_cast<unsigned char*>(instruction) + member.offset;
    const auto byte = static_cast<uint8_t>(bits);
    const auto half = static_cast<uint16_t>(bits);
    const auto word = static_cast<uint32_t>(bits);
    switch (member.bytes) {
        case 1:
            std::memcpy(place, &byte, 1);
            break;
        case 2:
            std::memcpy(place, &half, 2);
            break;
        case 4:
            std::memcpy(place, &word, 4);
            break;
        default:
            std::memcpy(place, &bits, 8);
            break;
    }
}

}  // namespace tengine::tpu
