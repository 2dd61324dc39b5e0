"""Joins statements into one, so that they take one round trip and commit together."""

from collections.abc import Callable, Sequence

# Returns a statement that changes nothing unless a condition in SQL is true, and its arguments,
# which come after so many others.
Part = Callable[[int, str], tuple[str, Sequence[object]]]


def joined(
    parts: Sequence[Part], query: str = "", args: Sequence[object] = (), only_if: str = "true"
) -> tuple[str, Sequence[object]]:
    """Return one statement for `query`, which begins with WITH, and all parts; and its arguments.

    The parts change something only if `only_if` is true, a condition in SQL that may refer to the
    query. Without a query, the statement returns nothing.
    """
    if not query and len(parts) == 1:
        return parts[0](0, only_if)
    all_args, written = [*args], []
    for part in parts:
        after = len(all_args)
        statement, more = part(after, only_if)
        written.append(f"part_{after} AS ({statement})")
        all_args += more
    if not query:
        return f"WITH {', '.join(written)} SELECT", all_args
    if not written:
        return query, all_args
    query = query.lstrip().removeprefix("WITH").lstrip().removeprefix("RECURSIVE")
    # RECURSIVE: a part may refer to the parts of the query, which come behind it.
    return f"WITH RECURSIVE {', '.join([*written, query])}", all_args
