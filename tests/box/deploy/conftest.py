from __future__ import annotations

from pathlib import Path

import pytest

from box.layout import REPOSITORY
from tests.box.deploy.shell import Shell, shell
from tests.box.driving import Box


@pytest.fixture
def reader(box: Box, namespace: str, tmp_path: Path) -> Shell:
    """Somebody in the root of the repository, in the test's namespace."""
    return shell(box, folder=REPOSITORY, namespace=namespace, scratch=tmp_path)
