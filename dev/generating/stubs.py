"""The protobuf messages of the etcd client, from our own proto files.

Only the messages: what the generator writes for the services is untyped and refuses every grpcio older than itself, so
the calls are a table of ours (`etcd/methods.py`). The file names inside the messages start at `src`, which makes them
import each other by their package.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from box.layout import REPOSITORY
from dev.environment import SetupError, default_environment, ensure

SOURCES = Path("src")
PROTOS = SOURCES / "etcd_operator" / "etcd" / "pb"


def texts() -> dict[Path, str]:
    environment = default_environment("stubs")
    ensure(environment)
    names = [str(path.relative_to(REPOSITORY / SOURCES)) for path in sorted((REPOSITORY / PROTOS).glob("*.proto"))]
    with tempfile.TemporaryDirectory() as folder:
        outputs = [f"--python_out={folder}", f"--pyi_out={folder}"]
        command = [str(environment.bin / "python"), "-m", "grpc_tools.protoc", f"-I{SOURCES}", *outputs, *names]
        done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SetupError(f"protoc cannot make the stubs:\n{done.stderr}")
        written = sorted(path for path in Path(folder).rglob("*_pb2.py*") if path.is_file())
        return {SOURCES / path.relative_to(folder): path.read_text() for path in written}
