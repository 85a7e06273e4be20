#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a header with a bound of the stack that a model takes, from its machine code.

    stack_bound.py PROGRAM NAMESPACE HEADER.h OBJDUMP

PROGRAM is linked for a Cortex-M from the model and a function `stack_probe` that opens, runs and
closes a session. A function's frame is all that its instructions take of the stack; calls are those of
its branches. A call through a pointer goes to any function whose address occurs in the program and
that stands on a deeper level than the caller, since the runtime calls so at most

    core > kernel (of the kernel set) > body for a thread > micro-kernel or other > activation,

where `run` of a kernel is called by run_nodes alone, and bodies by what has the kernel's context.
An operator of one's own may call through pointers no deeper than that. What the program adds is not
counted: its own functions, interrupts, an observer, services. Recursion, frames of variable size and
plans with sub-graphs have no bound: an error.
"""

import collections
import functools
import pathlib
import re
import struct
import subprocess
import sys

CORE, KERNEL, BODY, OTHER, ACTIVATION = range(5)
FUNCTION = re.compile(r"([0-9a-f]+) <(.*)>:$")
INSTRUCTION = re.compile(r"\s+[0-9a-f]+:\t(\S+)\s*(.*)$")
SUBGRAPHS = "intarsia::host_run_graph("
EXECUTOR = "intarsia::run_nodes("
# A kernel's row: its functions are called by the executor alone.
ROW = re.compile(r"intarsia::(?:LinkedKernel<\w+>::|internal::kernel_row<)")
RUN = re.compile(r"::run\(intarsia::KernelContext const&\)$")


def register_bytes(text):
    """Of a list such as {r4, r5, lr} or {d8-d11}."""
    count = 0
    for first, last in re.findall(r"([a-z]+\d*)(?:-([a-z]+\d+))?", text):
        number = int(last[1:]) - int(first[1:]) + 1 if last else 1
        count += number * (8 if first[0] == "d" else 4)
    return count


class Function:
    def __init__(self, name):
        self.name, self.frame, self.calls, self.by_pointer, self.unbounded = name, 0, set(), False, ""
        self.low, self.high = set(), set()  # halves of constants

    def add(self, op, args):
        if op.startswith(("push", "vpush")):
            self.frame += register_bytes(args)
        elif op.startswith(("stmdb", "vstmdb")) and args.startswith("sp!"):
            self.frame += register_bytes(args[args.index("{"):])
        elif op.startswith("sub") and re.match(r"sp\b", args):
            size = re.search(r"#(\d+)", args)
            self.frame += int(size.group(1)) if size else 0
            self.unbounded = self.unbounded or ("" if size else "a frame of variable size")
        elif size := re.search(r"\[sp, #-(\d+)\]!", args):
            self.frame += int(size.group(1))
        elif op.startswith(("movw", "movt")) and (half := re.search(r"#(\d+)", args)):
            (self.low if op.startswith("movw") else self.high).add(int(half.group(1)))
        if op.startswith(("b", "cb")):
            target = re.search(r"<([^>+]+)(?:\+0x[0-9a-f]+)?>", args)
            if target and target.group(1) != self.name:
                self.calls.add(target.group(1))
            elif not target and op.startswith(("blx", "bx")) and args.strip() != "lr":
                self.by_pointer = True
        elif re.match(r"pc\b", args) and op.startswith(("ldr", "mov")):
            self.by_pointer = True


class Program:
    def __init__(self, path, objdump):
        self.functions, self.addresses = {}, {}
        text = self.read(objdump, "-d", "--no-show-raw-insn", path)
        function = None
        for line in text.splitlines():
            if match := FUNCTION.match(line):
                function = self.functions.setdefault(match.group(2), Function(match.group(2)))
                self.addresses[int(match.group(1), 16)] = function.name
            elif function and (match := INSTRUCTION.match(line)):
                function.add(*match.groups())
        self.names = {}
        plain = self.read(objdump, "-t", path).splitlines()
        readable = self.read(objdump, "-t", "-C", path).splitlines()
        self.kernels = set()
        content = self.content(objdump, path)
        symbol = re.compile(r"([0-9a-f]{8}) .{7} \S+\s+([0-9a-f]{8}) (?:\.hidden )?(.*)$")
        for line, name in zip(plain, readable):
            if not (fields := symbol.match(line)):
                continue
            name = symbol.match(name).group(3)
            self.names[fields.group(3)] = name
            if ROW.match(name):
                begin, size = int(fields.group(1), 16), int(fields.group(2), 16)
                self.kernels |= {content.get(at) for at in range(begin, begin + size, 4)}
        words = set(content.values())
        self.taken = collections.defaultdict(set)
        for address, name in self.addresses.items():
            word = address | 1
            if word in words or any(word & 0xffff in f.low and word >> 16 in f.high
                                    for f in self.functions.values()):
                self.taken[self.level(name, word)].add(name)

    @staticmethod
    def read(*command):
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def content(self, objdump, path):
        """Aligned words of the program, by address."""
        words = {}
        for line in self.read(objdump, "-s", path).splitlines():
            if match := re.match(r" ([0-9a-f]{4,8}) ((?:[0-9a-f]{8} ){1,4})", line):
                for i, word in enumerate(match.group(2).split()):
                    value, = struct.unpack("<I", bytes.fromhex(word))
                    words[int(match.group(1), 16) + 4 * i] = value
        return words

    def level(self, name, word):
        readable = self.names.get(name, name)
        if word in self.kernels:
            return KERNEL
        if readable.endswith("(void*, long long, long long, int)"):
            return BODY
        if "(intarsia::ActivationSpec const&, float" in readable:
            return ACTIVATION
        return OTHER

    def may_call(self, caller, callee, level):
        if callee.startswith(SUBGRAPHS):
            return False
        if level == KERNEL and RUN.search(callee):
            return caller.startswith(EXECUTOR)
        if level == BODY and "intarsia::" in caller:
            return "KernelContext" in caller
        return True

    def bound(self, root):
        path = []

        @functools.lru_cache(maxsize=None)
        def deepest(name, level):
            function = self.functions.get(name)
            readable = self.names.get(name, name)
            if function is None:
                sys.exit(f"{name}: no code")
            if function.unbounded:
                sys.exit(f"{readable}: {function.unbounded}")
            if (name, level) in path:
                sys.exit(f"{readable}: calls itself")
            path.append((name, level))
            below = [(callee, level) for callee in function.calls]
            if function.by_pointer:
                below += [(callee, deeper) for deeper in range(level + 1, ACTIVATION + 1)
                          for callee in self.taken[deeper]
                          if self.may_call(readable, self.names.get(callee, callee), deeper)]
            longest = max((deepest(*node) for node in below), default=(0, ()))
            path.pop()
            return function.frame + longest[0], (readable,) + longest[1]

        return deepest(root, CORE)


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    program, namespace, header, objdump = sys.argv[1:]
    code = Program(program, objdump)
    if not code.taken[KERNEL]:
        sys.exit(f"{program}: no kernels")
    if any(code.names.get(name, name).startswith("intarsia::If::") for name in code.taken[KERNEL]):
        sys.exit("a plan with sub-graphs: how deep they nest is not in the machine code")
    if not any(name.startswith(EXECUTOR) for name in code.names.values()):
        sys.exit(f"{program}: no {EXECUTOR}...)")
    size, path = code.bound("stack_probe")
    size = (size + 7) // 8 * 8
    lines = [f"//   {name[:95]}" for name in path]
    pathlib.Path(header).write_text("\n".join([
        "// Generated by stack_bound.py; do not edit.", "#pragma once", "", "#include <cstddef>", "",
        f"namespace {namespace} {{", "",
        "/// The most stack that open, run and close take, counted from their caller's frame on, without",
        "/// interrupts, an observer, services. The deepest path:", *lines,
        f"inline constexpr std::size_t stack_bytes = {size};", "",
        f"}}  // namespace {namespace}", ""]))


if __name__ == "__main__":
    main()
