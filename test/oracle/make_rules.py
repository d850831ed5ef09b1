"""Writes which targets GNU make -k -j and ninja -k 0 run in random graphs with targets that fail, as TSV.

    python3 make_rules.py > ../workflow/testdata/make-keep-going.tsv
"""

import pathlib
import random
import subprocess
import sys
import tempfile

GRAPHS = 1000


def version(program):
    return subprocess.run([program, "--version"], capture_output=True, text=True).stdout.splitlines()[0]


def graph(r):
    n = r.randint(1, 9)
    edges = [(i, k) for k in range(n) for i in range(k) if r.random() < 0.35]
    return n, edges, [i for i in range(n) if r.random() < 0.25]


def recipe(i, failing):
    return f"touch ran-{i}; exit {1 if i in failing else 0}"


def ran(folder, command):
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found = sorted(int(p.name[4:]) for p in pathlib.Path(folder).glob("ran-*"))
    for p in pathlib.Path(folder).glob("ran-*"):
        p.unlink()
    return found


def make(folder, n, edges, failing):
    lines = ["all: " + " ".join(f"t{i}" for i in range(n)), ".PHONY: all " + " ".join(f"t{i}" for i in range(n))]
    for k in range(n):
        lines += [f"t{k}: " + " ".join(f"t{i}" for i, to in edges if to == k), "\t@" + recipe(k, failing)]
    (folder / "Makefile").write_text("\n".join(lines) + "\n")
    return ran(folder, ["make", "-k", "-j3"])


def ninja(folder, n, edges, failing):
    lines = []
    for k in range(n):
        lines += [f"rule r{k}", f"  command = {recipe(k, failing)}",
                  f"build t{k}: r{k} " + " ".join(f"t{i}" for i, to in edges if to == k)]
    lines.append("build all: phony " + " ".join(f"t{i}" for i in range(n)))
    (folder / "build.ninja").write_text("\n".join(lines) + "\n")
    found = ran(folder, ["ninja", "-k", "0", "-j3", "all"])
    for name in (".ninja_log", ".ninja_deps"):
        (folder / name).unlink(missing_ok=True)
    return found


def main():
    r = random.Random(28)
    print(f"# Which targets run when some fail: {version('make')} with -k -j3, ninja {version('ninja')} with -k 0 -j3.")
    print("# Source: both programs were run (GNU make: GPL-3.0-or-later; ninja: Apache-2.0); they agree on each graph.")
    print("# Made by test/oracle/make_rules.py. Columns: targets, edges (needed>needing), targets that fail, targets that ran.")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for _ in range(GRAPHS):
            n, edges, failing = graph(r)
            one, other = make(folder, n, edges, failing), ninja(folder, n, edges, failing)
            if one != other:
                sys.exit(f"make runs {one} and ninja {other} of {n} {edges} {failing}")
            print(n, ",".join(f"{i}>{k}" for i, k in edges) or "-", ",".join(map(str, failing)) or "-",
                  ",".join(map(str, one)) or "-", sep="\t")


main()
