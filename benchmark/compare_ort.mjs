#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Compares tengine with ONNX Runtime on the same models: time, peak memory, the way from the file to
// the first result, and outputs. Both run as programs of their own that take turns, run by run, so
// that whatever else the machine does hits both alike. How to use it: docs/benchmark.md.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { cacheFile, findShape, median } from './networks.mjs';
import { CACHE, installOrt, ortVersion } from './ort.mjs';
import { makePage } from './page.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const USAGE = `usage: compare_ort.mjs --program BUILD/bin/run_model [options] MODEL...
  --runs N          timed runs of each (default 30), after --warmup N (default 5)
  --threads LIST    threads of each (default 1); 1,2 measures every model with one and with two
  --precision P     what tengine computes in: fp32 (default), fp16, bf16, or int8 for quantised models
  --float FOLDER    also measures tengine in fp32 with the file of the same name in this folder
  --shape AxBx...   shape of the model's one float input (default: of what export_models.py writes
                    that network's, of others 1x3x224x224)
  --json FILE       writes the results as data, too
  --html FILE       and as a page with a chart
  --ort FOLDER      where node_modules/onnxruntime-node is (default: installed into
                    ${CACHE})
  --max-time R      exit with 1 when our median time is above R times theirs
  --max-memory R    the same for the peak of memory
  --max-error E     the same for the outputs' largest difference, relative to their largest value
                    (default: 1e-4 in fp32, in other precisions none)`;

function parse() {
    const text = (fallback) => ({ type: 'string', default: String(fallback) });
    const { values, positionals } = parseArgs({
        allowPositionals: true,
        options: {
            program: { type: 'string' },
            runs: text(30),
            warmup: text(5),
            threads: text(1),
            precision: text('fp32'),
            float: { type: 'string' },
            shape: { type: 'string' },
            json: { type: 'string' },
            html: { type: 'string' },
            ort: text(CACHE),
            'max-time': text(Infinity),
            'max-memory': text(Infinity),
            'max-error': { type: 'string' },
        },
    });
    const threads = values.threads.split(',').map(Number);
    if (!values.program || positionals.length === 0 || !threads.every((number) => number >= 1))
        throw new Error(USAGE);
    values['max-error'] ??= values.precision === 'fp32' ? '1e-4' : 'Infinity';
    return { ...values, threads, models: positionals };
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
    return { absolute, relative: absolute === 0 ? 0 : absolute / largest };
}

// What the machine can do now, by the program `machine` beside run_model; null where the build has
// none.
function askMachine(options) {
    const program = join(dirname(options.program), 'machine');
    return existsSync(program) ? JSON.parse(execFileSync(program, { encoding: 'utf8' })) : null;
}

// Of two looks at the machine the higher peak, since in one it may have been busy, and both
// latencies, where there is more than one thread.
function describeMachine(before, after, threads) {
    if (!before) return null;
    return {
        instructionSet: before.instruction_set,
        peakGflops: Math.max(before.peak_gflops, after.peak_gflops),
        latencyNs: threads > 1 ? [before.latency_ns, after.latency_ns] : null,
    };
}

// tengine's side, ready to run, with the multiply-adds of a run; peakKib and times come later.
async function startOurs(options, model, threads, precision, rest) {
    const ours = new Contestant(options.program, [model, threads, precision, ...rest]);
    [ours.ready, ours.macs] = (await ours.answer()).split(' ').map(Number);
    return ours;
}

// ONNX Runtime's threads keep polling for up to 50 ms after a run, on the cores of the next one.
async function takeTurns(contestants, options) {
    for (let i = 0; i < Number(options.warmup) + Number(options.runs); i++) {
        for (const contestant of contestants) {
            await setTimeout(100);
            await contestant.run();
        }
    }
    for (const contestant of contestants) await contestant.finish();
}

async function compare(model, threads, options, folder) {
    const shape = options.shape ?? findShape(model);
    const dims = shape.split('x');
    const input = join(folder, 'input.bin');
    writeFileSync(input, makeInput(dims.reduce((product, dim) => product * Number(dim), 1)));
    const files = (name) => [input, join(folder, name), ...dims];
    const before = askMachine(options);
    cacheFile(model);
    const ours = await startOurs(options, model, threads, options.precision, files('ours'));
    const theirs = new Contestant(process.execPath, [join(HERE, 'run_ort.mjs'), options.ort, model,
        threads, ...files('theirs')]);
    theirs.ready = Number(await theirs.answer());
    const inFloat = options.float && await startOurs(options, join(options.float, basename(model)),
        threads, 'fp32', files('float'));
    await takeTurns([ours, theirs, ...inFloat ? [inFloat] : []], options);
    const timed = (contestant) => median(contestant.times.slice(Number(options.warmup)));
    return {
        model: basename(model),
        threads,
        ours: timed(ours),
        theirs: timed(theirs),
        ...inFloat ? { float: timed(inFloat) } : {},
        gflops: 2 * ours.macs / timed(ours) / 1e6,
        oursMib: ours.peakKib / 1024,
        theirsMib: theirs.peakKib / 1024,
        oursFirst: ours.ready + ours.times[0],
        theirsFirst: theirs.ready + theirs.times[0],
        machine: describeMachine(before, askMachine(options), threads),
        ...difference(readFloats(join(folder, 'ours')), readFloats(join(folder, 'theirs'))),
    };
}

function percentOfPeak({ gflops, threads, machine }) {
    return machine ? 100 * gflops / (threads * machine.peakGflops) : NaN;
}

function listColumns(options) {
    return ['model', 'threads', 'ms', 'ORT', 'ratio', ...options.float ? ['float', 'ratio'] : [],
        'GFLOP/s', '% peak', 'MiB', 'ORT', 'ratio', 'first ms', 'ORT', 'ratio', 'latency ns',
        'error: absolute, relative'];
}

// A row of these columns.
function describe(result) {
    const ratio = (a, b) => (a / b).toFixed(2);
    const percent = percentOfPeak(result);
    return [result.model, String(result.threads),
        result.ours.toFixed(1), result.theirs.toFixed(1), ratio(result.ours, result.theirs),
        ...result.float ? [result.float.toFixed(1), ratio(result.ours, result.float)] : [],
        result.gflops.toFixed(0), Number.isNaN(percent) ? '-' : percent.toFixed(0),
        result.oursMib.toFixed(0), result.theirsMib.toFixed(0),
        ratio(result.oursMib, result.theirsMib),
        result.oursFirst.toFixed(0), result.theirsFirst.toFixed(0),
        ratio(result.oursFirst, result.theirsFirst),
        result.machine?.latencyNs?.join(', ') ?? '-',
        `${result.absolute.toExponential(1)}, ${result.relative.toExponential(1)}`];
}

function print(row) {
    console.log(row.map((cell, i) => i === 0 ? cell.padEnd(24)
        : i === row.length - 1 ? `  ${cell}`
        : cell.padStart(i === row.length - 2 ? 11 : 9)).join(''));
}

// Geometric means of our figures as ratios to theirs, and to our own in float.
function summarise(results) {
    const mean = (ratio) =>
        Math.exp(results.reduce((sum, each) => sum + Math.log(ratio(each)), 0) / results.length);
    return {
        time: mean((each) => each.ours / each.theirs),
        ...results[0].float ? { float: mean((each) => each.ours / each.float) } : {},
        memory: mean((each) => each.oursMib / each.theirsMib),
        first: mean((each) => each.oursFirst / each.theirsFirst),
        slower: results.filter((each) => each.ours > each.theirs).length,
    };
}

function printSummary(threads, { time, float, memory, first, slower }, count) {
    console.log(`${threads} thread(s), geometric means: time ${time.toFixed(2)}, ` +
        (float ? `to our own in float ${float.toFixed(2)}, ` : '') +
        `memory ${memory.toFixed(2)}, first result ${first.toFixed(2)}; ` +
        `slower on ${slower} of ${count}`);
}

function isBeyond(result, options) {
    return !(result.ours / result.theirs <= Number(options['max-time'])) ||
        !(result.oursMib / result.theirsMib <= Number(options['max-memory'])) ||
        !(result.relative <= Number(options['max-error']));
}

async function main() {
    const options = parse();
    installOrt(options.ort);
    const folder = mkdtempSync(join(tmpdir(), 'tengine-compare-'));
    const report = { ort: ortVersion(options.ort), cpu: cpus()[0].model, runs: Number(options.runs),
        precision: options.precision, results: [], summary: {} };
    console.log(`ONNX Runtime ${report.ort}, ${report.cpu}; tengine in ${options.precision}; ` +
        `${options.runs} runs each, taking turns; medians`);
    const columns = listColumns(options);
    print(columns);
    try {
        for (const model of options.models) {
            for (const threads of options.threads) {
                const result = await compare(model, threads, options, folder);
                print(describe(result));
                report.results.push(result);
            }
        }
    } finally {
        rmSync(folder, { recursive: true });
    }
    for (const threads of options.threads) {
        const results = report.results.filter((each) => each.threads === threads);
        report.summary[threads] = summarise(results);
        printSummary(threads, report.summary[threads], results.length);
    }
    if (options.json) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`);
    if (options.html)
        writeFileSync(options.html, makePage(report, columns, report.results.map(describe)));
    process.exitCode = report.results.some((result) => isBeyond(result, options)) ? 1 : 0;
}

try {
    await main();
} catch (error) {
    console.error(error.message);
    process.exit(2);  // other contestants end with their input
}
