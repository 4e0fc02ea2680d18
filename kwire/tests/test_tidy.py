"""Tidiness as a test: what the house style asks of every file, and a machine can see.

A limit here may only be tightened. Each finding names a file and a line.
"""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
LONGEST_FILE = 450
LONGEST_FUNCTION = 60

# Tables, which are long because the thing they list is long. Paths from the repository's root.
LONG_TABLES: frozenset[str] = frozenset({"kwire/config/broker.py", "kwire/errors.py"})

# Tests of a property of the whole tree or of a whole room, and so without a module of their own.
WITHOUT_A_MODULE: frozenset[str] = frozenset(
    {
        "test_tidy",
        "test_imports",
        "test_oracles",
        "test_declarations",
        "test_hostile_bytes",
        "test_python_cost",
    }
)

PRINTING_ROOMS = ("kwire/cli/",)
UNFINISHED = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work|root|home|Users)/\w")
LINK = re.compile(r"\]\(([^)\s]+)\)")
TEXT_FILES = {".md", ".py", ".toml", ".yml", ".xml", ".properties", ""}


def _files(*folders: str, suffix: str) -> list[Path]:
    return sorted(p for folder in folders for p in (ROOT / folder).rglob(f"*{suffix}"))


PYTHON = _files("kwire", "compat_tests", "bench", "spark_it", suffix=".py")
TESTS = [
    p for p in PYTHON if "tests" in p.relative_to(ROOT).parts[:-1] or "compat_tests" in p.parts
]
PAGES = sorted([*ROOT.glob("*.md"), *_files("docs", suffix=".md")])
TOP_LEVEL = sorted(p for p in ROOT.iterdir() if p.is_file() and p.suffix in TEXT_FILES)
WRITTEN = [*PYTHON, *PAGES, *TOP_LEVEL]

Finding = tuple[int, str]


def _expect_none(files: list[Path], look: Callable[[Path], Iterator[Finding]]) -> None:
    found = [f"{_name(path)}:{line}: {what}" for path in files for line, what in look(path)]
    if found:
        pytest.fail("\n".join(found), pytrace=False)


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def test_no_file_is_too_long() -> None:
    def look(path: Path) -> Iterator[Finding]:
        length = path.read_text(encoding="utf-8").count("\n")
        if length > LONGEST_FILE and _name(path) not in LONG_TABLES:
            yield length, f"{length} lines, at most {LONGEST_FILE}"

    _expect_none(PYTHON, look)


def test_no_function_is_too_long() -> None:
    def look(path: Path) -> Iterator[Finding]:
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > LONGEST_FUNCTION:
                    yield node.lineno, f"{node.name} has {length} lines"

    _expect_none(PYTHON, look)


def test_every_module_says_what_lives_in_it() -> None:
    def look(path: Path) -> Iterator[Finding]:
        tree = _tree(path)
        if tree.body and ast.get_docstring(tree) is None:
            yield 1, "no module docstring"

    _expect_none(PYTHON, look)


def test_tests_never_sleep() -> None:
    def look(path: Path) -> Iterator[Finding]:
        for call in _calls(path):
            if call.func in ("sleep", "usleep"):
                yield call.line, "waits by the clock; wait for the event instead"

    _expect_none(TESTS, look)


def test_only_the_command_line_prints() -> None:
    def look(path: Path) -> Iterator[Finding]:
        if _name(path).startswith(PRINTING_ROOMS):
            return
        for call in _calls(path):
            if call.func == "print":
                yield call.line, "prints; log it, or return it to the command line"

    _expect_none(_files("kwire", suffix=".py"), look)


def test_every_test_file_is_named_after_the_module_it_tests() -> None:
    def look(path: Path) -> Iterator[Finding]:
        stem = path.stem.removeprefix("test_")
        room = path.parent.relative_to(ROOT / "kwire" / "tests")
        if path.stem in WITHOUT_A_MODULE or any((ROOT / "kwire" / room).rglob(f"{stem}.py")):
            return
        yield 1, f"tests no module: there is no {stem}.py in kwire/{room.as_posix()}"

    _expect_none(sorted((ROOT / "kwire" / "tests").rglob("test_*.py")), look)


def test_nothing_is_left_for_later_in_a_comment() -> None:
    _expect_none(WRITTEN, _matching(UNFINISHED, "unfinished: do it, or write it down as an issue"))


def test_no_file_names_a_path_of_somebodys_machine() -> None:
    _expect_none(WRITTEN, _matching(MACHINE_PATH, "a path of one machine"))


def test_links_between_pages_lead_somewhere() -> None:
    def look(path: Path) -> Iterator[Finding]:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            for target in LINK.findall(line):
                if re.match(r"[a-z]+:|#", target):
                    continue
                if not (path.parent / target.partition("#")[0]).exists():
                    yield number, f"dead link {target}"

    _expect_none(PAGES, look)


class _Call(NamedTuple):
    func: str
    line: int


def _calls(path: Path) -> Iterator[_Call]:
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                yield _Call(node.func.id, node.lineno)
            elif isinstance(node.func, ast.Attribute):
                yield _Call(node.func.attr, node.lineno)


def _matching(pattern: re.Pattern[str], what: str) -> Callable[[Path], Iterator[Finding]]:
    def look(path: Path) -> Iterator[Finding]:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if pattern.search(line):
                yield number, what

    return look
