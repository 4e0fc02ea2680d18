"""The node of the handlers' tests, for whoever needs a real internal partition."""

from kwire.tests.handlers.conftest import node

__all__ = ["node"]
