#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Measures the rate of each kernel in networks and writes benchmark/kernel_rates.txt, from which
// docs/kernels.md has its column "measured". A kernel's rate is the highest of its nodes that take
// 20 us or longer: GFLOP/s where the node multiplies, two for each multiply-add of the operator's
// definition, else GB/s of its inputs and outputs.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { cacheFile, findShape } from './networks.mjs';
import { writeInputs } from './tensors.mjs';

const USAGE = `usage: kernel_rates.mjs --program BUILD/bin/tengine [options] MODEL...
  --seconds N        of measuring, for each network and precision (default 2)
  --precision LIST   of networks in fp32 (default fp32,fp16,bf16)`;
const SHORTEST_MS = 0.02;
const TABLE = new URL('kernel_rates.txt', import.meta.url);

function parse() {
    const { values, positionals } = parseArgs({
        allowPositionals: true,
        options: {
            program: { type: 'string' },
            seconds: { type: 'string', default: '2' },
            precision: { type: 'string', default: 'fp32,fp16,bf16' },
        },
    });
    if (!values.program || positionals.length === 0) throw new Error(USAGE);
    return { ...values, models: positionals };
}

// The arguments that give a model its inputs: those of the description beside it (docs/model_zoo.md),
// which are written into the folder, else the shape of its picture.
function describeInputs(model, folder) {
    const description = model.replace(/\.onnx$/, '.json');
    if (description === model || !existsSync(description)) return ['--shape', findShape(model)];
    const [inputs] = JSON.parse(readFileSync(description, 'utf8')).sizes;
    writeInputs(folder, inputs);
    return Object.entries(inputs).flatMap(([name, { shape }], i) => {
        const file = join(folder, `input${i}.bin`);
        renameSync(join(folder, `input${i}`), file);
        return ['--shape', `${name}=${shape.join('x') || 'scalar'}`, '--input', `${name}=${file}`];
    });
}

function profile(model, precision, inputs, options) {
    const report = execFileSync(
        options.program,
        ['bench', model, ...inputs, '--precision', precision, '--profile', '--threads', '1',
         '--seconds', options.seconds, '--quiet', '--json', '-'],
        { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 2 ** 28 });
    return JSON.parse(report).results[0].profile.nodes;
}

// What a line of the table says of a node, or null where it says nothing about a kernel.
function rate(node) {
    if (!node.kernel || node.kernel.startsWith('reference') || node.median_ms < SHORTEST_MS)
        return null;
    if (node.gflops > 0) return { value: node.gflops, unit: 'GFLOP/s' };
    return node.gbps > 0 ? { value: node.gbps, unit: 'GB/s' } : null;
}

function keepBest(best, model, nodes) {
    for (const node of nodes) {
        const found = rate(node);
        const known = best.get(node.kernel);
        if (found && !(known && known.value >= found.value))
            best.set(node.kernel, { ...found, network: basename(model).split('.')[0] });
    }
}

function measure(options, folder) {
    const best = new Map();
    for (const model of options.models) {
        cacheFile(model);
        const inputs = describeInputs(model, folder);
        // Names that begin with q_ are those of networks in int8.
        const quantized = basename(model).startsWith('q_');
        for (const precision of quantized ? ['int8'] : options.precision.split(','))
            try {
                keepBest(best, model, profile(model, precision, inputs, options));
            } catch (failure) {
                console.error(`${model} in ${precision} is left out: ${failure.stderr}`);
            }
    }
    return best;
}

// The processor as Linux names it, and the widest instruction set that the library uses.
function describeMachine(program) {
    const [, model] = readFileSync('/proc/cpuinfo', 'utf8').match(/^model name\s*: (.*)$/m) ?? [];
    const devices = execFileSync(program, ['devices'], { encoding: 'utf8' });
    const [, target] = devices.match(/^device CPU\n\s+runs on (.*)$/m) ?? [];
    return `${model ?? 'unknown processor'}, ${target ?? 'without vectors'}`;
}

function write(options, best) {
    const lines = [...best].sort(([a], [b]) => (a < b ? -1 : 1)).map(
        ([kernel, { value, unit, network }]) =>
            `${kernel} ${value < 10 ? value.toFixed(1) : value.toFixed(0)} ${unit} ${network}\n`);
    writeFileSync(TABLE, `# ${describeMachine(options.program)}, one thread\n` +
                         '# kernel, rate, unit, network; benchmark/kernel_rates.mjs\n' +
                         lines.join(''));
    console.log(`${lines.length} kernels`);
}

const options = parse();
const folder = mkdtempSync(join(tmpdir(), 'kernel_rates-'));
try {
    write(options, measure(options, folder));
} finally {
    rmSync(folder, { recursive: true });
}
