package postgres

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// Client finds a client program (pg_dump, pg_restore, psql) for a server of a given major version, in the
// same places as the server: the same version, else the next newer one. The npm packages contain no client
// programs.
func Client(ctx context.Context, config Config, program string, server int) (path string, err error) {
	best, seen := 0, 0
	for _, place := range searchPlaces(config) {
		for _, folder := range place.folders {
			candidate := filepath.Join(folder, program)
			major := clientVersion(ctx, candidate, program)
			seen = max(seen, major)
			if major >= server && (best == 0 || major < best) {
				best, path = major, candidate
			}
		}
	}
	switch {
	case path != "":
		return path, nil
	case seen > 0:
		return "",
			fmt.Errorf("%s is of PostgreSQL %d, but the server is %d: install postgresql-client-%d, or name its folder in POSTRIDER_POSTGRES_BIN", program, seen, server, server)
	}
	return "",
		fmt.Errorf("no %s on this machine: install it (Debian and Ubuntu: apt-get install postgresql-client; Fedora: dnf install postgresql; macOS: brew install libpq), or name its folder in POSTRIDER_POSTGRES_BIN. "+
			"The embedded database can also be copied while Postrider is stopped: the folder `postgres` of the data directory", program)
}

var clientLine = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// clientVersion returns the major version of a program, or 0 if the file is not that program. A link to a
// program of another name is skipped: Debian's wrapper chooses a version by its own rules.
func clientVersion(ctx context.Context, path, program string) int {
	if real, err := filepath.EvalSymlinks(path); err != nil || filepath.Base(real) != program {
		return 0
	}
	output, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return 0
	}
	match := clientLine.FindSubmatch(output)
	if match == nil {
		return 0
	}
	major, err := strconv.Atoi(string(match[1]))
	if err != nil {
		return 0
	}
	return major
}

// LockDataDir locks the data directory against every other process until release is called, without running a
// server. It returns an *InUseError if another process holds it.
func LockDataDir(ctx context.Context, config Config) (release func() error, err error) {
	lock, err := acquireLock(filepath.Join(config.DataDir, "postgres.lock"))
	if err != nil {
		return nil, fmt.Errorf("embedded postgres: %w", err)
	}
	if err := awaitPredecessor(ctx, filepath.Join(config.DataDir, "postgres"), lock.predecessor,
		config.Logger); err != nil {
		return nil, errors.Join(fmt.Errorf("embedded postgres: %w", err), lock.release())
	}
	return lock.release, nil
}
