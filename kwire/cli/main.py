"""The `kwire` command: finds out which command was typed and runs that one.

A command is a module with `configure(parser)` and `run(arguments)`, which returns the exit code.
This file knows their names and summaries; a module is imported only when its command was typed, so
that `kwire serve` does not pay for the others (decision 0005).

Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted, 141 when whoever read our output left.
"""

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple

from kwire import __version__
from kwire.cli.failures import CommandFailed
from kwire.errors import KwireError
from kwire.peers.failures import PeerError

DONE = 0
FAILED = 1
WRONG_USAGE = 2
INTERRUPTED = 130
READER_LEFT = 141


class Command(NamedTuple):
    module: str
    summary: str


COMMANDS = {
    "serve": Command("kwire.cli.serve", "run a broker"),
    "topic": Command("kwire.cli.topic", "list, create, describe, alter and delete topics"),
    "group": Command("kwire.cli.group", "list, describe, move and delete consumer groups"),
    "txn": Command("kwire.cli.txn", "list, describe and abort transactions"),
    "produce": Command("kwire.cli.produce", "write lines or JSON from standard input to a topic"),
    "consume": Command("kwire.cli.consume", "print the records of a topic"),
    "dump-log": Command("kwire.cli.dump_log", "show what is in the files of a data directory"),
    "docs": Command("kwire.cli.docs", "write the reference pages of settings and APIs"),
}


def main(words: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    name, *rest = list(sys.argv[1:] if words is None else words) or [""]
    if name == "help" and rest:
        name, rest = rest[0], ["--help"]
    try:
        code = _run(name, rest)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        _drop_output()
        return READER_LEFT
    except KeyboardInterrupt:
        return INTERRUPTED
    except (CommandFailed, PeerError, KwireError, OSError) as error:
        # What may go wrong in a user's world is told in a sentence; a traceback means a bug.
        print(f"kwire {name}: {_sentence(error)}", file=sys.stderr)
        return error.exit_code if isinstance(error, CommandFailed) else FAILED


def _run(name: str, words: list[str]) -> int:
    if name in COMMANDS:
        return _run_command(name, words)
    if name in ("help", "-h", "--help"):
        print(_overview())
        return DONE
    if name in ("version", "-V", "--version"):
        print(f"kwire {__version__}")
        return DONE
    print(_unknown(name) if name else _overview(), file=sys.stderr)
    return WRONG_USAGE


def _run_command(name: str, words: list[str]) -> int:
    # What is loaded now stays to the end: to look for garbage in it only takes time.
    gc.disable()
    module = import_module(COMMANDS[name].module)
    gc.enable()
    parser = argparse.ArgumentParser(
        prog=f"kwire {name}",
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.configure(parser)
    try:
        arguments = parser.parse_args(words)
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else WRONG_USAGE
    code: int = module.run(arguments)
    return code


def _sentence(error: Exception) -> str:
    if isinstance(error, KwireError):
        return error.message
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__


def _overview() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {command.summary}" for name, command in COMMANDS.items()]
    return "\n".join(
        [
            "usage: kwire <command> [options]",
            "",
            "A Kafka-wire-compatible broker, and the tools to look at any Kafka cluster.",
            "",
            "commands:",
            *lines,
            "",
            "`kwire <command> --help` tells more about one; `kwire --version` tells the version.",
        ]
    )


def _unknown(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, COMMANDS, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "`kwire help` lists the commands"
    return f"kwire: no command {name!r}; {hint}"


def _drop_output() -> None:
    """Nobody reads any more: let what is still buffered go nowhere, without a complaint at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
