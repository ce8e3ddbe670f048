#!/usr/bin/env python3
"""Runs the points of a plan of firstread as tasks of Ray: on this machine, or on a cluster whose nodes share a folder.

  pip install ray
  firstread study raro --quick --plan plan
  python3 ray_points.py plan results
  firstread study raro --quick --out results

Points that are expected to cost most come first. A point whose worker is lost is made again by another one. The script may
be killed at any time and started again: points that have a result are found. A cluster is used where RAY_ADDRESS names it;
plan, results and the binary are then at the same paths on all nodes.
"""

import argparse
import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

if "RAY_ADDRESS" not in os.environ:
    # Ray on one machine: nothing of it is to be reached from others. Ray reads this when it is imported.
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"

import ray  # noqa: E402

# Exit statuses of `firstread point` (see its --help).
BAD_INPUT, END_OF_LIFE, HELD = 2, 4, 5
INTERRUPTED = (129, 130, 143)


def end_with_parent():
    """On Linux, a process that dies takes its firstread along; elsewhere the claim of that one is waited for."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


# Ray makes a task again whose worker was lost, as often as that happens.
@ray.remote(num_cpus=1, max_retries=-1)
def run_point(binary, file, out):
    command = [binary, "point", file, "--out", out, "--threads", "1"]
    ran = subprocess.run(command, capture_output=True, text=True, preexec_fn=end_with_parent)
    return ran.returncode, ran.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", type=Path, help="folder that --plan has written")
    parser.add_argument("out", type=Path, help="folder of the results")
    parser.add_argument("--binary", default="firstread")
    parser.add_argument("--workers", type=int, help="points at a time on this machine (by default one a core)")
    parser.add_argument("--retries", type=int, default=3, help="further tries of a point that ends with an error")
    args = parser.parse_args()

    with open(args.plan / "plan.json") as index:
        points = json.load(index)["points"]
    # One whose cost is not known may be the longest.
    points.sort(key=lambda point: -(point["cost"] if point["cost"] is not None else float("inf")))

    if "RAY_ADDRESS" in os.environ:
        ray.init(log_to_driver=False)
    else:
        ray.init(num_cpus=args.workers, include_dashboard=False, log_to_driver=False)

    plan, out = args.plan.resolve(), str(args.out.resolve())
    binary = str(Path(args.binary).resolve()) if os.sep in args.binary else args.binary
    start = lambda point: run_point.remote(binary, str(plan / point["file"]), out)
    running = {start(point): point for point in points}
    tries = {point["name"]: 0 for point in points}
    done, failed, ends = 0, [], 0
    began = told = time.monotonic()
    while running:
        finished, _ = ray.wait(list(running), timeout=1)
        for task in finished:
            point = running.pop(task)
            try:
                status, text = ray.get(task)
            except ray.exceptions.RayError as error:
                status, text = 1, str(error)
            if status in (0, END_OF_LIFE):
                done += 1
                ends += status == END_OF_LIFE
            elif status == HELD or status in INTERRUPTED:
                # Another process makes it, or its node was drained. Not at once: its claim may have to expire.
                time.sleep(0.2)
                running[start(point)] = point
            elif status == BAD_INPUT:
                # The others would end the same: they are of the same plan.
                sys.exit(f"{point['file']}: {text.strip()}")
            elif tries[point["name"]] < args.retries:
                tries[point["name"]] += 1
                running[start(point)] = point
            else:
                failed.append(f"{point['file']}: {text.strip()}")
        now = time.monotonic()
        if now - told >= 10 or not running:
            told = now
            print(f"{done} of {len(points)} points after {now - began:.0f} s", file=sys.stderr, flush=True)
    if ends:
        print(f"{ends} drives came to their end of life; their results are written", file=sys.stderr)
    sys.exit("\n".join(failed) or 0)


if __name__ == "__main__":
    main()
