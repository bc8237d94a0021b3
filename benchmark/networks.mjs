// SPDX-License-Identifier: Apache-2.0
// Shared by the scripts of this folder: the inputs of the networks of export_models.py, and medians.
import { execFileSync } from 'node:child_process';
import { basename } from 'node:path';

// The inputs of networks that do not take pictures of 224 x 224, by the names of their files; those of
// quantised ones begin with q_.
const SHAPES = {
    'inception_v3.onnx': '1x3x299x299',
    'unet.onnx': '1x3x256x256',
    'bert.onnx': '1x128x768',
    'lstm.onnx': '64x1x512',
};

export function findShape(model) {
    return SHAPES[basename(model).replace(/^q_/, '')] ?? '1x3x224x224';
}

// Into the system's file cache, so that none of those who open it waits for the disk. Not into this
// process: what it holds would count in the peak memory of those it starts.
export function cacheFile(path) {
    execFileSync('cat', [path], { stdio: 'ignore' });
}

export function median(values) {
    const sorted = [...values].sort((a, b) => a - b);
    const middle = sorted.length >> 1;
    return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
