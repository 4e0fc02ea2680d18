"""The image: topics by name and by id, and where brokers are."""

from kwire.config.endpoints import Endpoint
from kwire.controller.image import BrokerImage, ClusterImage, ImageChange, TopicImage


def test_topics_are_found_by_name_and_by_id_until_they_go() -> None:
    image = ClusterImage("c")
    first = TopicImage("t", b"1" * 16, {})
    image.apply(ImageChange(topics=(first,)))
    assert image.topics == {"t": first}
    assert image.topic_by_id(first.topic_id) is first
    image.apply(ImageChange(deleted=(first,)))
    assert image.topics == {}
    assert image.topic_by_id(first.topic_id) is None


def test_a_topic_made_again_has_only_its_new_id() -> None:
    image = ClusterImage("c")
    first, second = TopicImage("t", b"1" * 16, {}), TopicImage("t", b"2" * 16, {})
    image.apply(ImageChange(topics=(first,)))
    image.apply(ImageChange(topics=(second,), deleted=(first,)))
    assert image.topic_by_id(first.topic_id) is None
    assert image.topic_by_id(second.topic_id) is second


def test_a_broker_tells_where_each_listener_is() -> None:
    inside, outside = Endpoint("IN", "a", 1), Endpoint("OUT", "b", 2)
    broker = BrokerImage(1, 0, (inside, outside))
    assert broker.endpoint("OUT") == outside
    assert broker.endpoint("NONE") is None
