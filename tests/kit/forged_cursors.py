"""Forged cursors: built like ours, with extreme content."""

import ast
import inspect
import struct
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import strategies as st

import tradewind
from tradewind.runtime.api import endpoints
from tradewind.web.paging import write_cursor

# Unix times at both ends of the calendar, where libraries are off by one.
_FIRST, _LAST = -62_135_596_800, 253_402_300_799


def forged_cursors(operation: str) -> st.SearchStrategy[str]:
    """Cursors that have the shape of the operation's own."""
    return st.one_of(
        [st.builds(write_cursor, st.just(name), _key(kind)) for name, kind in _lists_of(operation)]
    )


def _timestamp(seconds: int) -> msgspec.msgpack.Ext:
    """A time as MessagePack has it: any 64-bit number of seconds fits."""
    return msgspec.msgpack.Ext(-1, struct.pack(">Iq", 0, seconds))


_TIMES = st.one_of(
    st.just(_timestamp(_LAST + 1)),
    st.just(_timestamp(_FIRST - 1)),
    st.integers(-(2**63), 2**63 - 1).map(_timestamp),
    st.sampled_from(
        ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-01-01T00:00:00"]
    ),
)
_INTEGERS = st.one_of(
    st.sampled_from([0, -1, 2**31, 2**63 - 1, 2**63, 2**64 - 1, -(2**63)]), st.integers(0, 2**63)
)
_VALUES = {
    "datetime": _TIMES,
    "int": _INTEGERS,
    "UUID": st.uuids().map(str),
    "None": st.none(),
}
_ANYTHING: st.SearchStrategy[Any] = st.one_of(*_VALUES.values())


def _key(kind: str) -> st.SearchStrategy[Any]:
    """A key of a type that is written like `tuple[datetime, UUID]`."""
    fields = kind.removeprefix("tuple[").removesuffix("]").split(", ")
    values = st.tuples(
        *(
            st.one_of([_VALUES.get(name, _ANYTHING) for name in each.split(" | ")])
            for each in fields
        )
    )
    return values if kind.startswith("tuple[") else values.map(lambda value: value[0])


def _lists_of(operation: str) -> list[tuple[str, str]]:
    """The name of each list that an operation pages through, and the type of its key.

    They are read from the calls of `read_cursor` in its function, or in one that it calls.
    """
    (handler,) = (e.handler for e in endpoints() if e.handler.__name__ == operation)
    tree = ast.parse(inspect.getsource(handler))
    called = {ast.unparse(call.func) for call in ast.walk(tree) if isinstance(call, ast.Call)}
    by_function = _cursors_by_function()
    lists = {each for name in {operation, *called} for each in by_function.get(name, ())}
    return sorted(lists or set().union(*by_function.values()))


@cache
def _cursors_by_function() -> dict[str, set[tuple[str, str]]]:
    """The lists whose cursors a function reads, by its name."""
    lists: dict[str, set[tuple[str, str]]] = {}
    for path in Path(tradewind.__path__[0]).rglob("*routes.py"):
        tree = ast.parse(path.read_text())
        constants = {
            ast.unparse(line.targets[0]): line.value
            for line in tree.body
            if isinstance(line, ast.Assign)
        }
        for function in ast.walk(tree):
            if isinstance(function, ast.AsyncFunctionDef | ast.FunctionDef):
                for call in ast.walk(function):
                    if isinstance(call, ast.Call) and ast.unparse(call.func) == "read_cursor":
                        name = constants.get(ast.unparse(call.args[0]), call.args[0])
                        if isinstance(name, ast.Constant):
                            read = (str(name.value), ast.unparse(call.args[2]))
                            lists.setdefault(function.name, set()).add(read)
    return lists
