# SPDX-License-Identifier: Apache-2.0
"""Runs a model on the pictures of a file, on several processes or machines, with dask:

    python3 batches.py MODEL PICTURES.npy RESULTS.npy --workers 2

A task is a range of pictures: it travels as a file name and two numbers, and the worker maps the
file. Each worker loads the model once. dask gives the tasks of a worker that dies to another one.
With --scheduler ADDRESS the workers are those of a cluster, whose machines all have the files.
"""
import argparse

import distributed
import numpy as np

import tengine


def load(model):
    """The session of this worker, which keeps it for all of its tasks."""
    sessions = vars(distributed.get_worker()).setdefault("tengine_sessions", {})
    if model not in sessions:
        sessions[model] = tengine.Session(model)
    return sessions[model]


def infer(model, pictures, begin, end):
    """The results for the pictures begin to end - 1 of a file."""
    batch = np.load(pictures, mmap_mode="r")[begin:end]
    return load(model)(batch)


def infer_all(client, model, pictures, size):
    """The results for all pictures of a file, in tasks of `size` pictures."""
    number = len(np.load(pictures, mmap_mode="r"))
    starts = range(0, number, size)
    tasks = [client.submit(infer, model, pictures, begin, min(begin + size, number))
             for begin in starts]
    return np.concatenate(client.gather(tasks))


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("pictures")
    parser.add_argument("results")
    parser.add_argument("--size", type=int, default=1000, help="pictures of a task")
    parser.add_argument("--workers", type=int, default=2, help="processes on this machine")
    parser.add_argument("--scheduler", help="address of a cluster's scheduler")
    options = parser.parse_args()
    cluster = options.scheduler or distributed.LocalCluster(
        n_workers=options.workers, threads_per_worker=1, dashboard_address=None)
    with distributed.Client(cluster) as client:
        np.save(options.results, infer_all(client, options.model, options.pictures, options.size))


if __name__ == "__main__":
    main()
