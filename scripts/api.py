#!/usr/bin/env python3
"""The public API of the library as plain text, from its documentation.

    cargo doc -p inselberg --no-deps --features mpi && python3 scripts/api.py            # compares it with docs/api.txt
    cargo doc -p inselberg --no-deps --features mpi && python3 scripts/api.py --write    # after a change that is meant

A change of the API then shows as a change of docs/api.txt. It fails if the two differ, and if a signature names a type that a user of
the library cannot name.
"""

import difflib
import html
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "doc" / "inselberg"
STORED = ROOT / "docs" / "api.txt"


def plain(text):
    """Text without tags and without the words of its pages, in one line."""
    text = re.sub(r"Show \d+ fields|// (Required|Provided) methods?", " ", re.sub(r"<[^>]+>", "", text))
    return " ".join(html.unescape(text).split())


def item(path):
    """The declaration of an item and the signatures of its own methods."""
    page = path.read_text(encoding="utf-8")
    lines = [plain(text) for text in re.findall(r'<pre class="rust item-decl"><code>(.*?)</code></pre>', page, re.S)]
    own = re.split(r'id="(?:trait|synthetic|blanket)-implementations', page)[0]
    methods = re.findall(r'<section id="method\.[^"]*" class="method">.*?<h4 class="code-header">(.*?)</h4>', own, re.S)
    return lines + ["    " + plain(method) for method in methods]


# Types of signatures that are not the library's own.
FOREIGN = set(
    "AsRef Duration Error ExactSizeIterator ControlFlow Fn FnOnce Item Iterator Into Option Path PathBuf Result Self Send String Sync "
    "ToString Vec T".split()
)


def unreachable(items):
    """Types in signatures that are neither in the root of the library nor of the standard library: (type, its user)."""
    known = FOREIGN | {name for name, _ in items}
    for name, (declaration, *methods) in items:
        is_enum = declaration.split("{")[0].count("enum")
        # Variants and names before colons are no types.
        for line in ([] if is_enum else [declaration]) + methods:
            for word in re.findall(r"(?<![:'\w])[A-Z][A-Za-z0-9]*\b(?!::)", line.split(" = ")[0]):
                if word not in known:
                    yield word, name


def main():
    pages = [path for kind in ("enum", "struct", "trait", "fn", "type") for path in FOLDER.glob(f"{kind}.*.html")]
    if not pages:
        sys.exit(f"api: no documentation in {FOLDER}; expected that of `cargo doc`")
    items = sorted((path.name.split(".")[1], item(path)) for path in pages)
    if lost := sorted(set(unreachable(items))):
        names = ", ".join(f"{word} (used by {user})" for word, user in lost)
        sys.exit(f"api: types that the root of the library does not have: {names}")
    text = "\n".join("\n".join(lines) for _, lines in items) + "\n"
    if "--write" in sys.argv[1:]:
        STORED.write_text(text, encoding="utf-8")
        return
    stored = STORED.read_text(encoding="utf-8")
    if stored != text:
        sys.stdout.writelines(difflib.unified_diff(stored.splitlines(True), text.splitlines(True), "docs/api.txt", "now"))
        sys.exit("api: the public API differs from docs/api.txt; if that is meant: python3 scripts/api.py --write")


main()
