// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime's side of compare_ort.mjs; it behaves like run_model.c, whose precision is the file's:
//   run_ort.mjs RUNTIME MODEL THREADS FOLDER
// RUNTIME holds node_modules/onnxruntime-node. Its first line has the milliseconds only.
import { createInterface } from 'node:readline';
import { loadOrt } from './ort.mjs';
import { readInputs, writeOutputs } from './tensors.mjs';

const [runtime, model, threads, folder] = process.argv.slice(2);
const ort = loadOrt(runtime);

const beginning = process.hrtime.bigint();
const milliseconds = (start) => (Number(process.hrtime.bigint() - start) / 1e6).toFixed(4);
const session = await ort.InferenceSession.create(model, {
    intraOpNumThreads: Number(threads),
    interOpNumThreads: 1,
});
const feeds = {};
for (const { name, type, data, dims } of readInputs(folder))
    feeds[name === '*' ? session.inputNames[0] : name] = new ort.Tensor(type, data, dims);

// This interface has tensors only.
const outputs = session.outputMetadata.filter((each) => each.isTensor).map((each) => each.name);

console.log(milliseconds(beginning));
let results;
for await (const line of createInterface({ input: process.stdin })) {
    const start = process.hrtime.bigint();
    results = await session.run(feeds, outputs);
    console.log(milliseconds(start));
}
const peak = process.resourceUsage().maxRSS;
if (results) writeOutputs(folder, results);
console.log(peak);
