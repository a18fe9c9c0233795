"""A scheduler that asks for certificates, made here: with them the work is done, without them nobody gets in."""

from __future__ import annotations

import contextlib
import datetime
import ipaddress
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from porter.validation.cluster.engine import do_all
from porter.validation.cluster.spec import ClusterSpec, cluster_spec

from porter.errors import Unusable
from porter.system.results import Store
from tests.cluster.running import Nothing, workers
from tests.later import later, needs_installed

needs_installed("distributed", "cryptography")
dask_backend = later("porter.validation.cluster.dask_backend")

pytestmark = pytest.mark.slow


def _certificate(folder: Path) -> None:
    """A key and a certificate that it signed itself, for this machine, valid for an hour."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "porter test")])
    now = datetime.datetime.now(datetime.timezone.utc)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    folder.mkdir()
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )


@contextlib.contextmanager
def _scheduler(folder: Path) -> Iterator[str]:
    import distributed

    make: Any = distributed
    security = make.Security(
        require_encryption=True,
        tls_ca_file=str(folder / "cert.pem"),
        tls_scheduler_cert=str(folder / "cert.pem"),
        tls_scheduler_key=str(folder / "key.pem"),
        tls_client_cert=str(folder / "cert.pem"),
        tls_client_key=str(folder / "key.pem"),
    )
    cluster = dask_backend.with_a_loop(
        lambda: make.LocalCluster(
            n_workers=0, security=security, protocol="tls://", host="127.0.0.1", dashboard_address=":0", silence_logs=50
        )
    )
    with cluster:
        yield str(cluster.scheduler_address)


def _backend(address: str, patience: float) -> Any:
    spec: ClusterSpec = cluster_spec(f"dask:{address}")
    return dask_backend.DaskBackend(spec, 1, (), (), lambda *_: None, lambda text: None, patience=patience)


def test_with_certificates_the_work_is_done_and_without_nobody_gets_in(tmp_path: Path) -> None:
    import dask.config

    folder = tmp_path / "certificates"
    _certificate(folder)
    kind = Nothing(5)
    names = {"ca-file": "cert", "client.cert": "cert", "client.key": "key"}
    mine = {f"distributed.comm.tls.{name}": str(folder / f"{file}.pem") for name, file in names.items()}
    with _scheduler(folder) as address, workers(address, ("--certificates", str(folder))):
        assert address.startswith("tls://")
        with dask.config.set(mine):
            backend = _backend(address, 60.0)
            with Store(tmp_path / "s.sqlite") as store:
                do_all(kind, store, backend)
                backend.close()
                assert len(kind.answers(store)) == 5
        with pytest.raises(Unusable, match="--cluster"):
            _backend(address, 3.0)
        with pytest.raises(Unusable, match="--cluster"):
            _backend(address.replace("tls://", "tcp://"), 3.0)


def test_a_loop_that_did_not_start_in_time_is_started_again() -> None:
    asked: list[int] = []

    def late(often: int) -> str:
        asked.append(often)
        assert len(asked) > often
        return "there"

    assert dask_backend.with_a_loop(lambda: late(1)) == "there"
    assert len(asked) == 2
    asked.clear()
    with pytest.raises(TimeoutError, match="event loop"):
        dask_backend.with_a_loop(lambda: late(9))
