#!/usr/bin/env python3
"""Registers, stack, spills and instructions of every CUDA kernel, as ptxas reports them.

ptxas_report.py [--jobs N] [FILE.cu ...]
Compiles src/cuda/**/*.cu, or the files named, for compute capability 8.0 and 9.0 and prints a table.
Instructions (9.0) are counted where nvdisasm (NVDISASM=FILE names one) or cuobjdump is present. Needs
nvcc, no GPU.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ARCHITECTURES = ("80", "90")
FLAGS = ["-std=c++20", "-O3", "-fmad=false", "--extended-lambda", "--expt-relaxed-constexpr",
         "-Xptxas=-v", f"-I{ROOT}/include", f"-I{ROOT}/src"]


def tool(name):
    found = shutil.which(name) or shutil.which(name, path="/usr/local/cuda/bin")
    return found


def compile_one(source, generated):
    """{kernel: {architecture: (registers, stack, stores, loads)}}, {kernel: instructions}"""
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "kernels.o")
        command = [tool("nvcc"), *FLAGS, f"-I{generated}", "-c", str(source), "-o", target,
                   "--keep", f"--keep-dir={folder}"]
        for architecture in ARCHITECTURES:
            command.append(f"-gencode=arch=compute_{architecture},code=sm_{architecture}")
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{source}: nvcc failed\n{done.stderr[-2000:]}")
        usage = parse(done.stdout + done.stderr)
        return usage, instructions(pathlib.Path(folder), target)


def parse(text):
    usage, kernel, architecture, stack = {}, None, None, (0, 0, 0)
    for line in text.splitlines():
        entry = re.search(r"Compiling entry function '(\w+)' for 'sm_(\d+)'", line)
        if entry:
            kernel, architecture = entry.groups()
            stack = (0, 0, 0)
        frame = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads",
                          line)
        if frame and kernel:
            stack = tuple(max(a, int(b)) for a, b in zip(stack, frame.groups()))
        used = re.search(r"Used (\d+) registers", line)
        if used and kernel:
            cumulative = re.search(r"(\d+) bytes cumulative stack", line)
            usage.setdefault(kernel, {})[architecture] = (
                int(used[1]), int(cumulative[1]) if cumulative else stack[0], stack[1], stack[2])
    return usage


def instructions(folder, target):
    """{kernel: instructions} of 9.0, those of the functions that it calls included"""
    nvdisasm, cuobjdump = os.environ.get("NVDISASM") or tool("nvdisasm"), tool("cuobjdump")
    cubins = list(folder.glob("*_90.cubin"))
    if nvdisasm and cubins:
        command = [nvdisasm, "-c", str(cubins[0])]
    elif cuobjdump:
        command = [cuobjdump, "-sass", "-arch", "sm_90", target]
    else:
        return {}
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    counts, kernel = {}, None
    for line in text.splitlines():
        name = re.search(r"Function : (\w+)|\.section\s+\.text\.(\w+)", line)
        if name:
            kernel = name[1] or name[2]
        elif kernel and re.match(r"\s+/\*[0-9a-f]{4,}\*/", line):
            counts[kernel] = counts.get(kernel, 0) + 1
    return counts


def short(names):
    """Demangled, without namespaces and parameters."""
    text = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True,
                          check=True).stdout.splitlines()
    result = {}
    for name, plain in zip(names, text):
        plain = plain.replace("(anonymous namespace)", "anonymous")
        plain = re.sub(r"\((?:[^()]|\([^()]*\))*\)$", "", plain)
        plain = re.sub(r"^void ", "", plain)
        plain = re.sub(r"\((?:carom::\w+|int|unsigned int)\)", "", plain)
        plain = plain.replace(" >", ">")
        plain = re.sub(r"\b(?:carom|cuda|kernels|anonymous|certificate|qp_large)::", "", plain)
        result[name] = plain
    return result


def table(usage, counts):
    names = short(sorted(usage))
    rows = ["| kernel | registers 8.0 / 9.0 | stack 8.0 / 9.0 | spills 8.0 | spills 9.0 | instructions 9.0 |",
            "|---|---|---|---|---|---|"]
    for kernel in sorted(usage, key=lambda name: names[name]):
        if re.match("(cub|thrust)::", names[kernel]):
            continue
        of = [usage[kernel].get(architecture, (0,) * 4) for architecture in ARCHITECTURES]
        rows.append(f"| `{names[kernel]}` | {of[0][0]} / {of[1][0]} | {of[0][1]} / {of[1][1]} | "
                    f"{of[0][2]} / {of[0][3]} | {of[1][2]} / {of[1][3]} | "
                    f"{counts.get(kernel, '-')} |")
    return "\n".join(rows) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("files", nargs="*")
    arguments = parser.parse_args()
    if not tool("nvcc"):
        sys.exit("nvcc is missing")
    sources = [pathlib.Path(file) for file in arguments.files] or sorted(
        (ROOT / "src" / "cuda").rglob("*.cu"))
    with tempfile.TemporaryDirectory() as generated:
        usage, counts = {}, {}
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            for found, counted in pool.map(lambda source: compile_one(source, generated), sources):
                usage.update(found)
                counts.update(counted)
    print(table(usage, counts), end="")


if __name__ == "__main__":
    main()
