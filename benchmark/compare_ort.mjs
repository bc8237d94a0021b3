#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Compares tengine with ONNX Runtime on the same models: time, peak memory and outputs. Both run as
// programs of their own that take turns, run by run, so that whatever else the machine does hits
// both alike. How to use it: docs/benchmark.md.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { CACHE, installOrt } from './ort.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const USAGE = `usage: compare_ort.mjs --program BUILD/bin/run_model [options] MODEL...
  --runs N          timed runs of each (default 30), after --warmup N (default 5)
  --threads N       threads of each (default 1)
  --shape AxBx...   shape of the model's one float input (default: of what export_models.py writes
                    that network's, of others 1x3x224x224)
  --json FILE       writes the results as data, too
  --ort FOLDER      where node_modules/onnxruntime-node is (default: installed into
                    ${CACHE})
  --max-time R      exit with 1 when our median time is above R times theirs
  --max-memory R    the same for the peak of memory
  --max-error E     the same for the outputs' largest difference, relative to their largest value`;

// Of networks that do not take pictures of 224 x 224, by the names of their files.
const SHAPES = {
    'inception_v3.onnx': '1x3x299x299',
    'unet.onnx': '1x3x256x256',
    'bert.onnx': '1x128x768',
    'lstm.onnx': '64x1x512',
};

function parse() {
    const number = (fallback) => ({ type: 'string', default: String(fallback) });
    const { values, positionals } = parseArgs({
        allowPositionals: true,
        options: {
            program: { type: 'string' },
            runs: number(30),
            warmup: number(5),
            threads: number(1),
            shape: { type: 'string' },
            json: { type: 'string' },
            ort: number(CACHE),
            'max-time': number(Infinity),
            'max-memory': number(Infinity),
            'max-error': number(1e-4),
        },
    });
    if (!values.program || positionals.length === 0) throw new Error(USAGE);
    return { ...values, models: positionals };
}

// A program that answers each line with a line.
class Contestant {
    constructor(command, args) {
        this.times = [];
        this.child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
        this.child.on('error', () => {});  // its output then ends, which answer() reports
        this.child.stdin.on('error', () => {});
        this.command = command;
        this.lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
    }
    async answer() {
        const { value, done } = await this.lines.next();
        if (done) throw new Error(`${this.command} stopped`);
        return value;
    }
    async run() {
        this.child.stdin.write('run\n');
        this.times.push(Number(await this.answer()));
    }
    async finish() {
        this.child.stdin.end();
        this.peakKib = Number(await this.answer());
    }
}

// Uniform in [-1, 1), the same every time: a linear congruential generator.
function makeInput(count) {
    const values = new Float32Array(count);
    let state = 1;
    for (let i = 0; i < count; i++) {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        values[i] = state / 2 ** 31 - 1;
    }
    return values;
}

function median(values) {
    const sorted = [...values].sort((a, b) => a - b);
    const middle = sorted.length >> 1;
    return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function readFloats(path) {
    const bytes = readFileSync(path);
    return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

// Largest difference, absolute and relative to the largest expected value.
function difference(actual, expected) {
    if (actual.length !== expected.length) return { absolute: Infinity, relative: Infinity };
    let absolute = 0, largest = 0;
    for (let i = 0; i < expected.length; i++) {
        const error = Math.abs(actual[i] - expected[i]);
        absolute = error <= absolute ? absolute : error;  // a NaN stays
        largest = Math.max(largest, Math.abs(expected[i]));
    }
    return { absolute, relative: absolute / largest };
}

async function compare(model, options, folder) {
    const shape = options.shape ?? SHAPES[basename(model)] ?? '1x3x224x224';
    const dims = shape.split('x');
    const input = join(folder, 'input.bin');
    writeFileSync(input, makeInput(dims.reduce((product, dim) => product * Number(dim), 1)));
    const outputs = { ours: join(folder, 'ours.bin'), theirs: join(folder, 'theirs.bin') };
    const ours = new Contestant(options.program,
        [model, options.threads, input, outputs.ours, ...dims]);
    const theirs = new Contestant(process.execPath, [join(HERE, 'run_ort.mjs'), options.ort, model,
        options.threads, input, outputs.theirs, ...dims]);
    await ours.answer();
    await theirs.answer();
    // ONNX Runtime's threads keep polling for up to 50 ms after a run, on the cores of the next one.
    for (let i = 0; i < Number(options.warmup) + Number(options.runs); i++) {
        for (const contestant of [ours, theirs]) {
            await setTimeout(100);
            await contestant.run();
        }
    }
    await ours.finish();
    await theirs.finish();
    const timed = (contestant) => median(contestant.times.slice(Number(options.warmup)));
    return {
        model: basename(model),
        ours: timed(ours),
        theirs: timed(theirs),
        oursMib: ours.peakKib / 1024,
        theirsMib: theirs.peakKib / 1024,
        ...difference(readFloats(outputs.ours), readFloats(outputs.theirs)),
    };
}

function print(result) {
    const ratio = (a, b) => (a / b).toFixed(2).padStart(6);
    const cell = (value) => value.toFixed(1).padStart(8);
    console.log(`${result.model.padEnd(24)}${cell(result.ours)}${cell(result.theirs)}` +
        `${ratio(result.ours, result.theirs)}  ${cell(result.oursMib)}${cell(result.theirsMib)}` +
        `${ratio(result.oursMib, result.theirsMib)}  ${result.absolute.toExponential(1)} ` +
        `${result.relative.toExponential(1)}`);
}

async function main() {
    const options = parse();
    installOrt(options.ort);
    const folder = mkdtempSync(join(tmpdir(), 'tengine-compare-'));
    const results = [];
    let failed = false;
    console.log(`${options.threads} thread(s), ${options.runs} runs each, taking turns; medians`);
    console.log('model'.padEnd(24) + '      ms     ORT ratio       MiB     ORT ratio  ' +
        'error: absolute, relative');
    try {
        for (const model of options.models) {
            const result = await compare(model, options, folder);
            print(result);
            results.push(result);
            failed ||= !(result.ours / result.theirs <= Number(options['max-time'])) ||
                !(result.oursMib / result.theirsMib <= Number(options['max-memory'])) ||
                !(result.relative <= Number(options['max-error']));
        }
    } finally {
        rmSync(folder, { recursive: true });
    }
    const mean = (ratio) =>
        Math.exp(results.reduce((sum, result) => sum + Math.log(ratio(result)), 0) / results.length);
    console.log(`geometric mean: time ${mean((each) => each.ours / each.theirs).toFixed(2)}, ` +
        `memory ${mean((each) => each.oursMib / each.theirsMib).toFixed(2)}`);
    if (options.json)
        writeFileSync(options.json, `${JSON.stringify({ threads: Number(options.threads),
            runs: Number(options.runs), results }, null, 2)}\n`);
    process.exitCode = failed ? 1 : 0;
}

try {
    await main();
} catch (error) {
    console.error(error.message);
    process.exitCode = 2;
}
