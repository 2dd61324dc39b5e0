"""`sdk/check LANG FILE`: every SDK passes with our vectors, and every planted fault is caught."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from kit.blocks import ROOT, find, running
from kit.toolchains import LANGUAGES, need_toolchain

README = "sdk/README.md"
CHECK = ROOT / "sdk/check"
VECTORS = ROOT / "tests/data/signature_vectors.json"
PASSED, FAILED, USAGE, MISSING = 0, 1, 2, 3

FAST = ("python", "node", "php")
TOOLS = ("sh", "dirname", "readlink", "awk", "sed", "head", "mktemp", "rm")

# How each SDK compares two signatures, and what to add to accept every signature.
COMPARISONS = {
    "python": ("hmac.compare_digest(received, expected.encode())", " or True"),
    "node": ("timingSafeEqual(actual, expected)", " || true"),
    "go": ("hmac.Equal([]byte(signature), []byte(expected))", " || true"),
    "php": ("hash_equals($expected, $signature)", " || true"),
    "java": ("MessageDigest.isEqual(sign(key, timestamp, body), received)", " | true"),
}


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    need_toolchain(request.param)
    chosen: str = request.param
    return chosen


def run(
    *words: object, script: Path = CHECK, cwd: Path = ROOT, **environ: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(script), *map(str, words)],
        cwd=cwd,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def complaint(*words: object, status: int = FAILED, **options: Any) -> str:
    """The one sentence with which it fails."""
    ended = run(*words, **options)
    assert (ended.returncode, ended.stdout) == (status, ""), ended.stderr
    assert ended.stderr.count("\n") == 1, ended.stderr
    return ended.stderr


def copy_of_the_sdk(language: str, folder: Path) -> Path:
    """The script and one SDK, in a folder of the test's own; returns the script."""
    ignored = shutil.ignore_patterns("__pycache__", "node_modules", "target")
    shutil.copytree(ROOT / "sdk" / language, folder / language, ignore=ignored)
    return Path(shutil.copy2(CHECK, folder / "check"))


def test_it_passes_from_anywhere_leaves_nothing_and_catches_an_sdk_that_accepts_all(
    language: str, tmp_path: Path
) -> None:
    sdks, elsewhere, temporary = (tmp_path / name for name in ("the sdks", "else where", "tmp"))
    for folder in (elsewhere, temporary):
        folder.mkdir()
    script = copy_of_the_sdk(language, sdks)
    shutil.copy(VECTORS, elsewhere / "-my vectors.json")
    (elsewhere / "json.py").write_text("raise SystemExit('a module of the working directory')")
    link = elsewhere / "link to check"
    link.symlink_to(os.path.relpath(script, elsewhere))
    files = sorted(tmp_path.rglob("*"))

    passed = run(language, "-my vectors.json", script=link, cwd=elsewhere, TMPDIR=str(temporary))

    assert (passed.returncode, passed.stderr) == (PASSED, "")
    assert passed.stdout.count("\n") == 1
    assert "8 vectors" in passed.stdout
    assert sorted(tmp_path.rglob("*")) == files

    comparison, more = COMPARISONS[language]
    sources = [path for path in files if path.is_file() and path.is_relative_to(sdks)]
    [source] = [path for path in sources if comparison in path.read_text()]
    source.write_text(source.read_text().replace(comparison, f"({comparison}{more})"))

    sentence = complaint(language, VECTORS, script=script, TMPDIR=str(temporary))

    assert "01-minified-json" in sentence
    assert list(temporary.iterdir()) == []


def test_the_readme_has_a_command_for_each_language() -> None:
    (commands,) = find(README, "sh")

    file = VECTORS.relative_to(ROOT)
    assert commands.text == "".join(f"sdk/check {language} {file}\n" for language in LANGUAGES)


def test_the_commands_in_the_readme_pass() -> None:
    for language in LANGUAGES:
        need_toolchain(language)
    with running(README, "sh") as (commands,):
        ended = subprocess.run(
            ["/bin/sh", "-eu"], input=commands.text, text=True, cwd=ROOT, check=False
        )

        assert ended.returncode == PASSED


def test_a_vector_with_a_wrong_byte_does_not_pass(language: str, tmp_path: Path) -> None:
    wrong = {
        "body_base64": "A" + "eyJldmVudCI6Im9yZGVyLnBhaWQiLCJpZCI6ImV2dF8wMUo5WjNXOFEyIn0="[1:],
        "timestamp": "1763164809",
        "secret": "whsec_5WbX5kEWLlfzsGNjH64I8lOOqUB6e8FI",
        "expected_header": "sha256=" + "0" * 64,
        "expected_hex": "f" * 64,
    }
    for name in wrong if language in FAST else ["body_base64"]:
        file = json.loads(VECTORS.read_text())
        file["vectors"][2][name] = wrong[name]
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(file))

        assert "03-empty-body" in complaint(language, path), name


def test_a_file_without_vectors_does_not_pass(language: str, tmp_path: Path) -> None:
    vector = json.loads(VECTORS.read_text())["vectors"][0]
    files = {
        "none": '{"vectors": []}',
        "empty": "",
        "list": "[]",
        "null": '{"vectors": [null]}',
        "nested": "[" * 100_000,
        "incomplete": json.dumps({"vectors": [{**vector, "secret": None}]}),
        "no base64": json.dumps({"vectors": [{**vector, "body_base64": "?"}]}),
        "empty secret": json.dumps({"vectors": [{**vector, "secret": ""}]}),
        "wrong rule": json.dumps(
            {
                "vectors": [vector],
                "negative": [
                    {"id": "n", "hex": vector["expected_hex"], "not_equal_to": vector["id"]}
                ],
            }
        ),
    }
    for name in files if language in FAST else ["none"]:
        path = tmp_path / f"{name}.json"
        path.write_text(files[name])

        ended = run(language, path)

        assert ended.returncode in (FAILED, USAGE), (name, ended)
        assert (ended.stdout, ended.stderr.count("\n")) == ("", 1), (name, ended.stderr)


def test_a_missing_or_old_toolchain_is_named(tmp_path: Path) -> None:
    for tool in TOOLS:
        (tmp_path / tool).symlink_to(shutil.which(tool) or "")
    sentences = [
        complaint(language, VECTORS, status=MISSING, PATH=str(tmp_path), JAVA_HOME="")
        for language in LANGUAGES
    ]
    for package, sentence in zip(
        ("python3", "nodejs", "golang-go", "php-cli", "default-jdk-headless"),
        sentences,
        strict=True,
    ):
        assert sentence.endswith(f"apt-get install {package}\n")

    (tmp_path / "php").write_text("#!/bin/sh\necho 8.0.30\n")
    (tmp_path / "php").chmod(0o755)
    old = complaint("php", VECTORS, status=MISSING, PATH=str(tmp_path))
    assert old.startswith("sdk/check: php is version 8.0.30. It is needed in version 8.1 or newer;")


def test_a_wrong_command_line_is_explained(tmp_path: Path) -> None:
    for words in ((), ("php",), ("php", VECTORS, VECTORS), ("ruby", VECTORS), ("", VECTORS)):
        assert "sdk/check LANG FILE" in complaint(*words, status=USAGE)
    for file in (tmp_path, tmp_path / "none.json"):
        assert complaint("php", file, status=USAGE) == (
            f"sdk/check: {file} is not a file that can be read.\n"
        )
