"""`kwire txn abort`: what a producer does that takes over, and then does nothing.

Whoever asks for the next epoch of a transactional id has its open transaction aborted, and fences
the producer that left it open.
"""

import argparse
import time

from kwire.cli.cluster import connect
from kwire.cli.failures import CommandFailed
from kwire.cli.output import JSON, json_text
from kwire.cli.txn_views import Found, describe_one, find, tell_missing
from kwire.codec.apis import INIT_PRODUCER_ID
from kwire.codec.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kwire.errors import ErrorCode
from kwire.peers.client import RETRY_PAUSE_S, Client
from kwire.peers.failures import check

OPEN_STATES = ("Ongoing", "PrepareCommit", "PrepareAbort")


def abort(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        found, missing = find(client, arguments.ids)
        aborted = [_abort(client, each) for each in found]
    if arguments.format == JSON:
        print(json_text([{"transactional_id": name, "state": "aborted"} for name in aborted]))
    else:
        for name in aborted:
            print(f"aborted the transaction of {name}, and fenced its producer")
    return tell_missing(missing)


def _abort(client: Client, found: Found) -> str:
    state = describe_one(client, found)
    if state.transaction_state not in OPEN_STATES:
        raise CommandFailed(
            f"transactional id {found.name}: nothing is open ({state.transaction_state})"
        )
    request = InitProducerIdRequest(
        transactional_id=found.name, transaction_timeout_ms=state.transaction_timeout_ms
    )
    deadline = time.monotonic() + client.timeout_s
    while True:
        answer: InitProducerIdResponse = client.ask_node(found.node_id, INIT_PRODUCER_ID, request)
        is_ending = answer.error_code == ErrorCode.CONCURRENT_TRANSACTIONS
        if not is_ending or time.monotonic() >= deadline:
            check(answer.error_code, what=f"transactional id {found.name}")
            return found.name
        time.sleep(RETRY_PAUSE_S)
