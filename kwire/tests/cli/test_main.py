"""The `kwire` command itself: help, versions, exit codes, and how it tells bad news."""

import argparse
import ast
import errno
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

from kwire import __version__
from kwire.app import App
from kwire.cli import main as main_module
from kwire.cli.failures import CommandFailed, WrongUsage
from kwire.cli.main import COMMANDS, Command, main
from kwire.errors import InvalidTopic
from kwire.peers.failures import Unreachable

ROOT = Path(__file__).parents[3]

Captured = pytest.CaptureFixture[str]
Typed = Callable[[BaseException], int]


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Typed:
    """Run a command that ends with a given exception."""

    def run_into(trouble: BaseException) -> int:
        def run(_: object) -> int:
            raise trouble

        command = SimpleNamespace(configure=lambda parser: None, run=run)
        monkeypatch.setitem(COMMANDS, "broken", Command("broken", "fails"))
        monkeypatch.setattr(main_module, "import_module", lambda name: command)
        return main(["broken"])

    return run_into


@pytest.mark.parametrize("words", [["help"], ["--help"], ["-h"]])
def test_help_names_every_command(capsys: Captured, words: list[str]) -> None:
    assert main(words) == 0
    told = capsys.readouterr().out
    for name, command in COMMANDS.items():
        assert f"  {name} " in told
        assert command.summary in told


def test_help_about_one_command_is_its_own_help(capsys: Captured) -> None:
    assert main(["help", "topic"]) == 0
    assert "usage: kwire topic" in capsys.readouterr().out


def test_no_command_at_all_is_wrong_usage(capsys: Captured) -> None:
    assert main([]) == 2
    assert "usage: kwire" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--version"], ["version"], ["-V"]])
def test_the_version_is_told(capsys: Captured, words: list[str]) -> None:
    assert main(words) == 0
    assert capsys.readouterr().out == f"kwire {__version__}\n"


def test_a_command_nearly_right_is_suggested(capsys: Captured) -> None:
    assert main(["topics"]) == 2
    assert capsys.readouterr().err == "kwire: no command 'topics'; did you mean 'topic'?\n"


def test_a_command_nobody_knows_points_to_the_help(capsys: Captured) -> None:
    assert main(["xyzzy"]) == 2
    assert "`kwire help` lists the commands" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("trouble", "code", "told"),
    [
        (CommandFailed("no luck"), 1, "no luck"),
        (WrongUsage("not like this"), 2, "not like this"),
        (Unreachable("no broker"), 1, "no broker"),
        (InvalidTopic(), 1, "The name cannot be a topic's name."),
        (FileNotFoundError(errno.ENOENT, "No such file", "a.log"), 1, "a.log: No such file"),
        (OSError("odd"), 1, "odd"),
    ],
)
def test_trouble_is_one_line_and_an_exit_code(
    failing: Typed, capsys: Captured, trouble: BaseException, code: int, told: str
) -> None:
    assert failing(trouble) == code
    assert capsys.readouterr().err == f"kwire broken: {told}\n"


def test_an_interrupt_ends_quietly_as_shells_expect(failing: Typed, capsys: Captured) -> None:
    assert failing(KeyboardInterrupt()) == 130
    assert capsys.readouterr().err == ""


def test_a_bug_is_not_dressed_up(failing: Typed) -> None:
    with pytest.raises(ZeroDivisionError):
        failing(ZeroDivisionError())


def test_a_reader_that_leaves_ends_us_quietly() -> None:
    code = "import sys; from kwire.cli.main import main; sys.exit(main(['help']))"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait(30) == 141


def test_only_the_command_that_was_typed_is_imported() -> None:
    code = (
        "import sys; from kwire.cli.main import main; main(['--version']);"
        "print(sorted(name for name in sys.modules if name.startswith('kwire.')))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    loaded = set(ast.literal_eval(shown.stdout.splitlines()[1]))
    assert not loaded & {command.module for command in COMMANDS.values()}
    assert not any(name.startswith(("kwire.codec", "kwire.log", "kwire.app")) for name in loaded)


def _parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.values()


@pytest.mark.parametrize("name", COMMANDS)
def test_the_reference_page_knows_every_command_and_flag(name: str) -> None:
    text = (ROOT / "docs" / "reference" / "command_line.md").read_text()
    section = text.partition(f"\n## kwire {name}\n")[2].partition("\n## ")[0]
    common = text.partition("\n## Which cluster\n")[2].partition("\n## ")[0]
    assert section
    top = argparse.ArgumentParser(prog=f"kwire {name}", add_help=False)
    import_module(COMMANDS[name].module).configure(top)
    for parser in _parsers(top):
        assert parser.prog in section
        for action in parser._actions:
            for flag in action.option_strings:
                assert flag in ("-h", "--help") or f"`{flag}" in section + common


def test_the_commands_work_together_on_a_broker(
    real_broker: App, capfd: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(words: str, given: str = "") -> str:
        (tmp_path / "stdin").write_text(given)
        with (tmp_path / "stdin").open() as file:
            monkeypatch.setattr(sys, "stdin", file)
            assert main(words.split()) == 0
        return "".join(capfd.readouterr())

    assert run("topic create orders -p 2 --config retention.ms=5000") == "created orders\n"
    assert "orders" in run("topic list")
    lines = "".join(f"key-{number}:value-{number}\n" for number in range(100))
    assert "orders-1" in run("produce orders -K: -z lz4", lines)
    assert sorted(run("consume orders -e -K:").split()) == sorted(lines.split())
    (described,) = json.loads(run("topic describe orders --format json"))
    assert described["configs"]["retention.ms"] == "5000"
    assert sum(each["latest_offset"] for each in described["partitions"]) == 100
    copied = run("consume orders -e --format json")
    run("topic create copy --partitions 2")
    run("produce copy --format json", copied)
    assert sorted(run("consume copy -e -K:").split()) == sorted(lines.split())
    run("topic alter orders -p 3 --delete-config retention.ms")
    run("topic delete orders")
    assert "orders" not in run("topic list")
    dumped = run(f"dump-log {real_broker.directory}/copy-0 --deep")
    assert dumped.count("\n| offset: ") == run("consume copy -e -p 0").count("\n")
