package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	_ "github.com/lib/pq"

	"github.com/postrider/postrider/runtime/base/expect"
)

// process is a Postrider that runs as its users run it: in a separate process, in development mode, with
// embedded PostgreSQL.
type process struct {
	PID         int    `json:"pid"`
	PostgresPID int    `json:"postgres_pid"`
	DatabaseURL string `json:"database_url"`
	BaseURL     string `json:"base_url"`
	APIKey      string `json:"api_key"`
	AccountID   string `json:"account_id"`
	Relay       struct {
		Addr string `json:"addr"` // STARTTLS
	} `json:"relay"`

	command *exec.Cmd
	log     *expect.Log
	ended   func() error // waits
}

// launchProcess starts a process and waits until it is ready. The end of the test stops it.
func launchProcess(t *testing.T, dataDir string, args ...string) *process {
	t.Helper()
	ready := filepath.Join(t.TempDir(), "ready.json")
	p := startProcess(t, append([]string{"dev", "--data-dir", dataDir, "--http-addr=127.0.0.1:0", "--ready-file",
		ready}, args...)...)
	exited := make(chan error, 1)
	go func() { exited <- p.ended() }()
	expect.Eventually(t, "Postrider to be ready", func() bool {
		select {
		case err := <-exited:
			t.Fatalf("postrider exited before it was ready: %v", err)
		default:
		}
		content, err := os.ReadFile(ready)
		return err == nil && json.Unmarshal(content, p) == nil
	})
	return p
}

// startProcess starts a process without waiting for anything.
func startProcess(t *testing.T, args ...string) *process {
	t.Helper()
	return startProcessIn(t, nil, args...)
}

// startProcessIn starts a process with additional environment variables, in the form NAME=value.
func startProcessIn(t *testing.T, environment []string, args ...string) *process {
	t.Helper()
	p := &process{log: &expect.Log{}}
	p.command = exec.Command("postrider", args...)
	p.command.Env = append(os.Environ(), environment...)
	p.command.Stdout, p.command.Stderr = p.log, p.log
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	p.ended = sync.OnceValue(p.command.Wait)
	t.Cleanup(func() {
		if err := p.command.Process.Signal(syscall.SIGTERM); err == nil {
			_ = p.ended() // tests that care check the exit themselves
		}
		if t.Failed() {
			t.Logf("log of postrider:\n%s", p.log)
		}
	})
	return p
}

func (p *process) signal(t *testing.T, what os.Signal) {
	t.Helper()
	if err := p.command.Process.Signal(what); err != nil {
		t.Error(err)
	}
}

// do calls the API. Status 0 means that there was no response.
func (p *process) do(t *testing.T, method, path, key, body string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, p.BaseURL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	content, err := io.ReadAll(res.Body)
	if closeErr := res.Body.Close(); err != nil || closeErr != nil {
		return 0, "cut"
	}
	return res.StatusCode, string(content)
}

// query runs a query of one column in the database of the service.
func (p *process) query(t *testing.T, statement string, args ...any) (answer []string) {
	t.Helper()
	d, err := sql.Open("postgres", p.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := d.QueryContext(t.Context(), statement, args...)
	for err == nil && rows.Next() {
		answer = append(answer, "")
		err = rows.Scan(&answer[len(answer)-1])
	}
	if err == nil {
		err = rows.Err()
	}
	if err := errors.Join(err, d.Close()); err != nil {
		t.Fatalf("query %s: %v", statement, err)
	}
	return answer
}

// runPostrider runs a command and waits until it exits.
func runPostrider(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, log bytes.Buffer
	command := exec.CommandContext(t.Context(), "postrider", args...)
	command.Stdout, command.Stderr = &out, &log
	if err := command.Run(); command.ProcessState == nil {
		t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), out.String(), log.String()
}
