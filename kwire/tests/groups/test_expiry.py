"""When committed offsets are forgotten: one day after, in these stories, looked for every hour."""

import pytest

from kwire.tests.groups.stage import Stage, stories

DAY_MS = 24 * 60 * 60 * 1000

STORIES = """
# a group without members keeps an offset for a day after its commit
    commit - t/0=5                  -> NONE
    pass 43200000                   ->
    commit - t/1=6                  -> NONE
    pass 43199999                   ->
    offsets                         -> t/0=5 t/1=6
    pass 1                          ->
    offsets                         -> t/1=6
    pass 43200000                   ->
    state                           -> Dead

# an empty group keeps its offsets for a day after the last member left
    join a version=3 session=999999999 -> waits
    pass 0                          -> a: 1 range leads a-1
    sync a                          -> nothing
    commit a t/0=5                  -> NONE
    pass 172800000                  ->
    offsets                         -> t/0=5
    leave a                         -> NONE
    pass 82800000                   ->
    offsets                         -> t/0=5
    pass 3600000                    ->
    offsets                         ->
    state                           -> Dead

# a restart does not prolong anything
    join a version=3                -> waits
    pass 0                          -> a: 1 range leads a-1
    sync a                          -> nothing
    commit a t/0=5                  -> NONE
    leave a                         -> NONE
    pass 43200000                   ->
    reload                          ->
    pass 43200000                   ->
    state                           -> Dead

# a group that lives forgets topics that it does not read any longer
    join a version=3 topics=t session=999999999 -> waits
    pass 0                          -> a: 1 range leads a-1
    sync a                          -> nothing
    commit a t/0=5 u/0=6            -> NONE NONE
    pass 86400000                   ->
    offsets                         -> t/0=5
    state                           -> Stable 1 range a-1 leader a-1

# a group that lives and is no group of consumers forgets nothing
    join a version=3 type=connect session=999999999 -> waits
    pass 0                          -> a: 1 range leads a-1
    sync a                          -> nothing
    commit a t/0=5                  -> NONE
    pass 172800000                  ->
    offsets                         -> t/0=5

# a group that rebalances forgets nothing
    join a version=3 session=999999999 rebalance=999999999 -> waits
    pass 0                          -> a: 1 range leads a-1
    sync a                          -> nothing
    commit a u/0=6                  -> NONE
    join b id= instance=i rebalance=999999999 session=999999999 -> waits
    pass 86400000                   -> b: UNKNOWN_MEMBER_ID
    offsets                         -> u/0=6

# a retention time that the client chose goes before ours
    commit - t/0=5 retention=3600000 -> NONE
    commit - t/1=6 retention=259200000 -> NONE
    pass 3600000                    ->
    offsets                         -> t/1=6
    pass 172800000                  ->
    offsets                         -> t/1=6
    reload                          ->
    pass 86400000                   ->
    state                           -> Dead

# a group that nobody joined and that never committed is forgotten
    join a                          -> MEMBER_ID_REQUIRED a-1
    pass 3600000                    ->
    state                           -> Dead
"""


@pytest.mark.parametrize("story", stories(STORIES))
def test_offsets_expire(story: str) -> None:
    stage = Stage(offsets_retention_minutes=1440, offsets_retention_check_interval_ms=3_600_000)
    stage.play(story)


def test_what_expires_is_written_down() -> None:
    stage = Stage(offsets_retention_minutes=1440, offsets_retention_check_interval_ms=3_600_000)
    stage.step("commit - t/0=5")
    stage.step(f"pass {DAY_MS}")
    assert stage.step("written") == "t/0=5 t/0=gone g=gone"
