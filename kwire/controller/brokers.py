"""A broker comes: it finds the cluster, or makes it, puts its name down, and stands for controller.

Its registration is ephemeral, so that it is there exactly as long as the broker's session; the
zxid that created it is the broker's epoch, which no former life of this broker had.
"""

from collections.abc import Mapping, Sequence

from kwire.controller import znodes
from kwire.controller.election import Mandate, campaign
from kwire.controller.image import BrokerImage
from kwire.controller.steps import chain, sure
from kwire.controller.store import Create, MetadataStore, Result, Stat, StoreError
from kwire.tasks import Later, now


def join(
    store: MetadataStore,
    broker: BrokerImage,
    protocols: Mapping[str, str],
    *,
    cluster_id: str,
    now_ms: int,
) -> Later[Mandate]:
    """Become a broker and the controller; `cluster_id` is for a cluster that is not there yet.

    Raises StoreError, where the store's answer arrives, if that cannot be.
    """

    def lay_out(epoch: Stat | StoreError | None) -> Later[Sequence[Result] | StoreError]:
        is_there = sure(epoch) is not None
        return now([]) if is_there else store.multi(znodes.empty_cluster(cluster_id))

    def register(laid_out: Sequence[Result] | StoreError) -> Later[Sequence[Result] | StoreError]:
        sure(laid_out)
        data = znodes.encode_broker(broker, protocols, now_ms)
        return store.multi([Create(znodes.broker_path(broker.node_id), data, ephemeral=True)])

    def elect(registered: Sequence[Result] | StoreError) -> Later[Mandate | StoreError]:
        sure(registered)
        return campaign(store, broker.node_id, now_ms)

    laid_out = chain(store.exists(znodes.CONTROLLER_EPOCH), lay_out)
    return chain(chain(laid_out, register), elect).map(sure)
