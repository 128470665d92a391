"""The listening socket and the TLS settings of a server."""

import errno
import os
import socket
import ssl

from plaudit.errors import InvalidSettings
from plaudit.serving.settings import ServerSettings

__all__ = ["load_certificate", "open_socket", "tls_context"]

BACKLOG = 1024


def open_socket(settings: ServerSettings) -> socket.socket:
    """A listening socket; InvalidSettings if the address cannot be used."""
    where = f"{settings.host}:{settings.port}"
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, protocol)
    except OSError as error:
        raise InvalidSettings(f"cannot listen on {where}: {error.strerror}") from None
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(BACKLOG)
        listening.setblocking(False)
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            raise InvalidSettings(
                f"{where} is in use: another server listens there; stop it, or give --port (0 takes a free one)"
            ) from None
        raise InvalidSettings(f"cannot listen on {where}: {os.strerror(error.errno or 0)}") from None
    return listening


def tls_context(settings: ServerSettings) -> ssl.SSLContext | None:
    """The TLS context of a server; None for plain HTTP."""
    if settings.tls_certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    load_certificate(context, settings)
    return context


def load_certificate(context: ssl.SSLContext, settings: ServerSettings) -> None:
    """Read the certificate into a context; InvalidSettings if it does not fit its key."""
    assert settings.tls_certificate is not None

    def refuse_password() -> str:
        raise InvalidSettings(
            f"{settings.tls_key} is encrypted, and a server cannot ask for its password; "
            f"store it without one: openssl pkey -in {settings.tls_key} -out key.pem"
        )

    try:
        context.load_cert_chain(settings.tls_certificate, settings.tls_key, refuse_password)
    except OSError as error:
        raise InvalidSettings(
            f"cannot use {settings.tls_certificate} and {settings.tls_key} for TLS: {error.strerror or error}; "
            "expected a certificate chain and the private key of its first certificate, both in PEM"
        ) from None
