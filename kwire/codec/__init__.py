"""Frames to messages and back: pure functions of bytes and a version, without any I/O."""
