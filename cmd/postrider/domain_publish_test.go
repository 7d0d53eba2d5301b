package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// domains publish shows the change, writes it only with --write, and takes the record of the policy adviser.
func TestDomainsPublish(t *testing.T) {
	t.Parallel()
	const advised = "v=DMARC1; p=quarantine"
	advice, asked := fmt.Sprintf("%q", advised), map[string]any{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method + " " + r.URL.Path {
		case "GET /api/domains/dom_1/deliverability":
			fmt.Fprintf(w, `{"deliverability":{"advice":{"reason":"The policy is safe.","record":%s}}}`, advice)
		case "POST /api/domains/dom_1/dns-records/apply":
			asked = map[string]any{}
			if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
				t.Error(err)
			}
			fmt.Fprint(w, `{"dry_run":true,"unchanged":[],"conflicts":[],"applied":[{"type":"TXT","name":"_dmarc.example.com",
				"before":["v=DMARC1; p=none"],"after":["v=DMARC1; p=quarantine"],"reason":null}]}`)
		default:
			t.Errorf("unexpected request %s %s", r.Method, r.URL.Path)
		}
	}))
	t.Cleanup(server.Close)
	credentials := filepath.Join(t.TempDir(), "token.json")
	if err := os.WriteFile(credentials, []byte(`{"api_token":"secret"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(dmarc string, write bool) (string, error) {
		var out bytes.Buffer
		c := domainsPublishCommand{remote: remote{BaseURL: server.URL, APIKey: "pr_key"}, domainName: domainName{"dom_1"},
			Provider: "cloudflare", Credentials: credentials, Write: write, DMARC: dmarc}
		err := c.Run(&session{ctx: t.Context(), out: &out})
		return out.String(), err
	}
	for _, c := range []struct {
		dmarc, record string
		write         bool
		want          string
	}{
		{"", "<nil>", false, "Nothing was written."}, {"advice", advised, false, "To be written:"},
		{"v=DMARC1; p=none", "v=DMARC1; p=none", true, "Written:"},
	} {
		printed, err := run(c.dmarc, c.write)
		if err != nil || !strings.Contains(printed, c.want) || !strings.Contains(printed, "v=DMARC1; p=quarantine") {
			t.Errorf("--dmarc %q printed %q (%v), want %q", c.dmarc, printed, err, c.want)
		}
		if fmt.Sprint(asked["dmarc_record"]) != c.record || asked["dry_run"] == c.write || asked["provider"] != "cloudflare" {
			t.Errorf("--dmarc %q requested %v, want the record %s and dry_run %t", c.dmarc, asked, c.record, !c.write)
		}
	}
	advice = "null"
	if _, err := run("advice", true); err == nil || !strings.Contains(err.Error(), "no change: The policy is safe.") {
		t.Errorf("without an advice, the error is %v", err)
	}
}
