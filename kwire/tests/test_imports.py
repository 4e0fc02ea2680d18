"""Who may import whom: the contracts in pyproject.toml hold, and cover every room there is."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from importlinter import cli

ROOT = Path(__file__).parents[2]
DOMAIN = {"groups", "transactions", "coordinator", "replication", "controller", "log"}


def test_the_import_contracts_hold(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    broken = cli.lint_imports(
        config_filename=str(ROOT / "pyproject.toml"), cache_dir=str(tmp_path), no_logo=True
    )
    assert broken == 0, capsys.readouterr().out


def test_every_domain_room_is_kept_from_the_wires_words() -> None:
    guarded = {module.removeprefix("kwire.") for module in _contract("domain")["source_modules"]}
    assert guarded == {room for room in DOMAIN if (ROOT / "kwire" / room).is_dir()}


def _contract(contract_id: str) -> dict[str, Any]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts: list[dict[str, Any]] = settings["tool"]["importlinter"]["contracts"]
    return next(contract for contract in contracts if contract["id"] == contract_id)
