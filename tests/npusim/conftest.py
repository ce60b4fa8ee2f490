"""Run tests marked `simulated` on the simulated device.

Importing torch and torch_npu takes seconds, so one server a session imports both, without initialising a device,
and forks a fresh process for each test. Such a module imports torch nowhere at its top, because pytest itself does
not run on the simulated device: its tests ask for the fixture `torch`.
"""

import base64
import json
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SERVER = Path(__file__).with_name("server.py")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "simulated: runs in a process of its own on the simulated device")


class Server:
    """A process that has imported torch and torch_npu and forks at each request."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "npusim", str(SERVER)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, path: Path, function: str, arguments: dict[str, object]) -> str | None:
        """The report of a failed test, None if it passed."""
        pickled = base64.b64encode(pickle.dumps(arguments)).decode()
        request = json.dumps({"path": str(path), "function": function, "arguments": pickled})
        self.process.stdin.write(request + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        return json.loads(answer)["report"] if answer else "the server of simulated tests has died"

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.process.stdout.close()


@pytest.fixture(scope="session")
def simulated_server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture
def torch(request: pytest.FixtureRequest) -> None:
    """Stands for the module torch, which a simulated test gets in its own process."""
    assert request.node.get_closest_marker("simulated"), "only for tests marked `simulated`"


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not pyfuncitem.get_closest_marker("simulated"):
        return None
    server = pyfuncitem._request.getfixturevalue("simulated_server")
    names = pyfuncitem._fixtureinfo.argnames
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    report = server.run(pyfuncitem.path, pyfuncitem.originalname, arguments)
    if report is not None:
        pytest.fail(report, pytrace=False)
    return True
