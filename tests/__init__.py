"""Tests, in folders as the package; what several share is in ``tests.helpers``."""
