"""The command that checks the SDK: it accepts the vectors, and notices what is wrong."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tradewind_sdk import check

ROOT = Path(__file__).parents[3]
PYTHON_SDK = ROOT / "sdk/python"
VECTORS = ROOT / "tests/data/signature_vectors.json"


def checked(file: Path | str, sdk: Path = PYTHON_SDK) -> tuple[int, str]:
    """The exit status and what was printed, by the bare Python of the system."""
    done = subprocess.run(
        ["/usr/bin/env", "python3", "-S", "-m", "tradewind_sdk.check", str(file)],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(sdk), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout.count("\n") + done.stderr.count("\n") == 1, done.stderr
    return done.returncode, done.stdout + done.stderr


def test_the_vectors_verify_and_their_changes_are_refused() -> None:
    status, text = checked(VECTORS)

    assert status == 0
    assert text.startswith("python: 8 vectors verified, ")


def test_receiving_needs_the_standard_library_only() -> None:
    imports = "import tradewind_sdk.webhooks.server, tradewind_sdk.webhooks.asgi as a, sys; "
    imports += "import tradewind_sdk.webhooks.wsgi; print(a.WebhookASGIApp.__name__)\n"
    imports += "try: import tradewind_sdk.client\nexcept ModuleNotFoundError as e: print(e)"
    done = subprocess.run(
        ["/usr/bin/env", "python3", "-S", "-B", "-c", imports],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(PYTHON_SDK)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stderr == ""
    assert done.stdout.startswith("WebhookASGIApp\ntradewind_sdk.client needs httpx; install it")


def planted(change: Callable[[Any], Any]) -> Any:
    content = json.loads(VECTORS.read_text())
    change(content)
    return content


@pytest.mark.parametrize(
    ("content", "status", "sentence"),
    [
        (planted(lambda it: it["vectors"][7].update(timestamp="1763164804")), 1, "08-binary does"),
        (planted(lambda it: it["vectors"][2].update(body_base64="AA==")), 1, "03-empty-body does"),
        (planted(lambda it: it["vectors"][0].update(secret="whsec_")), 1, "01-minified-json does"),
        (planted(lambda it: it["vectors"][0].update(secret="")), 1, "01-minified-json does"),
        (planted(lambda it: it["vectors"][1].update(expected_hex="0" * 64)), 1, "02-same-json-p"),
        (planted(lambda it: it["vectors"][1].update(expected_header="sha256=")), 1, "02-same-jso"),
        (
            planted(lambda it: it["negative"][0].update(hex=it["vectors"][0]["expected_hex"])),
            1,
            "The wrong signature n1 was accepted.",
        ),
        (planted(lambda it: it["vectors"][0].update(timestamp="9" * 5000)), 2, "timestamp is not"),
        (planted(lambda it: it["vectors"][0].update(timestamp=1)), 2, "timestamp is missing or"),
        (planted(lambda it: it["vectors"][0].update(body_base64="%")), 2, "is not base64"),
        (planted(lambda it: it["vectors"][0].update(secret="\ud800")), 2, "not Unicode text"),
        (planted(lambda it: it.update(vectors=[])), 2, "has no vectors"),
        (planted(lambda it: it.update(vectors=[None])), 2, "Vector 0 is not an object"),
        (planted(lambda it: it["negative"][0].update(not_equal_to="?")), 2, "names no vector"),
        ([], 2, "has no vectors"),
    ],
)
def test_a_wrong_file_is_named(
    content: Any, status: int, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a file.json"
    file.write_text(json.dumps(content))

    assert check.main([str(file)]) == status
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 100_000])
def test_what_is_not_json_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "vectors.json").write_bytes(content)

    assert check.main([str(tmp_path / "vectors.json")]) == 2
    assert check.main([str(tmp_path / "missing.json")]) == 2
    assert check.main([str(tmp_path)]) == 2
    assert check.main([]) == 2


@pytest.mark.parametrize(
    ("line", "wrong", "sentence"),
    [
        ("return matches", "return True", "accepted with a changed body"),
        ("secret.encode(), signed", "secret[:-1].encode(), signed", "does not verify"),
        ("[0-9a-f]{64}", "[0-9a-fA-F]{64}", "accepted with a changed signature"),
    ],
)
def test_an_sdk_that_accepts_a_change_is_caught(
    line: str, wrong: str, sentence: str, tmp_path: Path
) -> None:
    """The SDK is copied, and a line of its comparison is broken."""
    folder = tmp_path / "tradewind_sdk"
    shutil.copytree(
        PYTHON_SDK / "tradewind_sdk", folder, ignore=shutil.ignore_patterns("__pycache__")
    )
    source = folder / "webhooks/verify.py"
    text = source.read_text()
    assert line in text
    text = text.replace(line, wrong)
    source.write_text(text.replace("signature.encode()", "signature.lower().encode()"))

    status, text = checked(VECTORS, tmp_path)

    assert status == 1
    assert sentence in text
