"""Where kwire answers otherwise than Kafka on purpose: each with its reason.

A difference that is gone is a failed test, so this list tells no more than is true. What a user
could notice stands in docs/reference/differences.md too.
"""

INTENDED: dict[tuple[str, str], str] = {
    (
        "groups.joining",
        "a subscription that claims more topics than it holds is no reason to fail",
    ): "Kafka's coordinator fails over it and never answers; kwire needs no subscription to join",
}
