"""The cluster is configured as its page says, and its address is one that Tradewind accepts."""

import re
from pathlib import Path

from kit.blocks import ROOT

from tools.cluster import database
from tools.cluster.layout import Kind, layout
from tradewind.settings import parsers

CLUSTER = layout("10.0.0")
PASSWORDS = database.Passwords("a", "b", "c")
PAGE = (ROOT / "docs/how-to/cluster.md").read_text()


def test_the_page_shows_the_settings_that_matter() -> None:
    host = CLUSTER.databases[0]
    configuration = database.patroni(host, CLUSTER, Path("/c"), Path("/bin"), PASSWORDS, "etcd")
    dynamic = configuration["bootstrap"]["dcs"]
    values = {**dynamic, **dynamic["postgresql"], **dynamic["postgresql"]["parameters"]}
    shown = dict(re.findall(r"^\| `(\w+)` \| `(\w+)` \|", PAGE, re.MULTILINE))

    assert {name: str(values[name]).lower() for name in shown} == shown
    assert {*dynamic, "use_pg_rewind"} - {"postgresql"} <= shown.keys()


def test_an_isolated_leader_stops_before_another_one_begins() -> None:
    assert database.LOOP_SECONDS + 2 * database.RETRY_SECONDS < database.TTL_SECONDS


def test_the_hosts_are_those_of_the_page_and_every_name_fits() -> None:
    rows = re.findall(r"^\| (\d) (\w+) hosts? \|", PAGE, re.MULTILINE)

    assert rows == [("3", "database"), ("2", "API"), ("3", "worker")]
    assert [len(CLUSTER.of_kind(kind)) for kind in Kind] == [3, 2, 3, 1]
    assert len({host.address for host in CLUSTER.hosts}) == len(CLUSTER.hosts)
    assert len({host.link for host in CLUSTER.hosts}) == len(CLUSTER.hosts)
    assert all(len(host.link) <= 15 for host in CLUSTER.hosts)


def test_one_address_names_every_database_host() -> None:
    url = CLUSTER.database_url("tradewind", "secret")

    assert url == (
        "postgresql://tradewind:secret@10.0.0.11:5432,10.0.0.12:5432,10.0.0.13:5432/tradewind"
        "?target_session_attrs=read-write"
    )
    assert parsers.database(url) == url


def test_each_member_of_etcd_knows_the_others() -> None:
    commands = [
        database.etcd_command("etcd", host, CLUSTER, Path("/c"), "etcd")
        for host in CLUSTER.databases
    ]

    assert [command[1] for command in commands] == ["--name=db1", "--name=db2", "--name=db3"]
    assert all(
        "--initial-cluster=db1=http://10.0.0.11:2380,db2=http://10.0.0.12:2380,"
        "db3=http://10.0.0.13:2380" in command
        for command in commands
    )


def test_only_versions_of_patroni_that_compare_the_lock_use_the_newer_api_of_etcd() -> None:
    versions = ("2.1.7", "3.0.2", "3.0.3", "3.1.0", "4.0.6")

    assert [database.etcd_api(version) for version in versions] == ["etcd"] * 2 + ["etcd3"] * 3
