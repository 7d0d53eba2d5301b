package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	_ "github.com/lib/pq" // the driver

	"github.com/postrider/postrider/cmd/bench/client"
	"github.com/postrider/postrider/cmd/bench/machine"
)

// acceptOnly is a setting of servers that store messages and do not deliver them.
const acceptOnly = "POSTRIDER_DELIVERY_CONCURRENCY=0"

// server is a process of the measured binary.
type server struct {
	client.Server

	db     *sql.DB
	cmd    *exec.Cmd
	exited chan error
	log    string
}

const startLimit = time.Minute

// start runs the binary in development mode and waits until it is ready. The data directory is below dir, so a later
// start with the same dir continues with the same data.
func start(ctx context.Context, o options, dir string, env ...string) (_ *server, err error) {
	file := filepath.Join(dir, "ready.json")
	s := &server{log: filepath.Join(dir, "postrider.log"), exited: make(chan error, 1)}
	log, err := os.OpenFile(s.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	s.cmd = exec.CommandContext(ctx, o.binary, "dev", "--ready-file", file)
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(syscall.SIGTERM) }
	s.cmd.WaitDelay = startLimit
	s.cmd.Env = append(os.Environ(), "POSTRIDER_DATA_DIR="+filepath.Join(dir, "data"),
		"POSTRIDER_HTTP_ADDR=127.0.0.1:0")
	s.cmd.Env = append(s.cmd.Env, env...)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { s.exited <- s.cmd.Wait() }()
	if err := s.waitReady(ctx, file); err != nil {
		return nil, fmt.Errorf("%w; its log: %s", err, machine.ReadTail(s.log))
	}
	if s.db, err = sql.Open("postgres", s.DatabaseURL); err != nil {
		return nil, err
	}
	return s, os.Remove(file)
}

func (s *server) waitReady(ctx context.Context, file string) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if b, err := os.ReadFile(file); err == nil && json.Unmarshal(b, &s.Server) == nil && s.APIKey != "" {
			return nil
		}
		select {
		case <-tick.C:
		case err := <-s.exited:
			return fmt.Errorf("postrider exited before it was ready: %w", err)
		case <-ctx.Done():
			s.stop()
			return fmt.Errorf("postrider was not ready within %s", startLimit)
		}
	}
}

// startCounting starts the server with pg_stat_statements, which is part of PostgreSQL's contrib modules.
func startCounting(ctx context.Context, o options, dir string, env ...string) (*server, error) {
	logProgress("starting Postrider twice, because PostgreSQL loads pg_stat_statements when it starts")
	first, err := start(ctx, o, dir, env...)
	if err != nil {
		return nil, err
	}
	_, err = first.db.ExecContext(ctx, `ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'`)
	first.stop()
	if err != nil {
		return nil, fmt.Errorf("enable pg_stat_statements: %w", err)
	}
	second, err := start(ctx, o, dir, env...)
	if err != nil {
		return nil, fmt.Errorf("%w (PostgreSQL requires its contrib modules to start with pg_stat_statements)", err)
	}
	for _, statement := range []string{`CREATE EXTENSION IF NOT EXISTS pg_stat_statements`,
		`ALTER SYSTEM SET pg_stat_statements.track_planning = on`, `SELECT pg_reload_conf()`} {
		if _, err := second.db.ExecContext(ctx, statement); err != nil {
			second.stop()
			return nil, fmt.Errorf("enable pg_stat_statements: %w", err)
		}
	}
	return second, nil
}

func (s *server) pid() int { return s.cmd.Process.Pid }

// printPeakMemory prints the peak memory of the process.
func (s *server) printPeakMemory() {
	fmt.Printf("%-46s %s\n\n", "peak memory of the server process", machine.ReadUsage(s.pid()))
}

// stop drains the server and waits until it has exited.
func (s *server) stop() {
	if s.db != nil {
		if err := s.db.Close(); err != nil {
			logProgress("close database: %v", err)
		}
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		logProgress("stop: %v", err)
	}
	if err := <-s.exited; err != nil {
		logProgress("postrider exited with %v; its log: %s", err, machine.ReadTail(s.log))
	}
}

// waitUntil repeats a query until it returns true.
func (s *server) waitUntil(ctx context.Context, query string) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		var done bool
		if err := s.db.QueryRowContext(ctx, query).Scan(&done); err != nil || done {
			return err
		}
		if err := waitFor(ctx, tick.C); err != nil {
			return err
		}
	}
}

// waitSettled waits until the outcome of every delivery is stored. Only the latest recipients can be unsettled; no
// index finds them among millions.
func (s *server) waitSettled(ctx context.Context) error {
	return s.waitUntil(ctx, `SELECT NOT EXISTS (
		SELECT FROM recipients WHERE settled_at IS NULL AND id > (SELECT max(id) - 20000 FROM recipients))`)
}

// waitFor waits for a channel.
func waitFor[T any](ctx context.Context, done <-chan T) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// arrivals counts messages or requests that arrive at a receiver.
type arrivals interface{ Left() int64 }

// waitArrived waits up to two minutes for the channel that a receiver's Expect returned.
func waitArrived(ctx context.Context, receiver arrivals, arrived <-chan struct{}) error {
	limited, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if err := waitFor(limited, arrived); err != nil {
		return fmt.Errorf("%d messages are missing: %w", receiver.Left(), err)
	}
	return nil
}
