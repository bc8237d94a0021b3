#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The inner loops of the NEON kernels on models of Arm processors, for machines that have none: the
# loop with the most multiply-adds of each kernel, as llvm-mca sees it. Prints two tables in
# Markdown: for fp32 the multiply-adds of an iteration, and their share of the modelled cycles if
# nothing else were in the way; for int8, fp16 and bf16 the products of a cycle, and how many there
# could be.
# Needs llvm-mca of LLVM 19 (Debian: llvm-19) and a configured build for aarch64:
#     cmake --preset aarch64
#     benchmark/model_arm.py build/aarch64
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

KERNELS = {
    "pixels_f32_impl.cc": "convolution, channels last",
    "tile_f16_widened_impl.cc": "convolution, widened 16-bit floats",
    "depthwise_fp_impl.cc": "depthwise convolution, channels last",
    "conv_depthwise.cc": "depthwise convolution, planes",
    "vector_product_impl.cc": "matrix by vector",
}
# The cycles that a multiply-add of a vector takes in the units that support it. They are from Arm's
# optimisation guides, since LLVM's model of the Cortex-A55 issues two where the processor issues
# one.
PROCESSORS = {"cortex-a55": 1.0, "cortex-a72": 1.0, "neoverse-n1": 0.5}
FEWEST = 4  # multiply-adds of a loop that gets a row
MULTIPLY_ADD = r"\t(fml[as]|sdot|smmla|bfmmla|fmlal2?)\s+v"

# The instruction, its number of int8, fp16 or bf16 products, and for each modelled processor the
# cycles that it takes in the units that support it.
BYTE_KERNELS = {
    "tile_s8_dotprod_impl.cc": ("sdot", 16, {"cortex-a55": 1.0, "neoverse-n1": 0.5,
                                               "neoverse-n2": 0.5}),
    "tile_s8_i8mm_impl.cc": ("smmla", 32, {"neoverse-n2": 0.5}),
    "tile_bf16_bfmmla_impl.cc": ("bfmmla", 16, {"neoverse-n2": 0.5}),
    "tile_f16_fhm_impl.cc": ("fmlal", 4, {"neoverse-n2": 0.5}),
}
BYTE_PROCESSORS = ["cortex-a55", "neoverse-n1", "neoverse-n2"]

Loop = collections.namedtuple("Loop", "function lines multiply_adds")


def compile_to_assembly(build, file):
    entries = json.loads((build / "compile_commands.json").read_text())
    entry = next((entry for entry in entries
                  if re.search(f"/device/cpu/kernel/.*/{re.escape(file)}$", entry["file"])), None)
    if not entry:
        sys.exit(f"model_arm.py: {build} does not compile {file}")
    command = re.sub(r" -o .*", "", entry["command"])
    return subprocess.run(f"{command} -S -o - {entry['file']}", shell=True, check=True, cwd=build,
                          capture_output=True, text=True).stdout


def find_loops(assembly):
    """Straight pieces of code that end with a jump to their beginning."""
    function, begin, lines = "", None, []
    for line in assembly.splitlines():
        if match := re.match(r"(\w[\w.$]*):", line):
            function, begin, lines = match[1], None, []
        elif match := re.match(r"(\.L\w+):", line):
            begin, lines = match[1], []
        elif re.match(r"\t[a-z]", line):
            lines.append(line)
            target = re.match(r"\t(?:b\.?[a-z]*|cbn?z|tbn?z)\t.*?(\.L\w+)$", line)
            if target and target[1] == begin:
                count = sum(bool(re.match(MULTIPLY_ADD, each)) for each in lines)
                yield Loop(function, lines, count)
                begin, lines = None, []


def heaviest_loop(assembly, namespace="N_NEON"):
    loops = [loop for loop in find_loops(assembly) if namespace in loop.function]
    return max(loops, key=lambda loop: (loop.multiply_adds, -len(loop.lines)), default=None)


def modelled_cycles(lines, processor, iterations=200):
    result = subprocess.run(
        ["llvm-mca-19", "-mtriple=aarch64", f"-mcpu={processor}", f"-iterations={iterations}"],
        input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    return int(re.search(r"Total Cycles:\s+(\d+)", result.stdout)[1]) / iterations


def print_floats(build):
    print("| loop | multiply-adds | " + " | ".join(PROCESSORS) + " |")
    print("|---|---|" + "---|" * len(PROCESSORS))
    for file, name in KERNELS.items():
        loop = heaviest_loop(compile_to_assembly(build, file))
        if not loop or loop.multiply_adds < FEWEST:
            print(f"| {name} | no loop found |" + " |" * len(PROCESSORS))
            continue
        cells = []
        for processor, issue in PROCESSORS.items():
            busy = issue * loop.multiply_adds
            cycles = max(busy, modelled_cycles(loop.lines, processor))
            cells.append(f"{100 * busy / cycles:.0f} %")
        print(f"| {name} | {loop.multiply_adds} | " + " | ".join(cells) + " |")


def print_bytes(build):
    print("| instruction | in the loop | " + " | ".join(BYTE_PROCESSORS) + " |")
    print("|---|---|" + "---|" * len(BYTE_PROCESSORS))
    for file, (instruction, products, processors) in BYTE_KERNELS.items():
        loop = heaviest_loop(compile_to_assembly(build, file), "")
        if not loop or loop.multiply_adds < FEWEST:
            sys.exit(f"model_arm.py: no loop found in {file}")
        cells = []
        for processor in BYTE_PROCESSORS:
            if processor not in processors:
                cells.append("-")
                continue
            busy = processors[processor] * loop.multiply_adds
            cycles = max(busy, modelled_cycles(loop.lines, processor))
            rate, peak = products * loop.multiply_adds / cycles, products / processors[processor]
            cells.append(f"{rate:.1f} of {peak:.0f}")
        print(f"| `{instruction}` | {loop.multiply_adds} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path, help="folder of a build for aarch64")
    build = parser.parse_args().build.resolve()
    print_floats(build)
    print()
    print_bytes(build)


if __name__ == "__main__":
    main()
