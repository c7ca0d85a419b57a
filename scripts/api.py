#!/usr/bin/env python3
"""The public API of the library as plain text, from its documentation.

    cargo doc -p inselberg --no-deps --features mpi && python3 scripts/api.py            # compares it with docs/api.txt
    cargo doc -p inselberg --no-deps --features mpi && python3 scripts/api.py --write    # after a change that is meant

A change of the API then shows as a change of docs/api.txt. It fails if the two differ.
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
    """Text without tags, in one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", text)).split())


def item(path):
    """The declaration of an item and the signatures of its own methods."""
    page = path.read_text(encoding="utf-8")
    lines = [plain(text) for text in re.findall(r'<pre class="rust item-decl"><code>(.*?)</code></pre>', page, re.S)]
    own = re.split(r'id="(?:trait|synthetic|blanket)-implementations', page)[0]
    methods = re.findall(r'<section id="method\.[^"]*" class="method">.*?<h4 class="code-header">(.*?)</h4>', own, re.S)
    return lines + ["    " + plain(method) for method in methods]


def main():
    pages = [path for kind in ("enum", "struct", "trait", "fn", "type") for path in FOLDER.glob(f"{kind}.*.html")]
    if not pages:
        sys.exit(f"api: no documentation in {FOLDER}; expected that of `cargo doc`")
    items = sorted((path.name.split(".")[1], item(path)) for path in pages)
    text = "\n".join("\n".join(lines) for _, lines in items) + "\n"
    if "--write" in sys.argv[1:]:
        STORED.write_text(text, encoding="utf-8")
        return
    stored = STORED.read_text(encoding="utf-8")
    if stored != text:
        sys.stdout.writelines(difflib.unified_diff(stored.splitlines(True), text.splitlines(True), "docs/api.txt", "now"))
        sys.exit("api: the public API differs from docs/api.txt; if that is meant: python3 scripts/api.py --write")


main()
