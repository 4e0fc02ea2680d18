"""The reference pages in the repository are those that the declarations make."""

from pathlib import Path

import pytest

from kwire.cli.docs import pages
from kwire.cli.main import main

REFERENCE = Path(__file__).parents[3] / "docs" / "reference"


@pytest.mark.parametrize("name", sorted(pages()))
def test_a_page_in_the_repository_is_up_to_date(name: str) -> None:
    written = (REFERENCE / name).read_text(encoding="utf-8")
    assert written == pages()[name], "run: kwire docs docs/reference"


def test_the_command_writes_every_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", str(tmp_path)]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(pages())
    assert str(tmp_path / "apis.md") in capsys.readouterr().out
