package main

import (
	"crypto/tls"
	"encoding/json"
	"net"
	"net/http"
	"net/smtp"
	"regexp"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// All new ids and keys of a cell name it. They keep working when the number changes.
func TestServiceOfACell(t *testing.T) {
	t.Parallel()
	data, database := t.TempDir(), dbtest.URL(t)
	launch := func(more ...string) *process {
		return launchProcess(t, data, append(more, "--database-url", database)...)
	}
	create := func(p *process, path, body string, into any) {
		t.Helper()
		status, answer := p.do(t, http.MethodPost, path, p.APIKey, body)
		if err := json.Unmarshal([]byte(answer), into); status/100 != 2 || err != nil {
			t.Fatalf("POST %s returned %d %s, %v", path, status, answer, err)
		}
	}
	var email struct{ ID string }
	var key struct{ Secret string }
	var credential struct{ Password string }

	service := launch("--cell=7", "--node=first")
	create(service, "/api/emails", `{"from":"ada@dev.test","to":"bob@example.net","subject":"s","text":"t"}`, &email)
	create(service, "/api/api-keys", `{"name":"n"}`, &key)
	create(service, "/api/smtp-credentials", `{"name":"n"}`, &credential)
	if id.Cell(service.AccountID) != 7 || id.Cell(email.ID) != 7 || !strings.HasPrefix(service.APIKey, "svc_7_") ||
		!strings.HasPrefix(key.Secret, "svc_7_") || !strings.HasPrefix(credential.Password, "svs_7_") {
		t.Errorf("cell 7 created account %s, email %s, keys %.8s and %.8s, and password %.8s", service.AccountID, email.ID,
			service.APIKey, key.Secret, credential.Password)
	}
	submit(t, service, credential.Password)
	// A command without the setting uses the cell of the service.
	code, stdout, stderr := runPostrider(t, "key", "create", "--database-url", database, "--data-dir", data, "--name=n",
		"--account", service.AccountID)
	if code != 0 || !strings.Contains(stdout, `"svc_7_`) {
		t.Errorf("key create without the setting: code %d, want a key of cell 7\n%s%s", code, stdout, stderr)
	}
	expect.Eventually(t, "both emails to be delivered", func() bool {
		return service.query(t, `SELECT count(*) FROM facts WHERE type = 'email.delivered'`)[0] == "2"
	})
	for _, fact := range service.query(t, `SELECT id FROM facts`) {
		if id.Cell(fact) != 7 {
			t.Errorf("event %s names cell %d, want 7", fact, id.Cell(fact))
		}
	}

	other := launch("--cell=8", "--node=second")
	if log := other.log.String(); !strings.Contains(log, "different POSTRIDER_CELL") ||
		!strings.Contains(log, "other=first other_cell=7") {
		t.Errorf("a process of another cell does not report the first one:\n%s", log)
	}
	code, stdout, stderr = runPostrider(t, "admin", "nodes", "--database-url", database, "--data-dir", data)
	if !regexp.MustCompile(`(?m)^first +alive +\S+ +7 `).MatchString(stdout) ||
		!regexp.MustCompile(`(?m)^second +alive +\S+ +8 `).MatchString(stdout) {
		t.Errorf("admin nodes: code %d, want one process of cell 7 and one of cell 8\n%s%s", code, stdout, stderr)
	}
	for _, p := range []*process{service, other} {
		for _, secret := range []string{service.APIKey, key.Secret} {
			if status, answer := p.do(t, http.MethodGet, "/api/emails/"+email.ID, secret, ""); status != http.StatusOK {
				t.Errorf("a key of cell 7 received %d %s for an email of cell 7", status, answer)
			}
		}
	}
	submit(t, other, credential.Password)
	create(other, "/api/api-keys", `{"name":"n"}`, &key)
	if !strings.HasPrefix(key.Secret, "svc_8_") {
		t.Errorf("after the change to cell 8, a new key begins with %.8s", key.Secret)
	}
}

// submit sends an email over SMTP.
func submit(t *testing.T, p *process, password string) {
	t.Helper()
	host, _, err := net.SplitHostPort(p.Relay.Addr)
	if err != nil {
		t.Fatal(err)
	}
	client, err := smtp.Dial(p.Relay.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }() // after Quit
	for _, step := range []func() error{
		// the certificate of development mode is self-signed
		func() error {
			return client.StartTLS(&tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12})
		},
		func() error { return client.Auth(smtp.PlainAuth("", "postrider", password, host)) },
		func() error { return client.Mail("ada@dev.test") },
		func() error { return client.Rcpt("carol@example.net") },
		func() error {
			body, err := client.Data()
			if err != nil {
				return err
			}
			if _, err := body.Write([]byte("From: ada@dev.test\r\nTo: carol@example.net\r\nSubject: s\r\n\r\nt\r\n")); err != nil {
				return err
			}
			return body.Close()
		},
		client.Quit,
	} {
		if err := step(); err != nil {
			t.Fatalf("submit with the password %.8s…: %v", password, err)
		}
	}
}
