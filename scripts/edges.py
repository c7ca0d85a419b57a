#!/usr/bin/env python3
"""Prints which crates and modules use which, and fails if modules of a crate use each other in a circle.

    python3 scripts/edges.py            crates, and the top modules of each crate
    python3 scripts/edges.py --files    every file

Read are the `use` declarations outside of tests. Items that a module re-exports count as the file that defines them.
"""
import re
import subprocess
import sys

CRATES = {
    "kernels/src": "inselberg_kernels",
    "comm/src": "inselberg_comm",
    "engine/tasks/src": "inselberg_tasks",
    "engine/io/src": "inselberg_io",
    "engine/library/src": "inselberg",
    "engine/capi/src": "inselberg_capi",
    "engine/cli": "inselberg_cli",
}
USE = re.compile(r"^[ \t]*(?:pub(?:\([^)]*\))? )?use ([^;]+);", re.M)
TEST_MODULE = re.compile(r"^#\[cfg\((?:all\()?test[^\n]*\n(?:pub(?:\([^)]*\))? )?mod (\w+);", re.M)
ITEM = r"(?m)^\s*(?:pub(?:\([^)]*\))? )?(?:unsafe |const |async )*(?:struct|enum|trait|type|union|fn|const|static|macro_rules!) {}\b"


def leaves(tree, before=()):
    """The paths of a tree of `use`, each with the name that it gets."""
    tree = tree.strip()
    braces = re.match(r"^(.*?)\{(.*)\}$", tree, re.S)
    if not braces:
        path, _, name = tree.partition(" as ")
        path = before + tuple(part.strip() for part in path.split("::"))
        path = path[:-1] if path[-1] == "self" else path
        return [(path, name.strip() or path[-1])]
    head = before + tuple(part.strip() for part in braces.group(1).split("::") if part.strip())
    parts, depth, part = [], 0, ""
    for char in braces.group(2):
        depth += (char == "{") - (char == "}")
        if char == "," and depth == 0:
            parts, part = parts + [part], ""
        else:
            part += char
    return [leaf for part in parts + [part] if part.strip() for leaf in leaves(part, head)]


class File:
    def __init__(self, path, root):
        self.path, self.crate = path, CRATES[root]
        module = path[len(root) + 1 : -len(".rs")].split("/")
        self.module = tuple(module[:-1] if module[-1] in ("mod", "lib", "main") else module)
        text = open(path, encoding="utf-8").read()
        self.of_tests = {self.module + (name,) for name in TEST_MODULE.findall(text)}
        self.text = re.split(r"(?m)^#\[cfg\((?:all\()?test", TEST_MODULE.sub("", text))[0]
        self.uses = [leaf for use in USE.finditer(self.text) for leaf in leaves(use.group(1))]


def read_files():
    listed = subprocess.check_output(["git", "ls-files", "*.rs"], text=True).split()
    files = {}
    for path in listed:
        root = next((r for r in sorted(CRATES, key=len, reverse=True) if path.startswith(r + "/")), None)
        if root and not path.endswith("main.rs"):
            file = File(path, root)
            files[file.crate, file.module] = file
    of_tests = {(file.crate, module) for file in files.values() for module in file.of_tests}
    return {at: file for at, file in files.items() if at not in of_tests}


def absolute(file, path):
    """The crate and the parts of a path, if it is in one of our crates."""
    if path[0] == "crate":
        return file.crate, path[1:]
    if path[0] in ("self", "super"):
        module = list(file.module)
        for part in path:
            if part == "super":
                module.pop()
            elif part != "self":
                break
        rest = [part for part in path if part not in ("self", "super")]
        return file.crate, tuple(module + rest)
    return (path[0], path[1:]) if path[0] in CRATES.values() else None


def target(files, file, path, depth=0):
    """The file that defines what a path names."""
    found = absolute(file, path)
    if found is None or depth > 9:
        return None
    crate, parts = found
    if (crate, parts) in files:
        return files[crate, parts]
    owner, name = files.get((crate, parts[:-1])), parts[-1] if parts else ""
    if owner is None:
        return None
    if re.search(ITEM.format(re.escape(name)), owner.text):
        return owner
    for other, alias in owner.uses:
        if alias == name or other[-1] == "*":
            named = other[:-1] + (name,) if other[-1] == "*" else other
            result = target(files, owner, named, depth + 1)
            if result is not None:
                return result
    return owner


def circles(edges):
    """Sets of nodes that reach each other (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in edges.get(node, ()):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            circle = stack[at:]
            del stack[at:]
            if len(circle) > 1:
                found.append(sorted(circle))

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return found


def main():
    sys.setrecursionlimit(10_000)
    files = read_files()
    by_file, by_module, by_crate = {}, {}, {}
    for file in files.values():
        for path, _ in file.uses:
            other = target(files, file, path[:-1] if path[-1] == "*" else path)
            if other is None or other is file:
                continue
            if other.crate != file.crate:
                by_crate.setdefault(file.crate, set()).add(other.crate)
                continue
            by_file.setdefault(file.path, set()).add(other.path)
            top = [f.module[0] if f.module else "(root)" for f in (file, other)]
            if top[0] != top[1] and "(root)" not in top:
                by_module.setdefault(f"{file.crate}::{top[0]}", set()).add(f"{other.crate}::{top[1]}")
    for edges in [by_crate, by_file if "--files" in sys.argv else by_module]:
        for node in sorted(edges):
            print(f"{node} -> {', '.join(sorted(edges[node]))}")
    wrong = circles(by_crate) + circles(by_module) + circles(by_file)
    for circle in wrong:
        print("circle:", ", ".join(circle), file=sys.stderr)
    sys.exit(1 if wrong else 0)


main()
