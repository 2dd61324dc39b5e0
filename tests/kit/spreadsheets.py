"""Spreadsheet files for tests: small XLSX files, and CSV in the shapes that people save."""

import csv
import io
import zipfile
from collections.abc import Sequence
from xml.sax.saxutils import escape

WORKBOOK = """<?xml version="1.0"?><workbook
 xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"
 xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">
<sheets><sheet name="Orders" sheetId="1" r:id="rId7"/></sheets></workbook>"""
RELATIONS = """<?xml version="1.0"?><Relationships
 xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="rId7" Type="worksheet" Target="worksheets/sheet1.xml"/></Relationships>"""
_NAMESPACE = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def csv_file(rows: Sequence[Sequence[object]], separator: str = ",") -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=separator).writerows(rows)
    return text.getvalue().encode()


def xlsx_file(rows: Sequence[Sequence[object]]) -> bytes:
    """Texts are shared strings, numbers are numbers, None is no cell."""
    strings: list[str] = []
    lines = []
    for number, cells in enumerate(rows, 1):
        line = ""
        for index, cell in enumerate(cells):
            at = f"{_letters(index)}{number}"
            if isinstance(cell, str):
                strings.append(cell)
                line += f'<c r="{at}" t="s"><v>{len(strings) - 1}</v></c>'
            elif cell is not None:
                line += f'<c r="{at}"><v>{cell}</v></c>'
        lines.append(f'<row r="{number}">{line}</row>')
    items = "".join(f"<si><t>{escape(text)}</t></si>" for text in strings)
    return packed(
        f'<worksheet xmlns="{_NAMESPACE}"><sheetData>{"".join(lines)}</sheetData></worksheet>',
        f'<sst xmlns="{_NAMESPACE}">{items}</sst>',
    )


def packed(sheet: str, strings: str = "", **more: str) -> bytes:
    """An XLSX file with this sheet."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", more.get("workbook", WORKBOOK))
        archive.writestr("xl/_rels/workbook.xml.rels", RELATIONS)
        archive.writestr("xl/worksheets/sheet1.xml", sheet)
        if strings:
            archive.writestr("xl/sharedStrings.xml", strings)
    return content.getvalue()


def _letters(index: int) -> str:
    letters = ""
    while index >= 0:
        letters = chr(ord("A") + index % 26) + letters
        index = index // 26 - 1
    return letters
