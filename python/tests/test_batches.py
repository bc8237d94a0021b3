# SPDX-License-Identifier: Apache-2.0
"""The example examples/python/batches.py: tasks of dask, one of whose workers is killed."""
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import DIGITS, ROOT

import tengine

distributed = pytest.importorskip("distributed", reason="no distributed (Debian: "
                                                        "python3-distributed)")
EXAMPLE = ROOT / "examples" / "python" / "batches.py"
NUMBER = 19_200


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """A file of many pictures: the held-out ones again and again, each time darker."""
    once = np.load(ROOT / "examples" / "data" / "heldout_images.npy").astype(np.float32)
    many = np.resize(once, (NUMBER, *once.shape[1:]))
    many *= np.linspace(1, 0.5, NUMBER, dtype=np.float32)[:, None, None, None]
    path = tmp_path_factory.mktemp("pictures") / "pictures.npy"
    np.save(path, many)
    return path


@pytest.fixture(scope="module")
def expected(pictures):
    """The results of one session in this process."""
    with tengine.Session(DIGITS) as session:
        return session(np.load(pictures))


def test_command_line(pictures, expected, tmp_path):
    """The program writes the results of one process."""
    results = tmp_path / "results.npy"
    subprocess.run([sys.executable, str(EXAMPLE), str(DIGITS), str(pictures), str(results),
                    "--size", "5000"], check=True)
    np.testing.assert_array_equal(np.load(results), expected)


def kill_after_a_result(client, process):
    """Kills a process as soon as the client has the first result of a task."""
    while not any(future.status == "finished" for future in list(client.futures.values())):
        time.sleep(0.001)
    os.kill(process, signal.SIGKILL)


def test_a_killed_worker(pictures, expected, monkeypatch):
    """One of two workers is killed while both work: all pictures have their results."""
    monkeypatch.syspath_prepend(str(EXAMPLE.parent))
    import batches
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1,
                                  dashboard_address=None) as cluster, \
            distributed.Client(cluster) as client:
        client.upload_file(str(EXAMPLE))
        processes = client.run(os.getpid)
        assert len(processes) == 2
        process = next(iter(processes.values()))
        killer = threading.Thread(target=kill_after_a_result, args=(client, process))
        killer.start()
        results = batches.infer_all(client, str(DIGITS), str(pictures), 100)
        killer.join()
        assert process not in client.run(os.getpid).values()
    np.testing.assert_array_equal(results, expected)
