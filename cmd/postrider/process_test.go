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

// process is a Postrider that runs as users run it: in a process of its own, in
// development mode, on the embedded PostgreSQL.
type process struct {
	PID         int    `json:"pid"`
	PostgresPID int    `json:"postgres_pid"`
	DatabaseURL string `json:"database_url"`
	BaseURL     string `json:"base_url"`
	APIKey      string `json:"api_key"`

	command *exec.Cmd
	log     *expect.Log
	ended   func() error // waits
}

// launch starts one and returns when it is ready. It ends with the test.
func launch(t *testing.T, dataDir string, args ...string) *process {
	t.Helper()
	ready := filepath.Join(t.TempDir(), "ready.json")
	p := begun(t, append([]string{"dev", "--data-dir", dataDir, "--http-addr=127.0.0.1:0", "--ready-file", ready}, args...)...)
	exited := make(chan error, 1)
	go func() { exited <- p.ended() }()
	expect.Eventually(t, "ready", func() bool {
		select {
		case err := <-exited:
			t.Fatalf("postrider ended before it was ready: %v", err)
		default:
		}
		content, err := os.ReadFile(ready)
		return err == nil && json.Unmarshal(content, p) == nil
	})
	return p
}

// begun starts one and does not wait for anything.
func begun(t *testing.T, args ...string) *process {
	t.Helper()
	return begunIn(t, nil, args...)
}

// begunIn is begun with further variables of the environment, NAME=value.
func begunIn(t *testing.T, environment []string, args ...string) *process {
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
			_ = p.ended() // what a stop is worth is the test's business
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

// do calls the API; status 0 means that there was no answer.
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

// query asks the service's database for one column.
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
		t.Fatalf("the query %s failed: %v", statement, err)
	}
	return answer
}

// postrider runs a command to its end.
func postrider(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, log bytes.Buffer
	command := exec.CommandContext(t.Context(), "postrider", args...)
	command.Stdout, command.Stderr = &out, &log
	if err := command.Run(); command.ProcessState == nil {
		t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), out.String(), log.String()
}
