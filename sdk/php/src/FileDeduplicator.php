<?php

// Recognises an event that was handled before, by its id.

declare(strict_types=1);

namespace Tradewind\Sdk;

/**
 * Remembers the ids of handled events in a directory of this machine, for all its PHP processes.
 *
 * Where several machines receive, keep the ids in your database instead: in a table with a unique id, written in the
 * transaction that has the event's effect.
 */
final class FileDeduplicator implements Deduplicator
{
    private const HANDLED = "handled\n";
    private const MOST_TRIES = 100;

    /** @param string $directory it is created if it is missing */
    public function __construct(private readonly string $directory)
    {
        if (!is_dir($directory) && !@mkdir($directory, 0o700, recursive: true) && !is_dir($directory)) {
            throw new \RuntimeException("The directory $directory cannot be created.");
        }
    }

    /** As Deduplicator has it. The event of a process that dies was not handled either. */
    public function once(string $eventId, callable $handle): bool
    {
        $file = $this->lock($eventId);
        try {
            if (stream_get_contents($file) === self::HANDLED) {
                return false;
            }
            $handle();
            if (!rewind($file) || fwrite($file, self::HANDLED) !== strlen(self::HANDLED) || !fflush($file)) {
                throw new \RuntimeException("The id of a handled event cannot be written to {$this->directory}.");
            }
            return true;
        } finally {
            fclose($file);
        }
    }

    /**
     * Forget events that were handled so many seconds ago; return how many.
     *
     * Call it once a day. An event may be sent again as long as its journal keeps it: 30 days by default.
     */
    public function forget(int $olderThanSeconds = 31 * 86400): int
    {
        $forgotten = 0;
        foreach (glob($this->directory . '/*.event') ?: [] as $path) {
            $file = @fopen($path, 'r');
            if ($file === false) {
                continue;
            }
            if (flock($file, LOCK_EX | LOCK_NB) && fstat($file)['mtime'] < time() - $olderThanSeconds) {
                $forgotten += (int) @unlink($path);
            }
            fclose($file);
        }
        return $forgotten;
    }

    /**
     * The event's file, locked until it is closed. The system closes the files of a process that dies.
     *
     * @return resource
     */
    private function lock(string $eventId)
    {
        $path = $this->directory . '/' . hash('sha256', $eventId) . '.event';
        for ($try = 0; $try < self::MOST_TRIES; $try++) {
            $file = @fopen($path, 'c+');
            if ($file === false) {
                throw new \RuntimeException("The directory {$this->directory} cannot be written to.");
            }
            if (!flock($file, LOCK_EX | LOCK_NB)) {
                fclose($file);
                throw new EventInProgressException('The same event is being handled right now.');
            }
            // Between opening and locking, `forget` may have deleted the file.
            clearstatcache(true, $path);
            $stat = @stat($path);
            if ($stat !== false && $stat['ino'] === fstat($file)['ino']) {
                return $file;
            }
            fclose($file);
        }
        throw new \RuntimeException("The directory {$this->directory} changes too fast.");
    }
}
