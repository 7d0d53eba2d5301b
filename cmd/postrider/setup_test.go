package main

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/test/harness"
)

var setUpLink = regexp.MustCompile(`(http://\S+)/setup#(\S+)`)

// A new service prints one setup link, which creates the first user. The link works once. Afterwards, access
// requires credentials, and later starts print no link.
func TestNewServicePrintsOneSetupLink(t *testing.T) {
	t.Parallel()
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
	at := "localhost:" + strconv.Itoa(freePort(t))
	p := startProcessIn(t, []string{"POSTRIDER_MASTER_KEY=" + strings.Repeat("QUFB", 10) + "QUE="}, "serve",
		"--data-dir", t.TempDir(), "--http-addr="+at, "--base-url=http://"+at, "--hostname=postrider.test",
		"--sandbox-domain=sandbox.postrider.test", "--return-path-host=rp.postrider.test",
		"--spf-include=spf.postrider.test", "--smtp-host=smtp.postrider.test", "--modules=-relay,-inbound")
	expect.Eventually(t, "the service to print a setup link",
		func() bool { return setUpLink.MatchString(p.log.String()) })
	link := setUpLink.FindString(p.log.String())
	t.Log(harness.Script(t, "commands.mjs", "SETUP="+link, "LINK="+link))
}
