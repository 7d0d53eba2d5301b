package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// domains deliverability prints everything that leads to an action, and nothing that controls the terminal.
func TestDomainsDeliverability(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/domains/dom_1/deliverability" {
			t.Errorf("unexpected request %s %s", r.Method, r.URL.Path)
		}
		week := `{"recipients":410,"delivered":405,"delayed":3,"bounced":2,"complained":0,"median_seconds":1.8}`
		fmt.Fprint(w, `{"deliverability":{"domain_id":"dom_1","domain":"example.com","since":"2026-01-01","until":"2026-01-30","grade":"poor",
			"requirements":[{"code":"alignment","state":"broken","since":"2024-02-01","found":"80 % passes.","fix":"Sign the mail."}],
			"advice":{"verdict":"quarantine","reason":"It is safe.","record":"v=DMARC1; p=quarantine"},
			"placement":[{"provider":"Gmail","recipient_domains":["gmail.com"],"last_7_days":`+week+`,"previous_7_days":`+week+`,
				"causes":[{"cause":"block","recipients":3,"reason":"It distrusts you.","fix":"Ask it.","reply":"550 Blocked\u001b[2J"}]}],
			"bimi":[{"code":"logo_shape","state":"broken","found":"It is not square.","fix":"Make it square."}],
			"sources":[{"address":"192.0.2.25","name":"out.example.org","ours":true,"messages":10,"dmarc":9,"at_risk":1}],
			"tls":{"reports":0}}}`)
	}))
	t.Cleanup(server.Close)
	run := func(form output) string {
		var out bytes.Buffer
		c := domainsDeliverabilityCommand{remote: remote{BaseURL: server.URL, APIKey: "pr_key"}, domainName: domainName{"dom_1"}, output: form}
		if err := c.Run(&session{ctx: t.Context(), out: &out}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	printed := run(output{})
	for _, want := range []string{"example.com, 2026-01-01 to 2026-01-30: poor", "Sign the mail.", "DMARC policy: quarantine. It is safe.",
		"Publish at _dmarc.example.com: v=DMARC1; p=quarantine", "Gmail", "1.8", "It distrusts you.", "550 Blocked",
		"logo_shape", "Make it square.", "out.example.org"} {
		if !strings.Contains(printed, want) {
			t.Errorf("the output lacks %q:\n%s", want, printed)
		}
	}
	if strings.Contains(printed, "\x1b") {
		t.Errorf("the output has control characters: %q", printed)
	}
	if quiet := run(output{Quiet: true}); quiet != "dom_1\n" {
		t.Errorf("--quiet printed %q", quiet)
	}
	if form := run(output{JSON: true}); !strings.Contains(form, `"median_seconds": 1.8`) && !strings.Contains(form, `"median_seconds":1.8`) {
		t.Errorf("--json printed %s", form)
	}
}
