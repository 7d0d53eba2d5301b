// Package machine measures the machine: reference figures without Postrider (pgbench inserts, RSA signatures), and the
// processor time and memory of processes.
package machine

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"time"
)

// Pgbench measures durable inserts: each transaction inserts one row of about the size of an email.
type Pgbench struct {
	binary, script, url string
}

const (
	createTable = `CREATE TABLE IF NOT EXISTS bench_rows (
		id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text NOT NULL, at timestamptz NOT NULL DEFAULT now())`
	insertRow = `INSERT INTO bench_rows (body) VALUES (repeat('0123456789abcdef', 128));` + "\n"
)

// NewPgbench creates the table in a database and the script in dir. The binary comes from FindPgbench.
func NewPgbench(ctx context.Context, binary, dir, url string, db *sql.DB) (*Pgbench, error) {
	b := &Pgbench{binary: binary, url: url, script: filepath.Join(dir, "insert.sql")}
	if err := os.WriteFile(b.script, []byte(insertRow), 0o600); err != nil {
		return nil, err
	}
	_, err := db.ExecContext(ctx, createTable)
	return b, err
}

// FindPgbench returns the path of pgbench.
func FindPgbench() (string, error) {
	if found, err := exec.LookPath("pgbench"); err == nil {
		return found, nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "",
			fmt.Errorf("pgbench is not installed; it is part of the PostgreSQL server packages (Debian: apt-get install postgresql)")
	}
	return found[len(found)-1], nil
}

var ratePattern = regexp.MustCompile(`tps = ([0-9.]+)`)

// Run inserts rows with concurrent clients and returns the rows per second.
func (b *Pgbench) Run(ctx context.Context, clients int, length time.Duration) (float64, error) {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, b.binary, "--no-vacuum", "--protocol=prepared", "--file="+b.script,
		"--client="+strconv.Itoa(clients), "--jobs="+strconv.Itoa(min(clients, runtime.NumCPU())),
		"--time="+strconv.Itoa(int(max(time.Second, length)/time.Second)), b.url)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("pgbench: %w: %s", err, out.String())
	}
	found := ratePattern.FindSubmatch(out.Bytes())
	if found == nil {
		return 0, fmt.Errorf("pgbench: no rate in its output: %s", out.String())
	}
	return strconv.ParseFloat(string(found[1]), 64)
}
