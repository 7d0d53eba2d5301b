package faults

import (
	"bytes"
	"context"
	"crypto/tls"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/lib/pq" // the driver

	"github.com/postrider/postrider/runtime/base/expect"
)

// Server is a Postrider in its own process. After it is killed and started again it is the same server, with
// the same data and the same port.
type Server struct {
	t        testing.TB
	database string
	data     string
	env      []string
	program  string // empty: the program to test
	within   *Cgroup
	client   *http.Client

	mu      sync.Mutex
	command *exec.Cmd
	ended   func() error
	ready   string // the ready file
	address string // address of its listener, once known
	Log     *expect.Log

	// Contents of the ready file.
	BaseURL   string `json:"base_url"`
	APIKey    string `json:"api_key"`
	AccountID string `json:"account_id"`
	Inbound   string `json:"inbound_addr"`
	Owner     struct{ Email, Password string }
}

// Start runs the program in development mode on a database. env is NAME=value.
func Start(t testing.TB, database string, env ...string) *Server {
	t.Helper()
	return StartAs(t, "", database, env...)
}

// StartAs is Start for another program.
func StartAs(t testing.TB, program, database string, env ...string) *Server {
	t.Helper()
	s := newServer(t, program, database, env...)
	s.Launch()
	return s
}

// StartWithin is Start in a cgroup.
func StartWithin(t testing.TB, c *Cgroup, database string, env ...string) *Server {
	t.Helper()
	s := newServer(t, "", database, env...)
	s.within = c
	s.Launch()
	return s
}

func newServer(t testing.TB, program, database string, env ...string) *Server {
	s := &Server{t: t, database: database, data: t.TempDir(), env: env, program: program, address: "127.0.0.1:0",
		Log:    &expect.Log{},
		client: newClient()}
	t.Cleanup(func() {
		s.client.CloseIdleConnections()
		if s.Running() {
			s.Signal(syscall.SIGCONT)
			s.Signal(syscall.SIGTERM)
			_ = s.Ended() // a test that needs the error has read it before
		}
		if t.Failed() {
			t.Logf("end of the log of postrider:\n%s", tail(s.Log.String()))
		}
	})
	return s
}

// StartPeer starts another process on the same database, with the same keys.
func (s *Server) StartPeer() *Server {
	s.t.Helper()
	return s.Moved(s.database, slices.Clone(s.env)...)
}

// Moved returns the server, with its keys, on a database to which its own has been moved. env overrides its
// settings.
func (s *Server) Moved(database string, env ...string) *Server {
	s.t.Helper()
	return StartAs(s.t, s.program, database, append(env, "POSTRIDER_DATA_DIR="+s.data)...)
}

// Fresh starts another process on a database, with the same keys and settings, which need not become ready:
// AwaitReady waits until it is.
func (s *Server) Fresh(database string) *Server {
	s.t.Helper()
	fresh := newServer(s.t, s.program, database,
		append(slices.Clone(s.env), "POSTRIDER_DATA_DIR="+s.data, "POSTRIDER_NODE=fresh")...)
	fresh.begin()
	return fresh
}

// newClient returns a client with the time limit of a test. Tests that expect a faster response set their
// own limit.
func newClient() *http.Client {
	return &http.Client{Timeout: expect.Patience, Transport: &http.Transport{MaxIdleConnsPerHost: 64,
		// the certificates of tests are self-signed
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}}}
}

func tail(text string) string { return text[max(0, len(text)-6000):] }

// Launch starts the process again after it has exited, and returns when it is ready.
func (s *Server) Launch() {
	s.t.Helper()
	s.begin()
	s.AwaitReady()
}

func (s *Server) begin() {
	s.t.Helper()
	s.ready = filepath.Join(s.t.TempDir(), "ready.json")
	s.mu.Lock()
	line := []string{s.binary(), "dev", "--ready-file", s.ready}
	if s.within != nil {
		line = s.within.command(line[0], line[1:]...)
	}
	s.command = exec.Command(line[0], line[1:]...)
	s.command.Env = append(append(os.Environ(), "DATABASE_URL="+s.database, "POSTRIDER_DATA_DIR="+s.data,
		"POSTRIDER_HTTP_ADDR="+s.address, "POSTRIDER_INBOUND_ADDR=127.0.0.1:0"), s.env...)
	s.command.Stdout, s.command.Stderr = s.Log, s.Log
	err := s.command.Start()
	s.ended = sync.OnceValue(s.command.Wait)
	s.mu.Unlock()
	if err != nil {
		s.t.Fatal(err)
	}
}

// AwaitReady returns when the process is ready.
func (s *Server) AwaitReady() {
	s.t.Helper()
	s.mu.Lock()
	ended := s.ended
	s.mu.Unlock()
	exited := make(chan error, 1)
	go func() { exited <- ended() }()
	expect.Eventually(s.t, "ready", func() bool {
		select {
		case err := <-exited:
			s.t.Fatalf("postrider exited before it was ready: %v", err)
		default:
		}
		content, err := os.ReadFile(s.ready)
		s.mu.Lock()
		defer s.mu.Unlock()
		return err == nil && json.Unmarshal(content, s) == nil
	})
	s.mu.Lock()
	if plain, is := strings.CutPrefix(s.BaseURL, "http://"); is {
		s.address = plain
	}
	s.mu.Unlock()
}

// Database returns the URL of its database.
func (s *Server) Database() string { return s.database }

// Running reports whether the process is running.
func (s *Server) Running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.command != nil && s.command.ProcessState == nil && s.command.Process.Signal(syscall.Signal(0)) == nil
}

// PID returns the id of the process.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.command.Process.Pid
}

// Signal sends a signal to the process.
func (s *Server) Signal(what os.Signal) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.command.Process.Signal(what); err != nil && !errors.Is(err, os.ErrProcessDone) {
		s.t.Errorf("signal postrider: %v", err)
	}
}

// Ended waits until the process has exited.
func (s *Server) Ended() error { return s.ended() }

// Kill kills the process, and waits until the database has noticed: a statement in progress is then either
// done or undone.
func (s *Server) Kill() {
	s.t.Helper()
	s.Signal(syscall.SIGKILL)
	_ = s.Ended() // ended by the signal
	expect.Eventually(s.t, "the database has closed the connections", func() bool {
		return s.Query(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`)[0][0] == "0"
	})
}

// Stop drains the server.
func (s *Server) Stop() error {
	s.Signal(syscall.SIGTERM)
	return s.Ended()
}

// Answer is the response to a request; status 0 means none.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	Took   time.Duration
}

// Do sends a request to the server. header alternates names and values.
func (s *Server) Do(ctx context.Context, method, path, body string, header ...string) (a Answer) {
	begin := time.Now()
	defer func() { a.Took = time.Since(begin) }()
	s.mu.Lock()
	address, key := s.BaseURL+path, s.APIKey
	s.mu.Unlock()
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader([]byte(body)))
	if err != nil {
		return Answer{}
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := s.client.Do(req)
	if err != nil {
		return Answer{}
	}
	content, err := io.ReadAll(res.Body)
	if closeErr := res.Body.Close(); err != nil || closeErr != nil {
		return Answer{}
	}
	return Answer{Status: res.StatusCode, Header: res.Header, Body: content}
}

// ClosesConnections reports whether the server closes a connection with its response.
func (s *Server) ClosesConnections(ctx context.Context) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.BaseURL+"/healthz", http.NoBody)
	if err != nil {
		return false
	}
	answer, err := s.client.Do(request)
	if err != nil {
		return false
	}
	return answer.Body.Close() == nil && answer.Close
}

// binary returns the program that the server runs.
func (s *Server) binary() string {
	if s.program != "" {
		return s.program
	}
	return binary(s.t)
}

// Command runs a command of the program on a database, with the server's keys, and returns its output.
func (s *Server) Command(database string, args ...string) []byte {
	s.t.Helper()
	printed, told, err := s.Try(database, args...)
	if err != nil {
		s.t.Fatalf("postrider %s: %v: %s", strings.Join(args, " "), err, told)
	}
	return printed
}

// Try is Command for a command that may fail; told is its standard error.
func (s *Server) Try(database string, args ...string) (printed, told []byte, err error) {
	s.t.Helper()
	return s.TryUntil(s.t.Context(), database, args...)
}

// TryUntil is Try for a command that is killed when ctx ends.
func (s *Server) TryUntil(ctx context.Context, database string, args ...string) (printed, told []byte, err error) {
	s.t.Helper()
	command := exec.CommandContext(ctx, s.binary(), args...)
	command.Env = append(append(os.Environ(), s.env...), "DATABASE_URL="+database, "POSTRIDER_DATA_DIR="+s.data)
	var said bytes.Buffer
	command.Stderr = &said
	printed, err = command.Output()
	return printed, said.Bytes(), err
}

// Query queries the database on a separate connection, and returns all values as text.
func (s *Server) Query(statement string, args ...any) [][]string {
	s.t.Helper()
	rows, err := Query(s.t.Context(), s.database, statement, args...)
	if err != nil {
		s.t.Fatalf("the query %s failed: %v", statement, err)
	}
	return rows
}

// Query queries a database on a separate connection, and returns all values as text.
func Query(ctx context.Context, database, statement string, args ...any) (out [][]string, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), expect.Patience)
	defer cancel()
	d, err := sql.Open("postgres", database)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	rows, err := d.QueryContext(ctx, statement, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		row, into := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		line := make([]string, len(names))
		for i, v := range row {
			line[i] = v.String
		}
		out = append(out, line)
	}
	return out, rows.Err()
}
