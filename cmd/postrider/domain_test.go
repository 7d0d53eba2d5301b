package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
)

// An operator checks a customer's domain: on the machine of the running service, through its data directory,
// and from any machine, through the address of the database.
func TestDomainCheckAgainstADatabase(t *testing.T) {
	t.Parallel()
	zone, data := dnsxtest.New(t), t.TempDir()
	service := launchProcess(t, data, "--dns", zone.Addr())
	records := addDomain(t, service, "customer.example")
	beside := []string{"domain", "check", "--data-dir", data, "--dns", zone.Addr(), "customer.example"}
	byURL := []string{"domain", "check", "--data-dir", t.TempDir(), "--database-url", service.DatabaseURL, "--dns",
		zone.Addr(), "customer.example"}

	out := checkDomain(t, 1, "postrider: DNS records are missing or wrong", beside...)
	if n := strings.Count(out, " missing "); n != 5 ||
		!strings.Contains(out, "Publish a TXT record at _service.customer.example") {
		t.Errorf("before anything is published:\n%s", out)
	}
	for _, r := range records {
		zone.Add(t, r.zoneLine())
	}
	for _, command := range [][]string{beside, byURL} {
		if out := checkDomain(t, 0, "", command...); strings.Count(out, " verified ") != 5 ||
			strings.Contains(out, " missing ") {
			t.Errorf("after everything is published:\n%s", out)
		}
	}

	// A control panel added quotation marks around the key. The values still compare as equal, and only a
	// signature shows that receivers cannot use the record.
	key := records["dkim"]
	key.Value = `"` + key.Value + `"`
	zone.Set(t, key.Name, key.zoneLine())
	if out := checkDomain(t, 1, "missing or wrong", beside...); !strings.Contains(out,
		"a sample signature could not be verified") || strings.Contains(out, "no sample was signed") {
		t.Errorf("with the master key of the data directory:\n%s", out)
	}
	if out := checkDomain(t, 0, "", byURL...); !strings.Contains(out, "no sample was signed") {
		t.Errorf("without a master key:\n%s", out)
	}
	master, err := os.ReadFile(filepath.Join(data, "master.key"))
	if err != nil {
		t.Fatal(err)
	}
	if out := checkDomain(t, 1, "missing or wrong",
		append(byURL, "--master-key", strings.TrimSpace(string(master)))...); !strings.Contains(out,
		"a sample signature could not be verified") {
		t.Errorf("with the master key:\n%s", out)
	}
	checkDomain(t, 1, "open dkim key", append(byURL, "--master-key", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE=")...)
	checkDomain(t, 1, "No such domain", append(beside, "--account", "acc_01kf0m4w7he6x8q2v5b3n9c1ta")...)
	checkDomain(t, 1, "No such domain", append(beside[:len(beside)-1:len(beside)-1], "other.example")...)
	checkDomain(t, 1, "of the installation itself", append(beside[:len(beside)-1:len(beside)-1], "dev.test")...)
	if seen := service.query(t,
		`SELECT status || ' ' || check_attempts FROM domains WHERE name = 'customer.example'`); len(seen) != 1 || seen[0] != "pending 0" {
		t.Errorf("the command changed the domain: %v", seen)
	}
}

// checkDomain runs the command, and checks its exit code and the end of its error output.
func checkDomain(t *testing.T, code int, says string, args ...string) (table string) {
	t.Helper()
	got, stdout, stderr := runPostrider(t, args...)
	if got != code || !strings.Contains(stderr, says) {
		t.Errorf("%v: code %d, want %d\n%s%s", args, got, code, stdout, stderr)
	}
	return stdout
}

type shownRecord struct{ Purpose, Type, Name, Value string }

func (r shownRecord) zoneLine() string {
	if r.Type == "TXT" {
		return fmt.Sprintf("%s. 60 IN TXT %s", r.Name, dkim.ZoneText(r.Value))
	}
	return fmt.Sprintf("%s. 60 IN %s %s.", r.Name, r.Type, r.Value)
}

// addDomain adds a domain over the API and returns its records by purpose.
func addDomain(t *testing.T, p *process, name string) map[string]shownRecord {
	t.Helper()
	status, answer := p.do(t, http.MethodPost, "/api/domains", p.APIKey, `{"name":"`+name+`"}`)
	var made struct {
		Domain struct{ Records []shownRecord }
	}
	if err := json.Unmarshal([]byte(answer), &made); status != http.StatusOK || err != nil {
		t.Fatalf("adding the domain %s got status %d and %s (decoded: %v), want 200 and the domain", name, status,
			answer, err)
	}
	records := map[string]shownRecord{}
	for _, r := range made.Domain.Records {
		records[r.Purpose] = r
	}
	return records
}
