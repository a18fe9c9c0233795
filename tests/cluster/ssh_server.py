"""An SSH server of this machine on a free port, as a process: who has the key may run commands, from the folder of
these sources. It writes the key and then its port into a folder, and ends with its process group.

    python -m tests.cluster.ssh_server FOLDER
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from pathlib import Path
from typing import Any

import asyncssh

from tests.cluster.running import ROOT


async def _passed(source: Any, to: Any) -> None:
    """Line by line, until its end."""
    async for line in source:
        to.write(line)


async def _command(process: Any) -> None:
    """Runs what the client asks for, as a login shell does."""
    ran = await asyncio.create_subprocess_shell(
        f"exec {process.command}",
        cwd=ROOT,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        await asyncio.gather(_passed(ran.stdout, process.stdout), _passed(ran.stderr, process.stderr))
        process.exit(await ran.wait())
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            ran.kill()


async def _serve(folder: Path) -> None:
    key = asyncssh.generate_private_key("ssh-ed25519")
    key.write_private_key(folder / "key")
    server = await asyncssh.listen(
        "127.0.0.1",
        0,
        server_host_keys=[asyncssh.generate_private_key("ssh-ed25519")],
        authorized_client_keys=asyncssh.import_authorized_keys(key.export_public_key().decode()),
        process_factory=_command,
        encoding=None,
    )
    (folder / "port.new").write_text(str(server.get_port()))
    (folder / "port.new").rename(folder / "port")
    await server.wait_closed()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1])))
