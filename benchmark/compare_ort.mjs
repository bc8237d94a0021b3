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
import { compareOutputs, writeInputs } from './tensors.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const USAGE = `usage: compare_ort.mjs --program BUILD/bin/run_model [options] MODEL...
  --runs N          timed runs of each (default 30), after --warmup N (default 5)
  --threads LIST    threads of each (default 1); 1,2 measures every model with one and with two
  --precision P     what tengine computes in: fp32 (default), fp16, bf16, or int8 for quantised models
  --float FOLDER    also measures tengine in fp32 with the file of the same name in this folder
  --shape AxBx...   shape of the model's first input, of floats. Default: the inputs, in each size, of
                    the description beside the model, NAME.json for NAME.onnx; without one, of what
                    export_models.py writes that network's shape, of others 1x3x224x224
  --json FILE       writes the results as data, too
  --html FILE       and as a page with a chart
  --markdown FILE   and as a table in Markdown
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
            markdown: { type: 'string' },
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

// The inputs that the model is measured with, in each size, by their names.
function listSizes(model, options) {
    const description = model.replace(/\.onnx$/, '.json');
    if (!options.shape && description !== model && existsSync(description))
        return JSON.parse(readFileSync(description, 'utf8')).sizes;
    const shape = (options.shape ?? findShape(model)).split('x').map(Number);
    return [{ '*': { type: 'float32', shape, low: -1, high: 1 } }];
}

// The rates of the machine now, by the program `machine` beside run_model; null where the build has
// none.
function askMachine(options) {
    const program = join(dirname(options.program), 'machine');
    return existsSync(program) ? JSON.parse(execFileSync(program, { encoding: 'utf8' })) : null;
}

// The higher peak of two looks at the machine, since in one it may have been busy, and both
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
async function startOurs(options, model, threads, precision, folder) {
    const ours = new Contestant(options.program, [model, threads, precision, folder]);
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

async function compare(model, inputs, threads, options, folder) {
    const prepare = (name) => {
        writeInputs(join(folder, name), inputs);
        return join(folder, name);
    };
    const before = askMachine(options);
    cacheFile(model);
    const ours = await startOurs(options, model, threads, options.precision, prepare('ours'));
    const theirs = new Contestant(process.execPath, [join(HERE, 'run_ort.mjs'), options.ort, model,
        threads, prepare('theirs')]);
    theirs.ready = Number(await theirs.answer());
    const inFloat = options.float && await startOurs(options, join(options.float, basename(model)),
        threads, 'fp32', prepare('float'));
    await takeTurns([ours, theirs, ...inFloat ? [inFloat] : []], options);
    const timed = (contestant) => median(contestant.times.slice(Number(options.warmup)));
    return {
        ours: timed(ours),
        theirs: timed(theirs),
        ...inFloat ? { float: timed(inFloat) } : {},
        gflops: 2 * ours.macs / timed(ours) / 1e6,
        oursMib: ours.peakKib / 1024,
        theirsMib: theirs.peakKib / 1024,
        oursFirst: ours.ready + ours.times[0],
        theirsFirst: theirs.ready + theirs.times[0],
        machine: describeMachine(before, askMachine(options), threads),
        ...compareOutputs(join(folder, 'ours'), join(folder, 'theirs')),
    };
}

// A model that one of the programs refuses has a failure instead of figures.
async function tryCompare(model, inputs, threads, options, folder) {
    const shape = Object.values(inputs)[0].shape.join('x') || 'scalar';
    const about = { model: basename(model), shape, threads };
    try {
        return { ...about, ...await compare(model, inputs, threads, options, folder) };
    } catch (error) {
        return { ...about, failure: error.message };
    }
}

function percentOfPeak({ gflops, threads, machine }) {
    return machine ? 100 * gflops / (threads * machine.peakGflops) : NaN;
}

function listColumns(options) {
    return ['model', 'input', 'threads', 'ms', 'ORT', 'ratio', ...options.float ? ['float', 'ratio'] : [],
        'GFLOP/s', '% peak', 'MiB', 'ORT', 'ratio', 'first ms', 'ORT', 'ratio', 'latency ns',
        'error: absolute, relative'];
}

// A row of these columns.
function describe(result) {
    const about = [result.model, result.shape, String(result.threads)];
    if (result.failure) return [...about, result.failure];
    const ratio = (a, b) => (a / b).toFixed(2);
    const percent = percentOfPeak(result);
    return [...about,
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
        : i === 1 ? cell.padEnd(16)
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

function makeTable(columns, rows) {
    const line = (cells) => `| ${cells.join(' | ')} |\n`;
    return line(columns) + line(columns.map(() => '---')) + rows.map(line).join('');
}

function isBeyond(result, options) {
    return result.failure || !(result.ours / result.theirs <= Number(options['max-time'])) ||
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
            for (const inputs of listSizes(model, options)) {
                for (const threads of options.threads) {
                    const result = await tryCompare(model, inputs, threads, options, folder);
                    print(describe(result));
                    report.results.push(result);
                }
            }
        }
    } finally {
        rmSync(folder, { recursive: true });
    }
    for (const threads of options.threads) {
        const results = report.results.filter((each) => each.threads === threads && !each.failure);
        if (results.length === 0) continue;
        report.summary[threads] = summarise(results);
        printSummary(threads, report.summary[threads], results.length);
    }
    if (options.json) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`);
    const rows = report.results.map(describe);
    if (options.html) writeFileSync(options.html, makePage(report, columns, rows));
    if (options.markdown) writeFileSync(options.markdown, makeTable(columns, rows));
    process.exitCode = report.results.some((result) => isBeyond(result, options)) ? 1 : 0;
}

try {
    await main();
} catch (error) {
    console.error(error.message);
    process.exit(2);  // other contestants end with their input
}
