package dbtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// watcher is a shell script that waits for the end of its standard input. This process holds the other end
// and never writes to it, so the input ends when this process ends, for any reason. Then the script stops the
// server and removes the files.
const watcher = `cat >/dev/null
file="$1/data/postgres/postmaster.pid"
pid=$(head -n 1 "$file" 2>/dev/null)
if [ -n "$pid" ]; then
	kill -CONT "$pid" 2>/dev/null
	kill -QUIT "$pid" 2>/dev/null
	tries=0
	while [ -f "$file" ] && kill -0 "$pid" 2>/dev/null && [ $tries -lt 100 ]; do
		case $(cat "/proc/$pid/stat" 2>/dev/null) in *") Z "*) break ;; esac # ended, not yet reaped
		sleep 0.1
		tries=$((tries + 1))
	done
	kill -KILL "$pid" 2>/dev/null
fi
socket=$(cat "$1/socket" 2>/dev/null) && rm -rf "$socket"
rm -rf "$1"`

// held keeps the pipes to the watchers open until this process ends.
var held struct {
	sync.Mutex
	pipes []*os.File
}

// startWatcher starts the watcher of a run's folder. It has its own session, so that Ctrl-C in the terminal does
// not reach it, and no output, which `go test` would wait for.
func startWatcher(run string) error {
	reader, writer, err := os.Pipe()
	if err != nil {
		return err
	}
	command := exec.Command("/bin/sh", "-c", watcher, "sh", run)
	command.Dir, command.Stdin = "/", reader
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = command.Start()
	if err = errors.Join(err, reader.Close()); err != nil {
		return errors.Join(fmt.Errorf("start the watcher: %w", err), writer.Close())
	}
	held.Lock()
	defer held.Unlock()
	held.pipes = append(held.pipes, writer)
	return nil
}

// removeStale removes folders without a watcher (because the machine crashed) and caches of old migrations,
// once they are a day old.
func removeStale(root string) error {
	entries, err := os.ReadDir(root)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !entry.IsDir() || strings.HasSuffix(entry.Name(), ".new") {
			continue
		}
		info, err := entry.Info()
		if err != nil || time.Since(info.ModTime()) < 24*time.Hour {
			continue // deleted in the meantime, or too recent
		}
		if err := os.RemoveAll(filepath.Join(root, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}
