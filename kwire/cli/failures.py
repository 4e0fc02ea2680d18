"""How a command gives up: with one sentence for the user, and an exit code for the script."""

from typing import ClassVar


class CommandFailed(Exception):
    """The command could not do what was asked; the message says why."""

    exit_code: ClassVar[int] = 1


class WrongUsage(CommandFailed):
    """What was typed makes no sense together; exits as argparse does for what it finds itself."""

    exit_code: ClassVar[int] = 2
