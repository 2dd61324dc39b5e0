"""Misbehaving endpoints on loopback, and certificates for them."""

import asyncio
import contextlib
import errno
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

Behaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

_PORTS_TRIED = 20


@dataclass
class Receiver:
    """What came in: connections, and requests with their bodies."""

    port: int = 0
    connections: int = 0
    requests: list[bytes] = field(default_factory=list)

    def url(self, host: str = "127.0.0.1", *, scheme: str = "http", path: str = "/hook") -> str:
        return f"{scheme}://{host}:{self.port}{path}"


@asynccontextmanager
async def receiving(
    behaviour: Behaviour,
    *,
    tls: ssl.SSLContext | None = None,
    host: str = "127.0.0.1",
    at: socket.socket | None = None,
) -> AsyncIterator[Receiver]:
    """Take requests, one after the other on a connection, and let `behaviour` answer each.

    They are taken at a port of `host`, or by the socket `at`, which is bound.
    """
    receiver = Receiver()
    under_way: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        receiver.connections += 1
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while not writer.is_closing():
                receiver.requests.append(await _request(reader))
                await behaviour(reader, writer)
        writer.transport.abort()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(serve(reader, writer))
        under_way.add(task)
        task.add_done_callback(under_way.discard)

    at = at or bound_sockets(host)[0]
    server = await asyncio.start_server(connected, sock=at, ssl=tls)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()
        for task in list(under_way):
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        await server.wait_closed()


def bound_sockets(*hosts: str) -> list[socket.socket]:
    """A socket at each of these addresses, all at one port.

    A port that is free at one address may be in use at another, by a connection of other tests.
    """
    for _ in range(_PORTS_TRIED):
        with ExitStack() as stack:
            sockets: list[socket.socket] = []
            for host in hosts:
                family = socket.AF_INET6 if ":" in host else socket.AF_INET
                sockets.append(stack.enter_context(socket.socket(family)))
                try:
                    sockets[-1].bind((host, sockets[0].getsockname()[1]))
                except OSError as error:
                    if error.errno != errno.EADDRINUSE:
                        raise
                    break
            else:
                stack.pop_all()
                return sockets
    raise AssertionError(f"No port is free at all of {hosts}.")


@contextmanager
def full_queue(listener: socket.socket) -> Iterator[None]:
    """Connections to this bound socket are neither accepted nor refused, as by a packet filter."""
    with ExitStack() as stack:
        stack.enter_context(listener)
        listener.listen(0)
        for _ in range(8):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        yield


async def _request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    fields = (line.partition(b":") for line in head.split(b"\r\n"))
    length = next(int(value) for name, _, value in fields if name.lower() == b"content-length")
    return head + await reader.readexactly(length)


def answering(*pieces: bytes, then_close: bool = False) -> Behaviour:
    async def behave(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        if then_close:
            writer.close()

    return behave


def hanging_after(*pieces: bytes) -> Behaviour:
    async def behave(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
        await asyncio.sleep(60)

    return behave


def dripping(first: bytes, drop: bytes, *, every: float = 0.05) -> Behaviour:
    async def behave(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(first)
        while not writer.is_closing():
            writer.write(drop)
            await writer.drain()
            await asyncio.sleep(every)

    return behave


def flooding(first: bytes, wave: bytes) -> Behaviour:
    """Send `wave` without end, as fast as it is taken."""

    async def behave(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(first)
        while not writer.is_closing():
            writer.write(wave)
            await writer.drain()
            await asyncio.sleep(0)

    return behave


async def resetting(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


@dataclass(frozen=True)
class Certificates:
    """An authority of the test's own; `bundle` is the file to trust."""

    folder: Path
    bundle: Path
    _key: ec.EllipticCurvePrivateKey
    _certificate: x509.Certificate

    def serving(self, name: str, *, days: int = 30, self_signed: bool = False) -> ssl.SSLContext:
        """A server's side of TLS with a certificate for `name`; negative days: expired."""
        certificate, key = self.files(name, days=days, self_signed=self_signed)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        return context

    def files(self, name: str, *, days: int = 30, self_signed: bool = False) -> tuple[Path, Path]:
        key = ec.generate_private_key(ec.SECP256R1())
        issuer = _named(name) if self_signed else self._certificate.subject
        made = _certificate(
            _named(name), issuer, key, key if self_signed else self._key, name=name, days=days
        )
        return _written(self.folder / f"{name}-{days}-{self_signed}", made, key)


def certificates(folder: Path) -> Certificates:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = _named("Authority of the tests")
    made = _certificate(subject, subject, key, key, name=None, days=30)
    bundle, _ = _written(folder / "authority", made, key)
    return Certificates(folder, bundle, key, made)


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _certificate(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    signer: ec.EllipticCurvePrivateKey,
    *,
    name: str | None,
    days: int,
) -> x509.Certificate:
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=60))
        .not_valid_after(now + timedelta(days=days, hours=1))
        .add_extension(x509.BasicConstraints(ca=name is None, path_length=None), critical=True)
    )
    if name is not None:
        names = x509.SubjectAlternativeName([x509.DNSName(name)])
        builder = builder.add_extension(names, critical=False)
    return builder.sign(signer, hashes.SHA256())


def _written(
    path: Path, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey
) -> tuple[Path, Path]:
    files = path.with_suffix(".pem"), path.with_suffix(".key")
    files[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return files
