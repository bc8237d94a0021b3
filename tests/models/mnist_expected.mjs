// SPDX-License-Identifier: Apache-2.0
// Prints what ONNX Runtime makes of mnist.onnx and the input of mnist_test.cc and
// tmfile_samples_test.cc, which hold the numbers, for a seed (1 if none is given). Needs the npm
// package onnxruntime-node beside it or above:
//     node mnist_expected.mjs mnist.onnx 2
import { createRequire } from "node:module";

const ort = createRequire(process.cwd() + "/")("onnxruntime-node");

// The same generator as in mnist_test.cc: 24 bits, so that every number is exact as a float.
const pixels = new Float32Array(28 * 28);
let state = Number(process.argv[3] ?? 1);
for (let i = 0; i < pixels.length; ++i) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    pixels[i] = (state >>> 8) / 2 ** 24;
}

const session = await ort.InferenceSession.create(process.argv[2]);
const input = new ort.Tensor("float32", pixels, [1, 1, 28, 28]);
const { output } = await session.run({ images: input });
console.log(`ONNX Runtime ${ort.env.versions.node}:`, Array.from(output.data));
