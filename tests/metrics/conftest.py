"""The tests of this folder may start engines in their own process."""

from tests.support.same_models import same_models

__all__ = ["same_models"]
