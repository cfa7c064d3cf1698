"""A Dask scheduler with one worker, in processes that can be killed."""

import json
import subprocess
import sys
import time
from contextlib import contextmanager


@contextmanager
def running_scheduler(folder):
    """Yield the scheduler's process, which has the worker's as an attribute, and its address."""
    file = folder / "scheduler.json"
    started = []

    def start(*command):
        common = ("--scheduler-file", str(file), "--no-dashboard")
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        started.append(subprocess.Popen([sys.executable, "-m", *command, *common], **quiet))
        return started[-1]

    try:
        scheduler = start("distributed.cli.dask_scheduler", "--port", "0")
        while not (file.exists() and file.read_text().rstrip().endswith("}")):
            assert scheduler.poll() is None
            time.sleep(0.1)
        scheduler.worker = start("distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny")
        yield scheduler, json.loads(file.read_text())["address"]
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()
