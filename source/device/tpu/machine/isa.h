// SPDX-License-Identifier: Apache-2.0
// The instruction set, version 1: the one thing that compiler, program container and simulator
// share. Encoding: isa.cc by the table of isa_table.h. docs/tpu-simulator.md gives the cost of each
// instruction.
//
// Memories, each with addresses from 0:
//   host     bytes; the part's inputs, outputs, constants and spilled values
//   weights  bytes; tiles of rows x columns elements, dense, row by row, unused ones zero
//   buffer   bytes; the unified buffer
//   sums     accumulator rows of `columns` 32-bit elements: int32, or fp32 in bf16 mode
// and a FIFO of weight tiles between weight memory and the array.
//
// Most instructions work on a grid of outer x inner vectors of `length` elements, contiguous within
// a vector. Vector (o, i) of an operand begins at address + o * pitch_outer + i * pitch_inner
// (bytes, whatever the element; pitches may be 0). Reads of an instruction see memory as it was
// before it; the vectors it writes must not overlap one another: those of the smaller pitch lie one
// after the other, and as a whole they step by the larger pitch. Instructions take effect one after
// the other, in program order: how far they overlap in time is the simulator's business and never
// changes results.
#pragma once

#include <cstdint>

namespace tengine::tpu {

constexpr uint32_t kIsaVersion = 1;
constexpr int kInstructionBytes = 64;

enum class Opcode : uint8_t
{
    kNop = 0,
    // `tiles` tiles from weight memory at host_address (there: a weight address), one after the
    // other, to the FIFO. A wide tile (kWideWeights) has 2-byte elements. Decoupled: waits only for
    // room.
    kReadWeights = 1,
    // sums[d.address + o * inner + i][c] (+)= sum over k < length of a(o, i)[k] * tile[k][c], for c
    // < columns. kNextTile: the FIFO's next tile moves into the array; it stays for following
    // products without the flag. kAccumulate: adds, else replaces. Elements of a: int8 or uint8
    // (kSignedA), int16 with kWideA, bf16 with kFloat. Elements of the tile: int8, int16 with
    // kWideWeights, bf16 with kFloat (then also kWideWeights, and not kWideA). Integer sums wrap
    // around at 2^32; bf16 products are exact in fp32 and added in fp32 from k = 0 up, beginning
    // with 0, then the result is added to the accumulator.
    kMatrixMultiply = 2,
    // d(o, i)[c] = requantised sums[a.address + o * inner + i][c], c < length. At b.address of the
    // buffer is a Parameter for each c. Integers: requantize_ir_sum(sum + bias, {factor, shift},
    // zero_d, lowest, highest) of tengine/fixed_point.h, sum + bias wrapping; results are int8 with
    // kSignedD, else uint8. kTable: the result (as unsigned) is the index of one of 256 bytes at
    // `table` of the buffer. kFloat: fp32 sum + bias (Parameter.bias has fp32 bits), clamped to
    // low_real..high_real, rounded to bf16 (ties to even).
    kActivate = 3,
    // d = a; length in bytes.
    kCopy = 4,
    // d = low byte of `value`; with kWide both bytes, for 2-byte elements.
    kFill = 5,
    // d[e] = byte at table + a[e].
    kLookup = 6,
    // d[e] = clamp(zero_d + round_ir_shift((a[e] - zero_a) * factor_a + (b[e] - zero_b) * factor_b,
    // shift), lowest, highest). kFloat: bf16 a[e] + b[e], clamped to low_real..high_real.
    kAdd = 7,
    // d[e] = requantize_ir_sum((a[e] - zero_a) * (b[e] - zero_b), {factor_a, shift}, zero_d,
    // lowest, highest). kFloat: bf16 product in fp32, clamped.
    kMultiply = 8,
    // d(o, i)[e] = maximum over the window: its vector (p, q) is at p * window_pitch_outer + q *
    // window_pitch_inner after a(o, i). kFloat: bf16.
    kMaxPool = 9,
    // As kMaxPool, with requantize_ir_sum(sum of (a - zero_a), {factor_a, shift}, zero_d, lowest,
    // highest); the window has at most 2^23 elements. kFloat: bf16, fp32 sum in window order, times
    // low_real.
    kAveragePool = 10,
    // Reads buffer grid d from host memory: vector (o, i) is at host_address + o * a.pitch_outer +
    // i * a.pitch_inner; length in bytes.
    kReadHost = 11,
    // Writes buffer grid a to host memory: vector (o, i) goes to host_address + o * d.pitch_outer +
    // i * d.pitch_inner; length in bytes.
    kWriteHost = 12,
    // All earlier instructions have finished before any later one begins.
    kSync = 13,
    // The following instructions belong to node `value` of the program's list, for counters.
    kTag = 14,
    // The end: the last instruction, which occurs only there.
    kHalt = 15,
};
constexpr int kOpcodeNum = 16;

enum Flag : uint16_t
{
    kAccumulate = 1 << 0,
    kNextTile = 1 << 1,
    kSignedA = 1 << 2,
    kSignedB = 1 << 3,
    kSignedD = 1 << 4,
    kWideA = 1 << 5,
    kWideWeights = 1 << 6,
    kFloat = 1 << 7,
    kTable = 1 << 8,
    kWide = 1 << 9,
};

struct Operand
{
    uint32_t address = 0;
    uint32_t pitch_outer = 0;
    uint32_t pitch_inner = 0;
};

// A decoded instruction; members that an opcode does not use are zero and not encoded. 8-bit
// members such as zero_a are signed if the operand's flag says so.
struct Instruction
{
    Opcode opcode = Opcode::kNop;
    uint16_t flags = 0;
    uint16_t outer = 0, inner = 0;  // the grid; both at least 1 if used
    uint32_t length = 0;            // at least 1 if used
    uint16_t columns = 0;
    uint16_t tiles = 0;
    Operand a, b, d;
    uint64_t host_address = 0;
    uint16_t window_outer = 0, window_inner = 0;
    uint32_t window_pitch_outer = 0, window_pitch_inner = 0;
    uint32_t table = 0;
    int32_t factor_a = 0, factor_b = 0;
    uint8_t shift = 0;
    uint8_t zero_a = 0, zero_b = 0, zero_d = 0;
    uint8_t lowest = 0, highest = 0;
    float low_real = 0, high_real = 0;
    uint32_t value = 0;
};

// The parameter of one output channel, for kActivate, little-endian in the buffer.
struct Parameter
{
    int32_t bias;  // fp32 bits with kFloat
    int32_t factor;
    int32_t shift;  // below 0 counts as 0, above 62 as 62
};
constexpr int kParameterBytes = 12;

// Encode and decode the 64 bytes of an instruction: opcode, flags, then the opcode's members in a
// fixed order, little-endian; the rest is zero. decode: TENGINE_EFORMAT for an unknown opcode, a
// flag that the opcode does not have, or nonzero bytes after its members.
void encode_instruction(const Instruction& instruction, uint8_t out[kInstructionBytes]);
int decode_instruction(const uint8_t bytes[kInstructionBytes], Instruction* out_instruction);

// Returns "matrix_multiply" and so on; null for a number that is not an opcode.
const char* opcode_name(Opcode opcode);

}  // namespace tengine::tpu
