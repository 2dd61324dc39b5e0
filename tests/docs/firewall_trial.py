"""Tries firewall rules in a network namespace, as root of it; tells what was reached, as JSON.

This process is Tradewind. A child, in a namespace at the other end of a cable, has the addresses of
everybody else, and listens there. Every target is tried without the rules, and then with them.
"""

import json
import socket
import subprocess
import sys
from ipaddress import ip_address
from threading import Thread

OWN = ("10.0.2.20", "fd00::20")
# The port at which Tradewind serves its proxy.
SERVED = 8000
SECONDS = 5
STREAM, DATAGRAM = "tcp", "udp"
Target = tuple[str, str, int]


def main(words: list[str]) -> None:
    if words[0] == "peers":
        be_everybody_else([parse(word) for word in words[1:]])
    else:
        try_rules(words[0], [parse(word) for word in words[1:]])


def parse(text: str) -> Target:
    protocol, address, port = text.split()
    return protocol, address, int(port)


def tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def run(*commands: str) -> None:
    for command in commands:
        subprocess.run(command.split(), check=True)


def open_socket(protocol: str, address: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.socket(family, socket.SOCK_STREAM if protocol == STREAM else socket.SOCK_DGRAM)


def listen(target: Target) -> None:
    """Greet whoever connects, or answer whoever sends a datagram."""
    protocol, address, port = target
    listening = open_socket(protocol, address)
    listening.bind((address, port))
    if protocol == STREAM:
        listening.listen()
    Thread(target=greet if protocol == STREAM else echo, args=[listening], daemon=True).start()


def greet(listening: socket.socket) -> None:
    while True:
        connection, _ = listening.accept()
        connection.sendall(b"hello")
        connection.close()


def echo(bound: socket.socket) -> None:
    while True:
        bound.sendto(*bound.recvfrom(100))


def reach(target: Target) -> str:
    """What comes of it: `reached`, or the name of the error."""
    protocol, address, port = target
    with open_socket(protocol, address) as connection:
        connection.settimeout(SECONDS)
        try:
            connection.connect((address, port))
            if protocol == DATAGRAM:
                connection.send(b"hello")
            return "reached" if connection.recv(100) == b"hello" else "closed"
        except OSError as error:
            return type(error).__name__


def is_local(target: Target) -> bool:
    return ip_address(target[1]).is_loopback


def be_everybody_else(targets: list[Target]) -> None:
    """Listen at the targets; then try to reach Tradewind for each further line of the input."""
    tell("waiting for the cable")
    sys.stdin.readline()
    run("ip link set lo up", "ip link set far up")
    for address in {target[1] for target in targets}:
        run(f"ip address add {address} dev far{' nodad' if ':' in address else ''}")
    run(*(f"ip route add {address} dev far" for address in OWN))
    for target in targets:
        listen(target)
    tell("listening")
    for _ in sys.stdin:
        tell(reach((STREAM, OWN[0], SERVED)))


def try_rules(rules: str, targets: list[Target]) -> None:
    far = [" ".join(map(str, target)) for target in targets if not is_local(target)]
    with subprocess.Popen(
        ["unshare", "--net", sys.executable, __file__, "peers", *far],  # noqa: S607
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as peers:
        assert peers.stdin is not None
        assert peers.stdout is not None
        peers.stdout.readline()
        run(f"ip link add name near type veth peer name far netns {peers.pid}")
        run("ip link set lo up", "ip link set near up")
        run(f"ip address add {OWN[0]} dev near", f"ip address add {OWN[1]} dev near nodad")
        run("ip route add default dev near", "ip -6 route add default dev near")
        for target in [(STREAM, OWN[0], SERVED), *filter(is_local, targets)]:
            listen(target)
        assert ask(peers) == "listening"
        rounds = []
        for command in ("true", f"nft -f {rules}"):
            run(command)
            reached = {" ".join(map(str, target)): reach(target) for target in targets}
            rounds.append({**reached, "from the proxy": ask(peers)})
        tell(json.dumps(rounds))
        peers.stdin.close()


def ask(peers: subprocess.Popen[str]) -> str:
    """Send the peers a line, and return theirs."""
    assert peers.stdin is not None
    assert peers.stdout is not None
    peers.stdin.write("\n")
    peers.stdin.flush()
    return peers.stdout.readline().strip()


if __name__ == "__main__":
    main(sys.argv[1:])
