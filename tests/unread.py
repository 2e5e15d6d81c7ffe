"""How much of what was sent the other end of a connection has not read yet, by Linux's socket diagnostics.

Who wants two packets to be read apart must not send the second while the first is unread, and only the
kernel knows; acknowledged is not yet read.
"""

import socket
import struct

_SOCK_DIAG = 4  # the netlink family
_BY_FAMILY, _REQUEST = 20, 1
_NO_COOKIE = b"\xff" * 8
_ANY_STATE = 0xFFFFFFFF
_HEADER = struct.Struct("=IHHII")
# Of a diagnosis: family, state, timer, retransmits; the two ends; when it expires; bytes to read.
_DIAGNOSIS = struct.Struct("=4B48xII")


def unread_bytes(plug: socket.socket) -> int:
    """Count the bytes that wait at the other end of a connection within this machine, over IPv4.

    0 also where nobody can tell: the other end is gone, or the system is another one.
    """
    if not hasattr(socket, "AF_NETLINK"):
        return 0
    try:
        (here, own_port), (there, port) = plug.getsockname(), plug.getpeername()
    except OSError:
        return 0
    ends = struct.pack("!HH16s16s", port, own_port, socket.inet_aton(there), socket.inet_aton(here))
    body = (
        struct.pack("=BBxxI", socket.AF_INET, socket.IPPROTO_TCP, _ANY_STATE) + ends + bytes(4) + _NO_COOKIE
    )
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _SOCK_DIAG) as kernel:
        kernel.send(_HEADER.pack(_HEADER.size + len(body), _BY_FAMILY, _REQUEST, 0, 0) + body)
        told = kernel.recv(4096)
    if _HEADER.unpack_from(told)[1] != _BY_FAMILY:
        return 0
    return int(_DIAGNOSIS.unpack_from(told, _HEADER.size)[-1])
