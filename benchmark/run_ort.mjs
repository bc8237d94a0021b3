// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime's side of compare_ort.mjs; it behaves like run_model.c, whose precision is the file's:
//   run_ort.mjs FOLDER MODEL THREADS INPUT OUTPUT DIM...
// FOLDER holds node_modules/onnxruntime-node. Of the first line it prints the milliseconds only.
import { readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { loadOrt } from './ort.mjs';

const [folder, model, threads, inputFile, outputFile, ...dims] = process.argv.slice(2);
const ort = loadOrt(folder);

const beginning = process.hrtime.bigint();
const milliseconds = (start) => (Number(process.hrtime.bigint() - start) / 1e6).toFixed(4);
const session = await ort.InferenceSession.create(model, {
    intraOpNumThreads: Number(threads),
    interOpNumThreads: 1,
});
const bytes = readFileSync(inputFile);
const values = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
const feeds = { [session.inputNames[0]]: new ort.Tensor('float32', values, dims.map(Number)) };

console.log(milliseconds(beginning));
let output;
for await (const line of createInterface({ input: process.stdin })) {
    const start = process.hrtime.bigint();
    output = (await session.run(feeds))[session.outputNames[0]];
    console.log(milliseconds(start));
}
const peak = process.resourceUsage().maxRSS;
if (output) writeFileSync(outputFile, new Uint8Array(output.data.buffer, output.data.byteOffset,
                                                     output.data.byteLength));
console.log(peak);
