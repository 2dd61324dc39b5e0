"""The samples in the READMEs of the SDKs for PHP and Java run exactly as printed."""

import json
import subprocess
import time
from pathlib import Path

import pytest
from kit.blocks import ROOT, running
from kit.toolchains import need_toolchain

from tradewind.webhooks.signing import sign

SECRET = "whsec_" + "r" * 43
BODY = json.dumps(
    {
        "id": "evt_1",
        "event": "order.updated",
        "created_at": "2026-11-15T08:00:00.501Z",
        "data": {
            "order": {
                "id": "ORD1",
                "platform": "sandbox",
                "order_id": None,
                "status": "paid",
                "payment_status": "paid",
                "platform_payment_status": "paid",
                "total_amount_cny": None,
                "updated_at": "2026-11-15T08:00:00.500Z",
            }
        },
    }
)
PHP = """<?php
require $argv[1] . '/autoload.php';
[$secret, $timestamp, $signature, $body, $directory] = array_slice($argv, 2);
$headers = ['x-service-timestamp' => $timestamp, 'x-service-signature' => $signature];
$request = new class ($headers, $body) {
    public function __construct(private array $headers, private string $body) {}
    public function getHeaders(): array { return array_map(fn ($one) => [$one], $this->headers); }
    public function getBody(): string { return $this->body; }
};
%s
echo $delivery->timestamp === (int) $timestamp ? 'PSR-7' : '', PHP_EOL;
"""
JAVA = """
import dev.tradewind.sdk.*;
import java.util.List;
import java.util.Map;

public class Readme {
    public static void main(String[] args) throws Exception {
        String secret = args[0];
        Map<String, List<String>> headers = Map.of(
            "x-service-timestamp", List.of(args[1]), "x-service-signature", List.of(args[2]));
        byte[] body = args[3].getBytes("UTF-8");
        %s
    }
}
"""


def delivery() -> list[str]:
    now = int(time.time())
    return [SECRET, str(now), sign(SECRET, now, BODY.encode()), BODY]


def test_the_samples_for_php_run(tmp_path: Path) -> None:
    need_toolchain("php")
    with running("sdk/php/README.md", "php") as samples:
        script = tmp_path / "readme.php"
        script.write_text(PHP % "\n".join(block.text for block in samples))

        handled = str(tmp_path / "handled")
        ended = subprocess.run(
            ["php", "-n", str(script), str(ROOT / "sdk/php"), *delivery(), handled],  # noqa: S607
            capture_output=True,
            text=True,
            check=True,
        )

        assert (ended.stdout, ended.stderr) == ("PSR-7\n", "order.updated ORD1 paid\n")


def test_the_samples_for_java_run(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    classes = request.getfixturevalue("java_classes")
    with running("sdk/java/README.md", "java") as samples:
        source = tmp_path / "Readme.java"
        source.write_text(JAVA % "\n".join(block.text for block in samples))

        ended = subprocess.run(
            ["java", "-cp", str(classes), str(source), *delivery()],  # noqa: S607
            capture_output=True,
            text=True,
            check=True,
        )

        assert (ended.stdout, ended.stderr) == ("order.updated ORD1 paid\n", "")
