// SPDX-License-Identifier: Apache-2.0
// Where the scripts of this folder find ONNX Runtime.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

export const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'tengine');

// Into folder/node_modules, unless it is there. --ignore-scripts: the package's own script only
// fetches libraries for GPUs.
export function installOrt(folder) {
    if (existsSync(join(folder, 'node_modules', 'onnxruntime-node'))) return;
    mkdirSync(folder, { recursive: true });
    const install = ['install', '--ignore-scripts', '--prefix', folder, 'onnxruntime-node'];
    const { status } = spawnSync('npm', install, { stdio: 'inherit' });
    if (status !== 0) throw new Error(`npm could not install onnxruntime-node into ${folder}`);
}

export function loadOrt(folder) {
    return createRequire(resolve(folder) + '/')('onnxruntime-node');
}

export function ortVersion(folder) {
    const file = join(folder, 'node_modules', 'onnxruntime-node', 'package.json');
    return JSON.parse(readFileSync(file, 'utf8')).version;
}
