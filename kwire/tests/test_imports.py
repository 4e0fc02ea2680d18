"""Who may import whom: the contracts in pyproject.toml hold, and cover every room there is."""

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DOMAIN = {"groups", "transactions", "coordinator", "replication", "controller", "log"}


def test_the_import_contracts_hold(tmp_path: Path) -> None:
    # A process of its own: the linter configures logging, which would silence our loggers here.
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [lint, "--no-logo", "--cache-dir", tmp_path], cwd=ROOT, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout.decode()


def test_every_domain_room_is_kept_from_the_wires_words() -> None:
    guarded = {module.removeprefix("kwire.") for module in _contract("domain")["source_modules"]}
    assert guarded == {room for room in DOMAIN if (ROOT / "kwire" / room).is_dir()}


def _contract(contract_id: str) -> dict[str, Any]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts: list[dict[str, Any]] = settings["tool"]["importlinter"]["contracts"]
    return next(contract for contract in contracts if contract["id"] == contract_id)
