package main

import (
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/test/harness"
)

var setUpLink = regexp.MustCompile(`(http://\S+)/setup#(\S+)`)

// A new service prints one setup link, which creates the first user. The link works once. Afterwards, access requires
// credentials, and later starts print no link. The port for inbound mail is in use, as on a machine with another mail
// server; without root, the service may not listen on it anyway.
func TestNewServicePrintsOneSetupLink(t *testing.T) {
	t.Parallel()
	if other, err := new(net.ListenConfig).Listen(t.Context(), "tcp", ":25"); err == nil {
		t.Cleanup(func() { other.Close() })
	}
	port := freePort(t)
	base, at := "http://mail.postrider.test:"+strconv.Itoa(port), "127.0.0.1:"+strconv.Itoa(port)
	environment := []string{"POSTRIDER_MASTER_KEY=" + strings.Repeat("QUFB", 10) + "QUE="}
	arguments := []string{"serve", "--data-dir", t.TempDir(), "--http-addr=" + at, "--base-url=" + base,
		"--hostname=postrider.test",
		"--modules=-relay,-inbound"}
	p := startProcessIn(t, environment, arguments...)
	p.BaseURL = "http://" + at
	expect.Eventually(t, "the service to print a setup link",
		func() bool { return setUpLink.MatchString(p.log.String()) })
	links := setUpLink.FindAllStringSubmatch(p.log.String(), -1)
	if len(links) != 1 || links[0][1] != base {
		t.Fatalf("the service printed %v, want one link at %s", links, base)
	}
	body := `{"token":"` + links[0][2] +
		`","email":"ada@example.com","password":"green paper horses run","account_name":"Acme"}`
	for _, path := range []string{"/api/session", "/api/members", "/api/emails", "/api/account"} {
		if status, answer := p.do(t, http.MethodGet, path, "", ""); status != http.StatusUnauthorized {
			t.Errorf("GET %s without credentials: %d %s, want 401", path, status, answer)
		}
	}
	other := "x" // one in 62 tokens starts with this character
	if strings.HasPrefix(links[0][2], other) {
		other = "y"
	}
	if status, answer := p.do(t, http.MethodPost, "/api/setup", "",
		strings.Replace(body, links[0][2], other+links[0][2][1:], 1)); status != http.StatusNotFound {
		t.Errorf("a link with a wrong token: %d %s, want 404", status, answer)
	}
	if status, answer := p.do(t, http.MethodPost, "/api/setup", "", body); status != http.StatusOK ||
		!strings.Contains(answer, `"operator":true`) {
		t.Fatalf("setup: %d %s, want the operator", status, answer)
	}
	if status, answer := p.do(t, http.MethodPost, "/api/setup", "", body); status != http.StatusNotFound {
		t.Errorf("the link a second time: %d %s, want 404", status, answer)
	}
	if strings.Contains(strings.ReplaceAll(p.log.String(), links[0][0], ""), links[0][2]) {
		t.Error("the log contains the token of the link")
	}
}

// In a real browser: the operator of a new installation sets it up, and every command that the dashboard prints works
// as printed.
func TestPrintedCommandsWorkInProduction(t *testing.T) {
	expect.SkipWhenQuick(t, "make ui-test")
	t.Parallel()
	link := startProduction(t, nil)
	t.Log(harness.Script(t, "commands.mjs", "SETUP="+link, "LINK="+link))
}

// In a real browser, in production: open, send, see it delivered, add a domain, receive a webhook. FILM is a folder for
// the frames.
func TestTheFirstTwoMinutesInProduction(t *testing.T) {
	expect.SkipWhenQuick(t, "make ui-test")
	t.Parallel()
	zone, mx := dnsxtest.New(t), smtptest.New(t, smtptest.Config{})
	zone.Add(t, "example.com. 60 IN MX 10 mx.example.com.", "mx.example.com. 60 IN A "+mx.Host())
	var hooks atomic.Int32
	app := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hooks.Add(1) }))
	t.Cleanup(app.Close)
	authority := filepath.Join(t.TempDir(), "authority.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: app.Certificate().Raw})
	if err := os.WriteFile(authority, certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	link := startProduction(t, []string{"SSL_CERT_FILE=" + authority}, "--dns="+zone.Addr(),
		"--mx-port="+strconv.Itoa(mx.Port()), "--mx-allow=127.0.0.0/8", "--webhook-allow=127.0.0.0/8")
	harness.Script(t, "film.mjs", "SETUP="+link, "LINK="+link, "ZONE="+harness.ServeZone(t, zone), "HOOK="+app.URL)
	if messages := mx.Messages(); len(messages) != 1 || hooks.Load() != 1 {
		t.Errorf("the recipient's server accepted %d messages and the app received %d events, want 1 of each",
			len(messages), hooks.Load())
	}
}

// startProduction starts a new installation in production mode and returns its setup link.
func startProduction(t *testing.T, environment []string, args ...string) string {
	t.Helper()
	at := "localhost:" + strconv.Itoa(freePort(t))
	p := startProcessIn(t, append(environment, "POSTRIDER_MASTER_KEY="+strings.Repeat("QUFB", 10)+"QUE="),
		append([]string{"serve", "--data-dir", t.TempDir(), "--http-addr=" + at, "--base-url=http://" + at,
			"--hostname=postrider.test", "--sandbox-domain=sandbox.postrider.test",
			"--return-path-host=rp.postrider.test", "--spf-include=spf.postrider.test",
			"--smtp-host=smtp.postrider.test", "--modules=-relay,-inbound"}, args...)...)
	expect.Eventually(t, "the service to print a setup link",
		func() bool { return setUpLink.MatchString(p.log.String()) })
	return setUpLink.FindString(p.log.String())
}
