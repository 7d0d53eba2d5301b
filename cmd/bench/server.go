package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/postrider/postrider/cmd/bench/process"
	"github.com/postrider/postrider/cmd/bench/reading"
)

// ready is what `postrider dev --ready-file` writes.
type ready struct {
	DatabaseURL    string `json:"database_url"`
	APIURL         string `json:"api_url"`
	GraphQLURL     string `json:"graphql_url"`
	APIKey         string `json:"api_key"`
	AccountID      string `json:"account_id"`
	VerifiedDomain string `json:"verified_domain"`
	InboundAddr    string `json:"inbound_addr"`
	Relay          *struct {
		TLSAddr  string `json:"tls_addr"`
		Username string `json:"username"`
		Password string `json:"password"`
	} `json:"relay"`
}

func (r ready) reading() reading.Server {
	return reading.Server{APIURL: r.APIURL, GraphQLURL: r.GraphQLURL, APIKey: r.APIKey}
}

// server is the binary under measurement, in a process of its own.
type server struct {
	Ready ready
	cmd   *exec.Cmd
	ended chan error
	log   string
}

const startLimit = time.Minute

// start runs the binary in development mode on a data directory below dir, which
// later starts find again, and waits until it is ready.
func start(ctx context.Context, binary, dir string, env ...string) (*server, error) {
	file := filepath.Join(dir, "ready.json")
	s := &server{log: filepath.Join(dir, "postrider.log"), ended: make(chan error, 1)}
	log, err := os.OpenFile(s.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	s.cmd = exec.CommandContext(ctx, binary, "dev", "--ready-file", file)
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(syscall.SIGTERM) }
	s.cmd.WaitDelay = startLimit
	s.cmd.Env = append(append(os.Environ(), "POSTRIDER_DATA_DIR="+filepath.Join(dir, "data"), "POSTRIDER_HTTP_ADDR=127.0.0.1:0"), env...)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { s.ended <- s.cmd.Wait() }()
	if err := s.waitReady(ctx, file); err != nil {
		return nil, fmt.Errorf("%w; its log: %s", err, process.Tail(s.log))
	}
	return s, os.Remove(file)
}

func (s *server) waitReady(ctx context.Context, file string) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if b, err := os.ReadFile(file); err == nil && json.Unmarshal(b, &s.Ready) == nil && s.Ready.APIKey != "" {
			return nil
		}
		select {
		case <-tick.C:
		case err := <-s.ended:
			return fmt.Errorf("postrider ended before it was ready: %w", err)
		case <-ctx.Done():
			s.stop()
			return fmt.Errorf("postrider was not ready within %s", startLimit)
		}
	}
}

// stop drains the server and waits for it.
func (s *server) stop() {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		fmt.Fprintln(os.Stderr, "bench: stop:", err)
	}
	if err := <-s.ended; err != nil {
		fmt.Fprintf(os.Stderr, "bench: postrider ended with %v; its log: %s\n", err, process.Tail(s.log))
	}
}
