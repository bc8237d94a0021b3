#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Compares the start of a model, load, prepare and first run, with that of the same model compiled
// ahead of time for the same devices. Each start is a process of its own; the two take turns.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { cacheFile, findShape, median } from './networks.mjs';

const USAGE = `usage: compare_start.mjs --program BUILD/bin/tengine [options] MODEL...
  --runs N          starts of each (default 7)
  --threads N       threads (default 1)
  --device LIST     devices (default CPU)
  --precision P     precision (default: of the model)`;

function parse() {
    const { values, positionals } = parseArgs({
        allowPositionals: true,
        options: {
            program: { type: 'string' },
            runs: { type: 'string', default: '7' },
            threads: { type: 'string', default: '1' },
            device: { type: 'string', default: 'CPU' },
            precision: { type: 'string' },
        },
    });
    if (!values.program || positionals.length === 0) throw new Error(USAGE);
    return { ...values, models: positionals };
}

function start(file, options, target) {
    cacheFile(file);
    const report = execFileSync(
        options.program,
        ['bench', file, ...target, '--threads', options.threads, '--runs', '1', '--warmup', '0',
         '--quiet', '--json', '-'],
        { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    const [result] = JSON.parse(report).results;
    return {
        ready: result.load_ms + result.prepare_ms,
        first: result.load_ms + result.prepare_ms + result.first_run_ms,
        mib: result.peak_memory / 2 ** 20,
    };
}

function compare(model, options, folder) {
    const compiled = join(folder, 'compiled.tmfile');
    const target = ['--device', options.device, '--shape', findShape(model)];
    if (options.precision) target.push('--precision', options.precision);
    execFileSync(options.program, ['compile', model, '--quiet', ...target, '-o', compiled],
                 { stdio: 'ignore' });
    const starts = { plain: [], compiled: [] };
    for (let i = 0; i < Number(options.runs); i++) {
        starts.plain.push(start(model, options, target));
        starts.compiled.push(start(compiled, options, target));
    }
    rmSync(compiled);
    const column = (what, digits) => {
        const [plain, ours] = [starts.plain, starts.compiled]
            .map((results) => median(results.map((result) => result[what])));
        return [plain.toFixed(digits).padStart(9), ours.toFixed(digits).padStart(9),
            (ours / plain).toFixed(2).padStart(6)].join('');
    };
    return basename(model).padEnd(28) + column('ready', 1) + column('first', 1) + column('mib', 0);
}

try {
    const options = parse();
    const folder = mkdtempSync(join(tmpdir(), 'compare_start-'));
    try {
        console.log('medians of the plain file, of the compiled one, ratio');
        console.log('model'.padEnd(28) + ['load and prepare, ms', 'and first run, ms', 'peak MiB']
            .map((title) => title.padStart(24)).join(''));
        for (const model of options.models) console.log(compare(model, options, folder));
    } finally {
        rmSync(folder, { recursive: true });
    }
} catch (error) {
    console.error(error.message);
    process.exitCode = 1;
}
