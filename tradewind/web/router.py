"""The router: finds the endpoint for a method and a path."""

from collections.abc import Iterable
from typing import Generic, TypeVar

T = TypeVar("T")


class Node(Generic[T]):
    """One step of a path: its next steps, and the targets of the path that ends here."""

    __slots__ = ("any", "methods", "steps")

    def __init__(self) -> None:
        self.steps: dict[str, Node[T]] = {}
        self.any: Node[T] | None = None
        self.methods: dict[str, T] = {}


class Router(Generic[T]):
    """Paths by their steps; `{name}` matches any step. A fixed step wins over a parameter."""

    def __init__(self, routes: Iterable[tuple[str, str, T]]) -> None:
        self._fixed: dict[str, dict[str, T]] = {}
        self._root: Node[T] = Node()
        for method, path, target in routes:
            if "{" not in path:
                self._fixed.setdefault(path, {})[method] = target
            node = self._root
            for step in path.split("/"):
                if step.startswith("{"):
                    node.any = node.any or Node()
                    node = node.any
                else:
                    node = node.steps.setdefault(step, Node())
            node.methods[method] = target

    def find(self, path: str) -> tuple[dict[str, T], list[str]]:
        """The targets of `path` by method, and the path's parameters; empty when there are none."""
        fixed = self._fixed.get(path)
        if fixed is not None:
            return fixed, []
        values: list[str] = []
        node: Node[T] = self._root
        for step in path.split("/"):
            following = node.steps.get(step)
            if following is None:
                if node.any is None or not step:
                    return {}, []
                values.append(step)
                following = node.any
            node = following
        return node.methods, values
