// SPDX-License-Identifier: Apache-2.0
// The inputs that compare_ort.mjs makes and the outputs that it gets, as files which run_model.c and
// run_ort.mjs share: a folder with raw data and lists of what they are.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ARRAYS = {
    float32: Float32Array, float64: Float64Array, float16: Uint16Array, int8: Int8Array,
    uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array, int32: Int32Array,
    uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array, bool: Uint8Array,
};

const isFloat = (type) => type.startsWith('float');

// Uniform numbers in [0, 1), the same every time: a linear congruential generator, of which the
// lower bits repeat soon.
function* randoms() {
    let state = 1;
    for (;;) {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        yield (state >>> 8) / 2 ** 24;
    }
}

function makeValue({ type, low, high }, random) {
    return isFloat(type) ? low + random * (high - low) : low + Math.floor(random * (high - low + 1));
}

// An input as the descriptions of the model zoo have it (docs/model_zoo.md).
function makeData(input, source) {
    const { type, shape, values } = input;
    const count = shape.reduce((product, dim) => product * dim, 1);
    if (!ARRAYS[type] || type === 'float16')
        throw new Error(`inputs of type ${type} cannot be made`);
    if (values && values.length !== count)
        throw new Error(`${values.length} values for the shape ${shape.join('x')}`);
    const data = new ARRAYS[type](count);
    for (let i = 0; i < count; i++) {
        const value = values ? values[i] : makeValue(input, source.next().value);
        data[i] = type.endsWith('int64') ? BigInt(value) : value;
    }
    return data;
}

// Writes a folder's inputs, each described under its name.
export function writeInputs(folder, inputs) {
    mkdirSync(folder, { recursive: true });
    const source = randoms();
    const lines = Object.entries(inputs).map(([name, input], i) => {
        writeFileSync(join(folder, `input${i}`), makeData(input, source));
        return `input${i} ${input.type} ${[input.shape.length, ...input.shape].join(' ')} ${name}\n`;
    });
    writeFileSync(join(folder, 'inputs'), lines.join(''));
}

function readList(folder, list) {
    const lines = readFileSync(join(folder, list), 'utf8').split('\n').filter((line) => line);
    return lines.map((line) => {
        const words = line.split(' ');
        const [file, type, rank] = words;
        const dims = words.slice(3, 3 + Number(rank)).map(Number);
        const bytes = readFileSync(join(folder, file));
        const data = new ARRAYS[type](bytes.buffer.slice(bytes.byteOffset,
            bytes.byteOffset + bytes.length));
        return { type, dims, data, name: words.slice(3 + Number(rank)).join(' ') };
    });
}

export function readInputs(folder) {
    return readList(folder, 'inputs');
}

export function writeOutputs(folder, results) {
    const lines = Object.entries(results).map(([name, { type, dims, data }], i) => {
        writeFileSync(join(folder, `output${i}`),
            new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
        return `output${i} ${type} ${[dims.length, ...dims].join(' ')} ${name}\n`;
    });
    writeFileSync(join(folder, 'outputs'), lines.join(''));
}

// Largest difference of two arrays, absolute and relative to the largest expected value. Integers
// have to be equal: Infinity when they are not.
function difference(actual, expected) {
    const differs = { absolute: Infinity, relative: Infinity };
    if (actual.type !== expected.type || String(actual.dims) !== String(expected.dims))
        return differs;
    if (!isFloat(expected.type) || expected.type === 'float16') {
        const equal = expected.data.every((value, i) => value === actual.data[i]);
        return equal ? { absolute: 0, relative: 0 } : differs;
    }
    let absolute = 0, largest = 0;
    for (let i = 0; i < expected.data.length; i++) {
        if (Object.is(actual.data[i], expected.data[i])) continue;  // infinities and NaNs, too
        const error = Math.abs(actual.data[i] - expected.data[i]);
        absolute = error <= absolute ? absolute : error;  // a NaN stays
    }
    for (const value of expected.data)
        if (Number.isFinite(value)) largest = Math.max(largest, Math.abs(value));
    return { absolute, relative: absolute === 0 ? 0 : absolute / largest };
}

// The worst of all outputs in the folders of both sides, by name, with the output that it is of.
export function compareOutputs(actual, expected) {
    const ours = new Map(readList(actual, 'outputs').map((output) => [output.name, output]));
    const all = readList(expected, 'outputs').map((output) => {
        const same = ours.get(output.name);
        if (!same) throw new Error(`${output.name}: tengine has no such output`);
        return { output: output.name, ...difference(same, output) };
    });
    return all.reduce((worst, each) => (each.relative <= worst.relative ? worst : each));
}
