#!/usr/bin/env python3
"""Builds the site from docs/ with mdBook, and checks every link of it.

    python3 scripts/site.py MDBOOK OUTPUT        with the documentation of the crates, if `cargo doc` has made it: TARGET/doc

docs/SUMMARY.md lists the chapters. Pages that are linked but not listed follow under their folder, so that no link leads out of the
site. Pages of the API are made from the header, the module and the package. Exits with 1 and a line for each broken link.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\(([^)\s]+)\)")
# Pages that are made, by the chapter that they follow.
MADE_AFTER = {
    "docs/library.md": ["docs/api/rust.md"],
    "docs/in-situ.md": ["docs/api/c.md", "docs/api/fortran.md"],
    "docs/python.md": ["docs/api/python.md"],
}
BOOK = """[book]
title = "Inselberg"
language = "en"
src = "src"

[output.html]
smart-punctuation = false
mathjax-support = false
no-section-label = true

[output.html.fold]
enable = true
"""


def normal(path: str) -> str:
    return os.path.normpath(path)


def links_of(page: str, text: str) -> list[str]:
    """Paths in the repository that a page links to."""
    here = PurePosixPath(page).parent
    targets = (urlsplit(link) for link in LINK.findall(text))
    return [normal(str(here / unquote(url.path))) for url in targets if not url.scheme and url.path]


def reachable(pages: list[str], texts: dict[str, str]) -> tuple[list[str], set[str]]:
    """All pages of Markdown that these lead to, in the order of their finding, and all other files."""
    found, others = list(pages), set()
    for page in found:
        if page not in texts:
            texts[page] = text_at(page)
        for target in links_of(page, texts[page]):
            path = ROOT / target
            if path.is_dir():
                others.update(str(file.relative_to(ROOT)) for file in path.rglob("*") if file.is_file())
            elif target.endswith(".md") and target not in found:
                found.append(target)
            elif not target.endswith(".md"):
                others.add(target)
    return found, others


def text_at(page: str) -> str:
    try:
        return (ROOT / page).read_text()
    except OSError as error:
        sys.exit(f"site: {page}: {error.strerror}; expected a page that another one links to")


def listing(title: str, language: str, file: str) -> str:
    return f"# {title}\n\nThis is `{file}`.\n\n```{language}\n{(ROOT / file).read_text()}```\n"


def rust_page() -> str:
    crates = ["inselberg", "inselberg_kernels", "inselberg_io", "inselberg_comm", "inselberg_tasks"]
    rows = "\n".join(f"- [`{crate}`](../../rust/{crate}/index.html)" for crate in crates)
    return f"# The API of Rust\n\n[The library](../library.md) is the guide. The crates, the library first:\n\n{rows}\n"


def signature(node: ast.FunctionDef, is_method: bool) -> str:
    arguments = ast.unparse(node.args)
    if is_method:
        arguments = re.sub(r"^(self|cls)(, |$)", "", arguments)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{node.name}({arguments}){returns}"


def python_page() -> str:
    """Signatures and texts of what `from inselberg import ...` offers, from the source."""
    package = ROOT / "python/inselberg"
    exported = ast.parse((package / "__init__.py").read_text())
    modules: dict[str, list[str]] = {}
    for node in exported.body:
        if isinstance(node, ast.ImportFrom) and node.module != "_native":
            modules.setdefault(node.module, []).extend(alias.asname or alias.name for alias in node.names)
    parts = ["# The API of Python", ast.get_docstring(exported).split("\n")[0], "[Python](../python.md) is the guide."]
    for module, names in modules.items():
        tree = ast.parse((package / f"{module}.py").read_text())
        for node in tree.body:
            if getattr(node, "name", None) in names:
                parts += described(node)
    return "\n\n".join(parts) + "\n"


def described(node: ast.FunctionDef | ast.ClassDef) -> list[str]:
    kind = "class " if isinstance(node, ast.ClassDef) else ""
    parts = [f"## `{kind}{node.name}`"]
    if isinstance(node, ast.FunctionDef):
        parts.append(f"```python\n{signature(node, False)}\n```")
    parts += text_of(node)
    for part in node.body if kind else []:
        if isinstance(part, ast.FunctionDef) and not part.name.startswith("_"):
            parts.append(f"```python\n{signature(part, True)}\n```")
            parts += text_of(part)
    return parts


def text_of(node: ast.FunctionDef | ast.ClassDef) -> list[str]:
    text = ast.get_docstring(node)
    return [re.sub(r"[<>]", lambda sign: f"\\{sign[0]}", text)] if text else []


def summary(listed: str, rest: list[str], made: dict[str, str]) -> str:
    """docs/SUMMARY.md with paths of the repository, made pages, and the pages that it lacks under their folder."""
    def moved(match: re.Match) -> str:
        return f"]({normal('docs/' + match[1])})"
    text = LINK.sub(moved, listed)
    for chapter, pages in MADE_AFTER.items():
        lines = "".join(f"- [{heading(made[page])}]({page})\n" for page in pages)
        text = text.replace(f"]({chapter})\n", f"]({chapter})\n{lines}")
    decisions = [page for page in rest if page.startswith("docs/decisions/")]
    others = [page for page in rest if page not in decisions]
    nested = "".join(f"  - [{title_of(page)}]({page})\n" for page in sorted(decisions))
    folders = "".join(f"- [{title_of(page)}]({page})\n" for page in sorted(others))
    return text + nested + "\n# Folders\n\n" + folders


def heading(text: str) -> str:
    return next(line[2:] for line in text.split("\n") if line.startswith("# ")).replace("`", "")


def title_of(page: str) -> str:
    return heading(text_at(page))


def stage(source: Path) -> None:
    """Writes the pages, under their paths in the repository, and what they show."""
    listed = (ROOT / "docs/SUMMARY.md").read_text()
    made = {
        "docs/api/rust.md": rust_page(),
        "docs/api/c.md": listing("The header of C", "c", "engine/capi/include/inselberg.h"),
        "docs/api/fortran.md": listing("The module of Fortran", "fortran", "engine/capi/fortran/inselberg.f90"),
        "docs/api/python.md": python_page(),
    }
    chapters = links_of("docs/SUMMARY.md", listed)
    pages, others = reachable(chapters + list(made), dict(made))
    for page in pages:
        write(source / staged(page), LINK.sub(staged_link, made.get(page) or text_at(page)))
    for file in sorted(others):
        if not file.startswith("..") and (ROOT / file).is_file():
            write(source / file, (ROOT / file).read_bytes())
    overview = summary(listed, [page for page in pages if page not in chapters and page not in made], made)
    write(source / "SUMMARY.md", LINK.sub(staged_link, overview))


def staged(page: str) -> str:
    """mdBook makes README.md an index.html, but leaves links to it as they are."""
    return re.sub(r"(^|/)README\.md", r"\1index.md", page)


def staged_link(match: re.Match) -> str:
    url = match[1]
    return match[0] if urlsplit(url).scheme else f"]({staged(url)})"


def write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


class Page(HTMLParser):
    """Names that a page has, and the links on it."""

    def __init__(self, path: Path):
        super().__init__()
        self.names, self.links = set(), []
        self.feed(path.read_text())

    def handle_starttag(self, _tag, attributes):
        for key, value in attributes:
            if key in ("id", "name") and value:
                self.names.add(value)
            if key in ("href", "src") and value:
                self.links.append(value)


def broken_links(site: Path) -> list[str]:
    """Links of the pages of the site, but for those of the crates, to files or names that are not there."""
    pages = {path: Page(path) for path in site.rglob("*.html") if "rust" not in path.relative_to(site).parts}
    broken = []
    for path, page in pages.items():
        for link in page.links:
            url = urlsplit(link)
            if url.scheme or link.startswith("//") or path.name in ("print.html", "404.html"):
                continue
            target = (path.parent / unquote(url.path)).resolve() if url.path else path
            missing = not target.exists() or (url.fragment and target in pages and unquote(url.fragment) not in pages[target].names)
            if missing:
                broken.append(f"{path.relative_to(site)}: {link}")
    return broken


def main() -> int:
    mdbook, output = sys.argv[1], Path(sys.argv[2]).resolve()
    room = output.parent / "site-source"
    for folder in (room, output):
        shutil.rmtree(folder, ignore_errors=True)
    write(room / "book.toml", BOOK)
    stage(room / "src")
    subprocess.run([mdbook, "build", str(room), "--dest-dir", str(output)], check=True)
    crates = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "doc"
    if crates.is_dir():
        shutil.copytree(crates, output / "rust", dirs_exist_ok=True)
    broken = broken_links(output)
    for line in broken:
        print(f"site: broken link: {line}", file=sys.stderr)
    print(f"site: {output / 'index.html'}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
