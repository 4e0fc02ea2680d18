"""A draft: what it shows of changes that are not stored yet."""

from kwire.config.layered import load
from kwire.controller.draft import Draft
from kwire.controller.image import ClusterImage, ImageChange, TopicImage
from kwire.controller.placement import new_partition

OLD = TopicImage("old", b"1" * 16, {0: new_partition([1])}, {"retention.ms": "1"})
NEW = TopicImage("new", b"2" * 16, {0: new_partition([1])}, {"retention.ms": "2"})
PLAIN = TopicImage("plain", b"3" * 16, {0: new_partition([1])})


def a_draft(*topics: TopicImage) -> Draft:
    image = ClusterImage("c")
    image.apply(ImageChange(topics=topics))
    return Draft(image, load(), 1)


def test_the_image_stays_as_it_is_while_a_draft_is_written() -> None:
    draft = a_draft(OLD)
    draft.create_topic(NEW)
    draft.delete_topic(OLD)
    assert draft.image.topics == {"old": OLD}
    assert draft.topic("new") is NEW
    assert draft.topic("old") is None
    assert draft.change() == ImageChange(topics=(NEW,), deleted=(OLD,))


def test_a_topic_that_changes_twice_is_told_of_once_as_it_is_in_the_end() -> None:
    draft = a_draft(OLD)
    draft.configure_topic(OLD, {"flush.ms": "7"})
    changed = draft.topic("old")
    assert changed is not None
    draft.add_partitions(changed, {1: new_partition([1])})
    (told,) = draft.change().topics
    assert told.config == {"flush.ms": "7"}
    assert list(told.partitions) == [0, 1]
    assert told.topic_id == OLD.topic_id


def test_topics_with_settings_are_shown_as_they_will_be() -> None:
    draft = a_draft(OLD, PLAIN)
    draft.create_topic(NEW)
    assert {topic.name for topic in draft.configured_topics()} == {"old", "new"}
    draft.delete_topic(OLD)
    draft.configure_topic(NEW, {})
    assert draft.configured_topics() == []


def test_collisions_are_found_among_old_and_new_topics() -> None:
    draft = a_draft(TopicImage("a.b", b"4" * 16, {}))
    assert draft.colliding_topic("a_b") == "a.b"
    assert draft.colliding_topic("a-b") is None
    assert draft.colliding_topic("c_d") is None
    draft.create_topic(TopicImage("c.d", b"5" * 16, {}))
    assert draft.colliding_topic("c_d") == "c.d"


def test_a_broker_without_settings_has_none() -> None:
    assert a_draft().broker_config("1") == {}
