<?php

// Handles one event with the deduplicator of a directory; says what became of it, a line each.

declare(strict_types=1);

use Tradewind\Sdk\EventInProgressException;
use Tradewind\Sdk\FileDeduplicator;

require $argv[1] . '/autoload.php';

$deduplicator = new FileDeduplicator($argv[2]);
if ($argv[3] === 'forget') {
    echo $deduplicator->forget((int) $argv[4]), "\n";
    exit;
}
try {
    $isFirst = $deduplicator->once($argv[3], static function (): void {
        echo "handling\n";
        if (trim((string) fgets(STDIN)) === 'fail') {
            throw new DomainException();
        }
    });
    echo $isFirst ? "handled\n" : "duplicate\n";
} catch (EventInProgressException) {
    echo "in progress\n";
} catch (DomainException) {
    echo "failed\n";
}
