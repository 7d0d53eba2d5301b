package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// A backup is taken while mail is queued and restored after that mail was sent. Nothing is sent a second time
// before an operator has decided, and dropped mail is never sent.
func TestRestoreHoldsMailSentAfterBackup(t *testing.T) {
	t.Parallel()
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		restoreDrill(t, nil, nil, "--replace")
	})
	t.Run("external PostgreSQL", func(t *testing.T) {
		t.Parallel()
		restoreDrill(t, []string{"--database-url", dbtest.URL(t)}, []string{"--database-url", dbtest.EmptyURL(t)})
	})
}

// A backup is not restored with another master key, which could not decrypt its secrets.
func TestRestoreRequiresItsMasterKey(t *testing.T) {
	t.Parallel()
	const key, other = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", "c29tZSBtYXN0ZXIga2V5IG9mIDMyIGJ5dGVzLi4uLi4="
	var made struct{ Folder string }
	code, stdout, stderr := runPostrider(t, "backup", "--to", t.TempDir(), "--database-url", dbtest.URL(t),
		"--master-key", key)
	if err := json.Unmarshal([]byte(stdout), &made); code != 0 || err != nil {
		t.Fatalf("backup: code %d, %v\n%s%s", code, err, stdout, stderr)
	}
	restore := []string{"restore", "--from", made.Folder, "--database-url", dbtest.EmptyURL(t), "--master-key"}
	if code, _, stderr = runPostrider(t, append(restore, other)...); code != 1 ||
		!strings.Contains(stderr, "master key cannot decrypt") {
		t.Errorf("with another master key: code %d, want 1 and an explanation\n%s", code, stderr)
	}
	if code, _, stderr = runPostrider(t, append(restore, key)...); code != 0 {
		t.Errorf("with its master key: code %d\n%s", code, stderr)
	}
}

// restoreDrill has one installation before the failure and one after it, each with arguments that select its
// database. flags are those of the restore.
func restoreDrill(t *testing.T, before, after []string, flags ...string) {
	mx := smtptest.New(t, smtptest.Config{})
	data, folder := t.TempDir(), t.TempDir()
	outbound := fmt.Sprintf("--outbound=smtp://%s:%d", mx.Host(), mx.Port())
	tool := func(database []string, args ...string) []string {
		return append(append(args, "--data-dir", data), database...)
	}

	// Queue mail: this process only accepts.
	first := launchProcess(t, data, append(before, "--delivery-concurrency=0")...)
	for i := range 3 {
		first.send(t, fmt.Sprintf("waits-%d", i), "")
	}
	first.send(t, "scheduled", time.Now().Add(15*time.Second).UTC().Format(time.RFC3339Nano))
	code, stdout, stderr := runPostrider(t, tool(before, "backup", "--to", folder)...)
	var made struct{ Folder string }
	if err := json.Unmarshal([]byte(stdout), &made); code != 0 || err != nil {
		t.Fatalf("backup while the service runs: code %d, %v\n%s%s", code, err, stdout, stderr)
	}
	first.stop(t)

	// The mail is sent after the backup, along with a new message.
	second := launchProcess(t, data, append(before, outbound)...)
	second.send(t, "after the backup", "")
	expect.Eventually(t, "all five messages to be delivered", func() bool { return mx.Stats().Accepted == 5 })
	second.stop(t)
	failure := time.Now().UTC()

	if len(flags) > 0 {
		code, _, stderr = runPostrider(t, tool(after, "restore", "--from", made.Folder)...)
		if code != 1 || !strings.Contains(stderr, "already has a database") {
			t.Errorf("a restore over a database: code %d, want 1 and an explanation\n%s", code, stderr)
		}
	}
	code, _, stderr = runPostrider(t, append(tool(after, "restore", "--from", made.Folder), flags...)...)
	if code != 0 {
		t.Fatalf("restore: code %d\n%s", code, stderr)
	}

	// The installation is held and reports it. New mail is accepted and held too.
	third := launchProcess(t, data, append(after, outbound)...)
	third.send(t, "after the restore", "")
	_, health := third.do(t, http.MethodGet, "/readyz", "", "")
	if !strings.Contains(health, `"delivery":"degraded"`) || !strings.Contains(health, "delivery_held_seconds") {
		t.Errorf("/readyz returned %s, want it to report the hold", health)
	}
	third.awaitHeartbeats(t, 3)
	if got := mx.Stats().Accepted; got != 5 {
		t.Errorf("%d messages had arrived while the installation was held, want the 5 sent before", got)
	}
	if n := third.query(t, `SELECT count(*) FROM attempts`)[0]; n != "0" {
		t.Errorf("%s attempts were started while the installation was held, want none", n)
	}

	code, stdout, stderr = runPostrider(t,
		tool(after, "hold", "drop", "--due-before", failure.Format(time.RFC3339Nano))...)
	if code != 0 || !strings.Contains(stdout, `"recipients": 3`) || !strings.Contains(stdout, `"scheduled_emails": 1`) {
		t.Errorf("hold drop: code %d, want 3 recipients and 1 scheduled email\n%s%s", code, stdout, stderr)
	}
	code, stdout, stderr = runPostrider(t, tool(after, "hold", "release")...)
	if code != 0 || !strings.Contains(stdout, `"held": false`) {
		t.Errorf("hold release: code %d\n%s%s", code, stdout, stderr)
	}
	expect.Eventually(t, "mail accepted after the restore to be delivered",
		func() bool { return mx.Stats().Accepted == 6 })
	third.awaitHeartbeats(t, 2)
	if got := mx.Stats().Accepted; got != 6 {
		t.Errorf("%d messages arrived in total, want 6 without the dropped ones", got)
	}
	if n := third.query(t, `SELECT count(*) FROM emails WHERE status = 'failed'`)[0]; n != "4" {
		t.Errorf("%s emails failed, want the 4 dropped ones", n)
	}
	third.stop(t)
}

// send sends one email to a unique address, scheduled if at is not empty.
func (p *process) send(t *testing.T, subject, at string) {
	t.Helper()
	message := map[string]string{"from": "ada@dev.test", "to": "bob@example.net", "subject": subject, "text": "t"}
	if at != "" {
		message["scheduled_at"] = at
	}
	body, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	if status, answer := p.do(t, http.MethodPost, "/api/emails", p.APIKey, string(body)); status != http.StatusOK {
		t.Fatalf("POST of the email %q returned %d %s", subject, status, answer)
	}
}

// awaitHeartbeats waits for n heartbeats of the process. It has then claimed all the work that it may claim.
func (p *process) awaitHeartbeats(t *testing.T, n int) {
	t.Helper()
	const seen = `SELECT max(seen_at)::text FROM nodes`
	for range n {
		last := p.query(t, seen)[0]
		expect.Eventually(t, "a heartbeat of the process", func() bool { return p.query(t, seen)[0] != last })
	}
}

// stop ends the process as an operator would.
func (p *process) stop(t *testing.T) {
	t.Helper()
	p.signal(t, syscall.SIGTERM)
	if err := p.ended(); err != nil {
		t.Fatalf("the service exited with %v", err)
	}
}

// A restore with an invalid source or target is refused before anything is changed.
func TestRestoreRefusesInvalidBackup(t *testing.T) {
	t.Parallel()
	empty, damaged := t.TempDir(), t.TempDir()
	manifest := `{"taken_at":"2026-01-31T12:00:00Z","version":"v1","schema":"20260101000000","postgresql":15,"bytes":3,"sha256":"00"}`
	for name, content := range map[string]string{"backup.json": manifest, "database.dump": "abc"} {
		if err := os.WriteFile(filepath.Join(damaged, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	full := dbtest.URL(t)
	whole := t.TempDir()
	code, stdout, stderr := runPostrider(t, "backup", "--to", whole, "--database-url", full)
	var made struct{ Folder string }
	if err := json.Unmarshal([]byte(stdout), &made); code != 0 || err != nil {
		t.Fatalf("backup of an external database: code %d, %v\n%s%s", code, err, stdout, stderr)
	}
	for _, wrong := range []struct {
		what, word string
		args       []string
	}{
		{"a folder without a manifest", "is not a complete backup", []string{"restore", "--from", empty}},
		{"a dump that was changed", "is damaged", []string{"restore", "--from", damaged}},
		{"a database that is not empty", "is not empty", []string{"restore", "--from", made.Folder, "--database-url", full}},
		{"a backup without a database", "has no database", []string{"backup", "--to", whole, "--data-dir", empty}},
		{"a release without a hold", "is not held", []string{"hold", "release", "--database-url", full}},
		{"a drop without a hold", "is not held", []string{"hold", "drop", "--due-before", "2026-01-31T12:00:00Z", "--database-url", full}},
	} {
		if code, _, stderr := runPostrider(t, wrong.args...); code != 1 || !strings.Contains(stderr, wrong.word) {
			t.Errorf("%s: code %d, want 1 and %q\n%s", wrong.what, code, wrong.word, stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(empty, "postgres")); err == nil {
		t.Error("a command created a database in an empty folder")
	}
}

// A restore into a data directory in use is refused with the process id of the service.
func TestRestoreIntoUsedDirectoryIsRefused(t *testing.T) {
	t.Parallel()
	data, folder := t.TempDir(), t.TempDir()
	service := launchProcess(t, data)
	_, stdout, stderr := runPostrider(t, "backup", "--to", folder, "--data-dir", data)
	var made struct{ Folder string }
	if err := json.Unmarshal([]byte(stdout), &made); err != nil {
		t.Fatalf("backup: %v\n%s%s", err, stdout, stderr)
	}
	code, _, stderr := runPostrider(t, "restore", "--from", made.Folder, "--data-dir", data, "--replace")
	if code != 1 || !strings.Contains(stderr, fmt.Sprintf("%s is in use by process %d", data, service.PID)) {
		t.Errorf("a restore while a service runs: code %d, want 1 and the process id\n%s", code, stderr)
	}
}
