"""Network namespaces on one bridge, and disks of a limited size; for root, by `ip` and `mount`."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tools.cluster.layout import Host, Layout

BRIDGE = "twc-bridge"
# A private network that hardly anybody has.
NETWORK = "10.213.61"
LOOPBACK_NETWORK = "127.0.61"
_DISK_SIZE = "512m"
_MADE = "network"


def why_no_namespaces() -> str:
    """Why hosts cannot have network namespaces here; empty if they can."""
    if os.geteuid() != 0:
        return "only root may make network namespaces"
    missing = [program for program in ("ip", "nft", "setpriv", "unshare") if not find(program)]
    if missing:
        return f"{' and '.join(missing)} cannot be found"
    probe = subprocess.run(
        ["unshare", "--net", "--mount", "true"],  # noqa: S607 - found above
        check=False,
        capture_output=True,
    )
    return "this system does not let root make network namespaces" if probe.returncode else ""


def find(program: str) -> str | None:
    """Find a program, also where only root looks."""
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
    return shutil.which(program, path=path)


def make(cluster: Layout, root: Path) -> None:
    """Make the bridge, a namespace for each host, and a disk for each database host.

    A file in the folder lists them beforehand, for whoever removes them.
    """
    made = [f"{host.link} {host.namespace}" for host in cluster.hosts]
    (root / _MADE).write_text("\n".join(made), "utf-8")
    _remove_network(made)
    _run("ip", "link", "add", BRIDGE, "type", "bridge")
    _run("ip", "address", "add", f"{cluster.gateway}/24", "dev", BRIDGE)
    _run("ip", "link", "set", BRIDGE, "up")
    for host in cluster.hosts:
        _make_namespace(host)
    for host in cluster.databases:
        disk = host.data_dir(root)
        disk.mkdir(parents=True)
        _run("mount", "-t", "tmpfs", "-o", f"size={_DISK_SIZE},mode=0755", "tmpfs", str(disk))


def _make_namespace(host: Host) -> None:
    inside = ("ip", "-n", host.namespace)
    _run("ip", "netns", "add", host.namespace)
    peer = ("peer", "name", "eth0", "netns", host.namespace)
    _run("ip", "link", "add", host.link, "type", "veth", *peer)
    _run("ip", "link", "set", host.link, "master", BRIDGE, "up")
    _run(*inside, "link", "set", "lo", "up")
    _run(*inside, "address", "add", f"{host.address}/24", "dev", "eth0")
    _run(*inside, "link", "set", "eth0", "up")


def forward_loopback(host: Host, port: int, gateway: str) -> None:
    """Lead a port of the host's loopback to this machine, where a webhook's endpoint listens.

    In development, Tradewind sends webhooks to public addresses and to loopback only.
    """
    rules = f"""
        table ip endpoint {{
            chain output {{
                type nat hook output priority -100;
                ip daddr 127.0.0.1 tcp dport {port} dnat to {gateway}
            }}
            chain postrouting {{
                type nat hook postrouting priority 100;
                oifname "eth0" ip saddr 127.0.0.1 masquerade
            }}
        }}
    """
    execute = ("ip", "netns", "exec", host.namespace)
    _run(*execute, "sysctl", "-q", "-w", "net.ipv4.conf.all.route_localnet=1")
    _run(*execute, "nft", rules)


def set_link(host: Host, state: str) -> None:
    """Plug the host's cable in (`up`) or out (`down`)."""
    _run("ip", "link", "set", host.link, state)


def fill_disk(host: Host, root: Path) -> None:
    """Leave no byte free on the host's disk."""
    ballast = host.data_dir(root) / "ballast"
    with ballast.open("ab", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            block = b"\0" * size
            try:
                while file.write(block) == size:
                    pass
            except OSError:
                continue


def free_disk(host: Host, root: Path) -> None:
    (host.data_dir(root) / "ballast").unlink()


def remove(root: Path) -> None:
    """Remove the network of the cluster in this folder, and what is mounted in it."""
    if not (root / _MADE).exists():
        return
    for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines():
        target = Path(line.split()[1])
        if target.is_relative_to(root):
            _run("umount", "--lazy", str(target), check=False)
    _remove_network((root / _MADE).read_text("utf-8").splitlines())


def _remove_network(made: Sequence[str]) -> None:
    """Remove pairs of a link and a namespace, and the bridge.

    A namespace lives a little longer than its name, and its link would do so, too.
    """
    for pair in made:
        link, namespace = pair.split()
        _run("ip", "link", "delete", link, check=False)
        _run("ip", "netns", "delete", namespace, check=False)
    _run("ip", "link", "delete", BRIDGE, check=False)


def inside(host: Host, user: str = "") -> Sequence[str]:
    """The beginning of a command that runs on a host, as a user other than root if one is named."""
    command = ["ip", "netns", "exec", host.namespace, "unshare", "--ipc"]
    if user:
        command += ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"]
    return command


def _run(*command: str, check: bool = True) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if check and done.returncode:
        raise RuntimeError(f"`{' '.join(command)}` failed: {done.stderr.strip()}")
