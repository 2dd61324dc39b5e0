"""What tests of calls to the outside share: an authority that vouches for their receivers."""

from pathlib import Path

import pytest
from egress.receivers import Certificates, certificates


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return certificates(Path(tmp_path_factory.mktemp("certificates")))
