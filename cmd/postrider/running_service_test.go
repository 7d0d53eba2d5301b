package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/postrider/postrider/runtime/base/expect"
)

// While a service uses the data directory, commands use its database. When no service runs, they start a
// PostgreSQL server and stop it again.
func TestCommandsWhileServiceRuns(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	service := launchProcess(t, data)
	account, keyID, key := createKey(t, data, "beside@example.com")
	if status, answer := service.do(t, http.MethodGet, "/api/emails", key, ""); status != http.StatusOK {
		t.Errorf("a request with the new key returned %d %s", status, answer)
	}
	if code, _, stderr := runPostrider(t, "key", "revoke", "--data-dir", data, "--account", account, "--key",
		keyID); code != 0 {
		t.Errorf("key revoke: code %d\n%s", code, stderr)
	}
	expect.Eventually(t, "the revoked key to be refused", func() bool {
		status, _ := service.do(t, http.MethodGet, "/api/emails", key, "")
		return status == http.StatusUnauthorized
	})
	if code, _, stderr := runPostrider(t, "key", "revoke", "--data-dir", data, "--account", "acc_x", "--key",
		keyID); code != 1 || !strings.Contains(stderr, "No such") {
		t.Errorf("another account's key: code %d\n%s", code, stderr)
	}
	if code, _, stderr := runPostrider(t, "migrate", "--data-dir", data); code != 0 {
		t.Errorf("migrate: code %d\n%s", code, stderr)
	}
	// a machine that stalls sends no heartbeat in that time
	alive := func(args ...string) (code int, stdout, stderr string) {
		t.Helper()
		expect.Eventually(t, "the process to be alive", func() bool {
			code, stdout, stderr = runPostrider(t, append([]string{"nodes", "--data-dir", data}, args...)...)
			return code != 0 || strings.Contains(stdout, "alive")
		})
		return code, stdout, stderr
	}
	code, table, stderr := alive()
	if lines := strings.Split(strings.TrimSpace(table), "\n"); code != 0 || len(lines) != 2 ||
		!strings.HasPrefix(lines[0], "NAME") || !strings.Contains(lines[1], "  alive  ") ||
		!strings.Contains(lines[1], "accepts,delivers,webhooks") {
		t.Errorf("nodes: code %d\n%s%s", code, table, stderr)
	}
	var list struct {
		Nodes []struct {
			State     string
			Addresses []string
			Silent    float64 `json:"silent_seconds"`
		}
	}
	code, text, stderr := alive("--json")
	if err := json.Unmarshal([]byte(text), &list); code != 0 || err != nil || len(list.Nodes) != 1 ||
		list.Nodes[0].State != "alive" || !slices.Contains(list.Nodes[0].Addresses, "127.0.0.0/8") ||
		list.Nodes[0].Silent > 6 {
		t.Errorf("nodes --json: code %d, %v\n%s%s", code, err, text, stderr)
	}
	if code, stdout, stderr := runPostrider(t, "migrate", "--plan", "--data-dir", data); code != 0 ||
		!strings.Contains(stdout, "nothing to do") {
		t.Errorf("migrate --plan: code %d\n%s%s", code, stdout, stderr)
	}
	splitBeside(t, service, data)
	// A second service is refused with the process id of the first one.
	code, _, stderr = runPostrider(t, "dev", "--data-dir", data, "--http-addr=127.0.0.1:0")
	if code != 1 || !strings.Contains(stderr, fmt.Sprintf("%s is in use by process %d", data, service.PID)) {
		t.Errorf("second service: code %d\n%s", code, stderr)
	}
	service.signal(t, syscall.SIGTERM)
	if err := service.ended(); err != nil {
		t.Fatalf("the service exited with %v", err)
	}
	if err := syscall.Kill(service.PostgresPID, 0); err == nil {
		t.Error("PostgreSQL is still running")
	}
	checkEnd(t, service.log.String())
	createKey(t, data, "alone@example.com")
}

// splitBeside splits tables while a service keeps accepting mail, and reverts it.
func splitBeside(t *testing.T, service *process, data string) {
	t.Helper()
	service.query(t,
		`INSERT INTO nodes (started_at, name, version, roles, seen_at, claims_from) VALUES (now(), 'older', 'v0.1', '[]', now() + interval '1 hour', now()) RETURNING name`)
	code, stdout, stderr := runPostrider(t, "partition", "--data-dir", data, "webhook_deliveries")
	if want := "process older runs version v0.1"; code != 1 || !strings.Contains(stderr, want) ||
		strings.Contains(stdout, "is split") {
		t.Errorf("with a process of an older version: code %d, want 1 and %q\n%s%s", code, want, stdout, stderr)
	}
	service.query(t, `DELETE FROM nodes WHERE name = 'older' RETURNING name`)
	// The check is about the schema that a process supports, not the name of its version.
	service.query(t,
		`INSERT INTO nodes (started_at, name, version, schema, roles, seen_at, claims_from) SELECT now(), 'other', 'v9', schema, '[]', now() + interval '1 hour', now() FROM nodes RETURNING name`)
	for _, step := range []struct {
		arguments []string
		want      string
		not       string
	}{
		{[]string{"--plan"}, "PARTITION BY RANGE (id)", "emails_rest  "},
		{nil, "attempts is split; requests waited for ", "plain"},
		{nil, "emails_rest", "is split"}, // already split
		{[]string{"--undo", "facts"}, "facts is plain", "facts_rest"},
		{[]string{"facts"}, "facts_rest", "emails"},
		{[]string{"--undo", "emails"}, "the references to emails now cover the whole table", "emails_rest"}, // recipients stays split
		{[]string{"--undo"}, "recipients is plain", "rest"},
	} {
		code, stdout, stderr := runPostrider(t, append([]string{"partition", "--data-dir", data}, step.arguments...)...)
		if code != 0 || !strings.Contains(stdout, step.want) || strings.Contains(stdout, step.not) {
			t.Errorf("partition %v: code %d, want %q and not %q\n%s%s", step.arguments, code, step.want, step.not,
				stdout, stderr)
		}
		service.send(t, "Hello", "")
	}
	if code, _, stderr := runPostrider(t, "partition", "--data-dir", data, "attachments"); code != 2 {
		t.Errorf("a table that cannot be split: code %d\n%s", code, stderr)
	}
	expect.Eventually(t, "mail from before and after the change to be delivered", func() bool {
		return service.query(t, `SELECT count(*) FROM emails WHERE subject = 'Hello' AND status <> 'sent'`)[0] == "7"
	})
}

// createKey creates an account and an API key with the command line.
func createKey(t *testing.T, data, email string) (account, keyID, secret string) {
	t.Helper()
	code, stdout, stderr := runPostrider(t, "account", "create", "--data-dir", data, "--name=N", "--email", email)
	var made struct {
		Account struct{ ID string }
		APIKey  struct{ ID string } `json:"api_key"`
		Secret  string
	}
	if err := json.Unmarshal([]byte(stdout), &made); code != 0 || err != nil {
		t.Fatalf("account create: code %d, %v\n%s%s", code, err, stdout, stderr)
	}
	code, stdout, stderr = runPostrider(t, "key", "create", "--data-dir", data, "--name=n", "--account",
		email)
	if err := json.Unmarshal([]byte(stdout), &made); code != 0 || err != nil ||
		!strings.HasPrefix(made.Secret, "svc_") {
		t.Fatalf("key create: code %d, %v\n%s%s", code, err, stdout, stderr)
	}
	return made.Account.ID, made.APIKey.ID, made.Secret
}

// checkEnd checks that the last log line reports the end of the process.
func checkEnd(t *testing.T, log string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(log), "\n")
	if last := lines[len(lines)-1]; !strings.Contains(last, `msg="stopped: all work finished" duration=`) {
		t.Errorf("the last line is %s", last)
	}
}

// A process that is stopped during its start exits without an error, and the next start continues. A command
// waits for a service whose database is still being created.
func TestStopDuringStart(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	for _, moment := range []string{"first start: creating the database", "embedded postgres is ready",
		"migration applied"} {
		service := startProcess(t, "dev", "--data-dir", data, "--http-addr=127.0.0.1:0")
		expect.Eventually(t, moment, func() bool { // it may get further before the signal arrives
			return strings.Contains(service.log.String(), moment) ||
				strings.Contains(service.log.String(), "Postrider is ready")
		})
		service.signal(t, syscall.SIGTERM)
		if err := service.ended(); err != nil {
			t.Errorf("stopped at %q: the service exited with %v", moment, err)
		}
	}
	service := startProcess(t, "dev", "--data-dir", data, "--http-addr=127.0.0.1:0")
	expect.Eventually(t, "the service to lock the data directory", func() bool {
		return strings.Contains(service.log.String(), "embedded postgres is ready")
	})
	createKey(t, data, "early@example.com")
	service.signal(t, syscall.SIGTERM)
	if err := service.ended(); err != nil {
		t.Errorf("the last service exited with %v", err)
	}
	away := startProcess(t, "dev", "--data-dir", t.TempDir(), "--http-addr=127.0.0.1:0",
		"--database-url=postgres://u@127.0.0.1:1/d?sslmode=disable")
	expect.Eventually(t, "it to wait for the database", func() bool {
		return strings.Contains(away.log.String(), "database unavailable, retrying")
	})
	away.signal(t, os.Interrupt)
	if err := away.ended(); err != nil {
		t.Errorf("the service without a database exited with %v", err)
	}
}
