#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Compares the results of quantised models with those of ONNX Runtime, in quantisation steps. How
// to use it: docs/quantize.md. How long models take is what compare_ort.mjs compares.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { CACHE, installOrt, loadOrt } from './ort.mjs';

const USAGE = `usage: agree_ort.mjs --program BUILD/bin/tengine [options] MODEL...
  --device A,B      devices, best first (default: the CPU)
  --precision P     what tengine computes in (default int8)
  --inputs N        random inputs for each model (default 10)
  --shape AxBx...   shape of the model's one float input (default 1x3x224x224)
  --level L         ONNX Runtime's graph optimisation: all (default), or disabled: then it computes
                    a QDQ model in float
  --ort FOLDER      where node_modules/onnxruntime-node is (default: installed into
                    ${CACHE})
  --min-share P     exit with 1 when less than P % of an output is within one step`;

function parse() {
    const text = (fallback) => ({ type: 'string', default: fallback });
    const { values, positionals } = parseArgs({
        allowPositionals: true,
        options: {
            program: { type: 'string' },
            device: text(''),
            precision: text('int8'),
            inputs: text('10'),
            shape: text('1x3x224x224'),
            level: text('all'),
            ort: text(CACHE),
            'min-share': text('0'),
        },
    });
    if (!values.program || positionals.length === 0) throw new Error(USAGE);
    return { ...values, models: positionals };
}

// Uniform in [0, 1) by a linear congruential generator: the same for the same seed.
function makeInput(count, seed) {
    const values = new Float32Array(count);
    let state = seed;
    for (let i = 0; i < count; i++) {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        values[i] = (state >>> 8) / 2 ** 24;
    }
    return values;
}

// NPY version 1, little endian, in the order of C: what both sides of this script use.
function encodeNpy(values, dims) {
    const text = `{'descr': '<f4', 'fortran_order': False, 'shape': (${dims.join(', ')},), }`;
    const header = text.padEnd(64 * Math.ceil((text.length + 11) / 64) - 11) + '\n';
    const length = Buffer.alloc(2);
    length.writeUInt16LE(header.length);
    return Buffer.concat([Buffer.from('\x93NUMPY\x01\x00', 'latin1'), length,
        Buffer.from(header, 'latin1'), Buffer.from(values.buffer)]);
}

function readNpy(path) {
    const bytes = readFileSync(path);
    const start = 10 + bytes.readUInt16LE(8);
    if (!bytes.toString('latin1', 10, start).includes("'<f4'"))
        throw new Error(`${path}: outputs must be fp32`);
    return new Float32Array(bytes.buffer.slice(bytes.byteOffset + start,
        bytes.byteOffset + bytes.length));
}

function runTengine(options, model, input, folder) {
    const args = ['run', model, '--input', input, '--precision', options.precision, '--output',
        folder, ...(options.device ? ['--device', options.device] : [])];
    const { status, stderr } = spawnSync(options.program, args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`${options.program}: ${stderr}`);
}

// tengine's name for the file of an output.
function outputFile(folder, name) {
    return join(folder, `${name.replace(/[^A-Za-z0-9._-]/g, '_')}.npy`);
}

// An output that is dequantised holds whole multiples of its scale, at most 256 of them. Among
// hundreds of values two neighbours are as good as certain, so their gap is the scale. NaN: the
// output is not quantised.
function findStep(values) {
    const levels = [...new Set(values)].sort((a, b) => a - b);
    if (levels.length > 256) return NaN;
    let step = Infinity;
    for (let i = 1; i < levels.length; i++) step = Math.min(step, levels[i] - levels[i - 1]);
    const isMultiple = (value) => Math.abs(value / step - Math.round(value / step)) < 0.01;
    return levels.every(isMultiple) ? step : NaN;
}

function countSteps(actual, expected, step) {
    const steps = expected.map((value, i) => Math.round(Math.abs(actual[i] - value) / step));
    return {
        equal: steps.filter((count) => count === 0).length,
        withinOne: steps.filter((count) => count <= 1).length,
        most: steps.reduce((a, b) => Math.max(a, b), 0),
    };
}

const indexOfLargest = (values) => values.reduce((best, value, i) =>
    (value > values[best] ? i : best), 0);

// The pairs of one output over all inputs.
function compareOutput(pairs) {
    const actual = Float32Array.from(pairs.flatMap(([ours]) => [...ours]));
    const expected = Float32Array.from(pairs.flatMap(([, theirs]) => [...theirs]));
    const step = findStep([...actual, ...expected]);
    const sameTop = pairs.filter(([ours, theirs]) =>
        indexOfLargest(ours) === indexOfLargest(theirs)).length;
    return { step, elements: expected.length, sameTop, ...countSteps(actual, expected, step) };
}

async function compareModel(ort, options, model, folder) {
    const dims = options.shape.split('x').map(Number);
    const session = await ort.InferenceSession.create(model, {
        graphOptimizationLevel: options.level,
        intraOpNumThreads: 1,
    });
    const pairs = Object.fromEntries(session.outputNames.map((name) => [name, []]));
    for (let seed = 1; seed <= Number(options.inputs); seed++) {
        const values = makeInput(dims.reduce((product, dim) => product * dim, 1), seed);
        const input = join(folder, 'input.npy');
        writeFileSync(input, encodeNpy(values, dims));
        runTengine(options, model, input, folder);
        const feed = { [session.inputNames[0]]: new ort.Tensor('float32', values, dims) };
        const results = await session.run(feed);
        for (const name of session.outputNames)
            pairs[name].push([readNpy(outputFile(folder, name)), results[name].data]);
    }
    return Object.entries(pairs).map(([name, list]) => ({ name, ...compareOutput(list) }));
}

function print(model, options, result) {
    const percent = (count) => `${(100 * count / result.elements).toFixed(2)} %`.padStart(10);
    const cells = Number.isNaN(result.step) ? '  not quantised'.padEnd(54) :
        `${result.step.toPrecision(4).padStart(11)}${String(result.elements).padStart(10)}` +
        `${percent(result.equal)}${percent(result.withinOne)}${String(result.most).padStart(6)}`;
    console.log(`${basename(model).padEnd(28)}${result.name.padEnd(16)}${cells}` +
        `  ${result.sameTop} of ${options.inputs}`);
}

async function main() {
    const options = parse();
    installOrt(options.ort);
    const ort = loadOrt(options.ort);
    const folder = mkdtempSync(join(tmpdir(), 'tengine-agree-'));
    console.log('model'.padEnd(28) + 'output'.padEnd(16) +
        '       step  elements     equal  one step  most  same first');
    try {
        for (const model of options.models) {
            for (const result of await compareModel(ort, options, model, folder)) {
                print(model, options, result);
                const share = 100 * result.withinOne / result.elements;
                if (!(share >= Number(options['min-share']))) process.exitCode = 1;
            }
        }
    } finally {
        rmSync(folder, { recursive: true });
    }
}

try {
    await main();
} catch (error) {
    console.error(error.message);
    process.exitCode = 2;
}
