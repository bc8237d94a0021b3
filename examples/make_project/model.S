// SPDX-License-Identifier: Apache-2.0
// The bytes of the file MODEL, as part of the program's constant data. Weights are used where they
// lie; the file aligns them to 64 bytes.
    .section .rodata
    .balign 64
    .global model_begin
model_begin:
    .incbin MODEL
    .global model_end
model_end:
    .section .note.GNU-stack, "", %progbits
