"""The errors of imports: files that cannot be read, and imports that cannot be ordered now."""

from collections.abc import Sequence

from tradewind import money
from tradewind.errors import Conflict, Invalid


class FileUnreadable(Invalid):
    """The file is not a CSV file in UTF-8 and not an XLSX file, or it is too large.

    `detail` says what is wrong and where. A file has 5,000 rows, 200 columns and 5 MiB at most. In
    a spreadsheet program, save it as "CSV UTF-8" or as XLSX.
    """

    code = "file_unreadable"
    title = "The file cannot be read"

    def __init__(self, reason: str) -> None:
        super().__init__(f"The file cannot be read: {reason}")


class ColumnsUnmatched(Invalid):
    """The columns of the file cannot be matched: one is missing, or two mean the same.

    `problems` lists what is wrong, `columns` the names in the first row of the file. Rename the
    columns, or say which is which with `column=FIELD:NAME`.
    """

    code = "columns_unmatched"
    title = "The columns cannot be matched"

    def __init__(self, problems: Sequence[str], columns: Sequence[str]) -> None:
        super().__init__(" ".join(problems), problems=list(problems), columns=list(columns))


class ImportNotReady(Conflict):
    """The import is still being checked. Wait until its `status` is `ready`."""

    code = "import_not_ready"
    title = "The import is still being checked"

    def __init__(self) -> None:
        super().__init__(
            "The import is still being checked; wait until it is ready.", retry_after=2
        )


class NothingToOrder(Conflict):
    """No order of the import can be placed: every one has an error. Correct the file."""

    code = "nothing_to_order"
    title = "Nothing can be ordered"
    detail = "Every order of the import has an error; correct the file, and import it again."


class ImportTotalChanged(Conflict):
    """The import has another total than `expected_total_cny`; nothing was ordered.

    `current_total_cny` is the total that it has. An import that was confirmed keeps the total that
    was confirmed.
    """

    code = "import_total_changed"
    title = "The total of the import is another"

    def __init__(self, expected_fen: int, current_fen: int) -> None:
        super().__init__(
            f"The import costs {money.text(current_fen)}, not {money.text(expected_fen)}.",
            expected_total_cny=money.show(expected_fen),
            current_total_cny=money.show(current_fen),
        )


class TooManyImports(Conflict):
    """Several imports of your account are being checked or ordered. Wait until one has ended."""

    code = "too_many_imports"
    title = "Too many imports are running"

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"{limit} imports are being checked or ordered; wait until one has ended.",
            retry_after=10,
        )
