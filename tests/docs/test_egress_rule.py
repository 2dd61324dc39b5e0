"""docs/how-to/deploy.md: its firewall rules let Tradewind reach whom it needs, and nobody else."""

import json
import os
import subprocess
import sys
from pathlib import Path

from kit.blocks import find, ran
from kit.toolchains import deployment_tool, lack

from tradewind.settings import settings

PAGE = "docs/how-to/deploy.md"
TRIAL = Path(__file__).parent / "firewall_trial.py"
NAMESPACE = ("unshare", "--user", "--map-root-user", "--net")
ROOT_USER = "0"  # in the namespace, it is the only one
AT_ONCE = {"ConnectionRefusedError", "PermissionError"}
NEEDED = (
    "tcp 10.0.2.5 5432",
    "udp 10.0.2.53 53",
    "tcp 10.0.2.54 53",
    "tcp 203.0.113.7 443",
    "tcp 203.0.113.7 8443",
    "tcp 2001:db8::7 443",
    "from the proxy",
)
FORBIDDEN = (
    "tcp 169.254.169.254 443",
    "tcp 10.0.2.5 443",
    "tcp 10.0.2.53 5432",
    "udp 10.0.2.5 53",
    "tcp 172.16.0.9 443",
    "tcp 192.168.1.1 8443",
    "tcp 100.64.0.1 443",
    "tcp 127.0.0.1 443",
    "tcp ::1 443",
    "tcp fd00::9 443",
    "tcp 203.0.113.7 80",
    "tcp 2001:db8::7 5432",
    "udp 203.0.113.7 443",
    "udp 203.0.113.7 53",
)


def try_out(rules: str, folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """What is reached without the rules, and what with them."""
    tools = {Path(deployment_tool(name)).parent for name in ("nft", "ip", "unshare")}
    path = os.pathsep.join([*map(str, tools), os.environ["PATH"]])
    environ = {**os.environ, "PATH": path}
    allowed = subprocess.run(
        [*NAMESPACE, "true"], env=environ, capture_output=True, text=True, check=False
    )
    if allowed.returncode != 0:
        lack(f"Network namespaces are not allowed here: {allowed.stderr}")
    file = folder / "tradewind.nft"
    file.write_text(rules)
    targets = [target for target in (*NEEDED, *FORBIDDEN) if target != "from the proxy"]
    tried = subprocess.run(
        [*NAMESPACE, sys.executable, str(TRIAL), str(file), *targets],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert tried.returncode == 0, tried.stderr
    before, after = json.loads(tried.stdout)
    return before, after


def test_the_rules_restrict_the_user_of_tradewind(tmp_path: Path) -> None:
    (block,) = find(PAGE, "nft")
    assert '"tradewind"' in block.text
    (ports,) = [setting.default for setting in settings.SETTINGS if setting.name == "webhook_ports"]
    assert f"tcp dport {{ {ports.replace(',', ', ')} }} accept" in block.text

    before, after = try_out(block.text.replace('"tradewind"', ROOT_USER), tmp_path)

    assert set(before.values()) == {"reached"}, before
    assert {target for target, result in after.items() if result == "reached"} == {*NEEDED}
    assert {after[target] for target in FORBIDDEN} <= AT_ONCE
    ran([block])


def test_the_rules_do_not_restrict_others(tmp_path: Path) -> None:
    (block,) = find(PAGE, "nft")

    _, after = try_out(block.text.replace('"tradewind"', "4711"), tmp_path)

    assert set(after.values()) == {"reached"}, after
