import subprocess
import sys
import threading

import pytest

from imgcl._core.background import Background


def test_goes_on_beside_the_caller():
    go = threading.Event()
    beside = Background(go.wait, 60)  # a call that waited for its end would never see the next line
    go.set()
    assert beside.result() is True


def test_an_error_is_raised_where_the_result_is_asked_for():
    beside = Background(int, "three")
    with pytest.raises(ValueError, match="three"):
        beside.result()


def test_never_keeps_a_process_alive():
    code = "import time; from imgcl._core.background import Background; Background(time.sleep, 600)"
    assert subprocess.run([sys.executable, "-c", code], timeout=120, check=False).returncode == 0
