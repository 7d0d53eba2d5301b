package postgres

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"time"
)

// Pgbench measures what the same PostgreSQL can insert: one durable row per
// transaction, about as large as an email, prepared.
type Pgbench struct {
	binary, script, url string
}

const (
	benchTable = `CREATE TABLE IF NOT EXISTS bench_rows (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text NOT NULL, at timestamptz NOT NULL DEFAULT now())`
	benchRow   = `INSERT INTO bench_rows (body) VALUES (repeat('0123456789abcdef', 128));` + "\n"
)

// New makes the table into which it inserts.
func New(ctx context.Context, binary, url, dir string) (*Pgbench, error) {
	b := &Pgbench{binary: binary, url: url, script: filepath.Join(dir, "insert.sql")}
	if err := os.WriteFile(b.script, []byte(benchRow), 0o600); err != nil {
		return nil, err
	}
	return b, Exec(ctx, url, benchTable)
}

// Find gives the program, or says what to install when it is missing.
func Find() (string, error) {
	if found, err := exec.LookPath("pgbench"); err == nil {
		return found, nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", fmt.Errorf("pgbench is not on this machine; it comes with PostgreSQL's server packages (Debian: apt-get install postgresql)")
	}
	return found[len(found)-1], nil
}

var ratePattern = regexp.MustCompile(`tps = ([0-9.]+)`)

// Run inserts from so many clients for so long, and gives rows/s.
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
		return 0, fmt.Errorf("pgbench printed no rate: %s", out.String())
	}
	return strconv.ParseFloat(string(found[1]), 64)
}
