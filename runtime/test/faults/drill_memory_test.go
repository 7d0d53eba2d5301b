package faults_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
	"github.com/postrider/postrider/runtime/web/server/h2test"
)

// batchBody returns the body of a batch of emails with HTML of the given size each.
func batchBody(t *testing.T, domain string, emails, html int) string {
	t.Helper()
	type email struct {
		From    string `json:"from"`
		To      string `json:"to"`
		Subject string `json:"subject"`
		HTML    string `json:"html"`
	}
	content := strings.Repeat("<p>An ordinary paragraph of an ordinary newsletter.</p>\n", html/56)
	all := make([]email, emails)
	for i := range all {
		all[i] = email{"ada@" + domain, fmt.Sprintf("reader%d@example.test", i), "News", content}
	}
	encoded, err := json.Marshal(map[string]any{"emails": all})
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

// sender is an account that sends from its own domain.
type sender struct{ key, domain string }

// newSenders creates accounts that may send.
func newSenders(t *testing.T, server *faults.Server, n int) []sender {
	t.Helper()
	all := make([]sender, n)
	for i := range all {
		var account struct{ Account struct{ ID string } }
		name := fmt.Sprintf("sender%d", i)
		if err := json.Unmarshal(server.Command(server.Database(), "account", "create", "--name", name, "--email", name+
			"@other.test", "--plan", "scale", "--unmetered"), &account); err != nil {
			t.Fatal(err)
		}
		var key struct{ Secret string }
		if err := json.Unmarshal(server.Command(server.Database(), "key", "create", "--account", account.Account.ID,
			"--name", name), &key); err != nil {
			t.Fatal(err)
		}
		all[i] = sender{key.Secret, name + ".example"}
		if a := server.Do(t.Context(), http.MethodPost, "/api/domains", `{"name":"`+all[i].domain+`"}`, "Authorization",
			"Bearer "+key.Secret); a.Status != http.StatusOK {
			t.Fatalf("cannot add a domain: %d %s", a.Status, a.Body)
		}
	}
	server.Query(`UPDATE domains SET status = 'verified', verified_at = now(), seeded = true WHERE name LIKE 'sender%'`)
	return all
}

// largeBody returns the body of an email with files of the given total size.
func largeBody(t *testing.T, domain string, bytes int) string {
	t.Helper()
	data := base64.StdEncoding.EncodeToString(make([]byte, bytes/10))
	files := make([]map[string]string, 10)
	for i := range files {
		files[i] = map[string]string{"filename": fmt.Sprintf("part%d.bin", i), "content": data}
	}
	encoded, err := json.Marshal(map[string]any{"from": "ada@" + domain, "to": "reader@example.test",
		"subject": "Files", "text": "See the files.", "attachments": files})
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

// A burst of typical batches, or of the largest messages, does not end a process with at least the minimum
// supported memory. Requests that exceed the memory get a reply to retry.
func TestDrillMemoryOfSends(t *testing.T) { //nolint:paralleltest // each case needs the machine to itself
	expect.SkipWhenQuick(t, "make drill-short")
	for _, limit := range lengthOf([]int64{512 << 20}, []int64{512 << 20, 1 << 30}) {
		for _, c := range []struct {
			name, path string
			callers    int
			body       func(t *testing.T, domain string) string
		}{
			{"batches of 100 emails with 120 KB each", "/api/emails/batch", 64,
				func(t *testing.T, domain string) string { t.Helper(); return batchBody(t, domain, 100, 120<<10) }},
			{"emails with 40 MB of files", "/api/emails", 16, func(t *testing.T, domain string) string { t.Helper(); return largeBody(t, domain, 40<<20) }},
		} {
			t.Run(fmt.Sprintf("%s in %d MiB", c.name, limit>>20), func(t *testing.T) {
				sink := faults.NewSink(t)
				cgroup := faults.NewCgroup(t, limit)
				server := faults.StartWithin(t, cgroup, dbtest.NewServer(t).URL(), outbound(sink.Listen("127.0.0.1:0")))
				senders := newSenders(t, server, 8)
				var accepted, refused atomic.Int64
				var callers sync.WaitGroup
				bodies := make([]string, len(senders))
				for i, from := range senders {
					bodies[i] = c.body(t, from.domain)
				}
				end := time.Now().Add(lengthOf(10*time.Second, time.Minute))
				for i := range c.callers {
					callers.Go(func() {
						for time.Now().Before(end) && server.Running() {
							switch a := server.Do(t.Context(), http.MethodPost, c.path, bodies[i%len(bodies)],
								"Authorization", "Bearer "+senders[i%len(senders)].key); a.Status {
							case http.StatusOK:
								accepted.Add(1)
							case http.StatusServiceUnavailable:
								refused.Add(1)
							default:
								t.Errorf("a send returned %d %s, want 200 or 503", a.Status, a.Body)
								return
							}
						}
					})
				}
				callers.Wait()
				figure(t, "accepted", accepted.Load(), "> 0")
				figure(t, "asked to retry", refused.Load(), "-")
				figure(t, "resident memory, most", fmt.Sprintf("%d MiB", residentMost(t, server)>>20), "-")
				if !server.Running() || accepted.Load() == 0 {
					t.Fatalf("with %d MiB, process running: %t, requests accepted: %d; want it running, with accepted requests", limit>>20, server.Running(), accepted.Load())
				}
				if a := server.Do(t.Context(), http.MethodGet, "/readyz", ""); a.Status != http.StatusOK {
					t.Errorf("after the burst /readyz returned %d %s, want 200", a.Status, a.Body)
				}
			})
		}
	}
}

// Unauthenticated clients that request the largest public texts and do not read them cannot end a process
// with 2 GiB, over HTTP/2 or HTTP/1.1, and others are still served.
func TestDrillMemoryOfUnreadResponses(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	const limit = 2 << 30
	plain, secure := expect.FreeAddress(t), expect.FreeAddress(t)
	certificate, key := h2test.WriteCertificate(t)
	_, port, err := net.SplitHostPort(secure)
	if err != nil {
		t.Fatal(err)
	}
	server := faults.StartWithin(t, faults.NewCgroup(t, limit), dbtest.NewServer(t).URL(), "POSTRIDER_HTTP_ADDR="+plain,
		"POSTRIDER_HTTP_TLS_ADDR="+secure,
		"POSTRIDER_BASE_URL=https://localhost:"+port, "POSTRIDER_HTTP_TLS_CERT="+certificate, "POSTRIDER_HTTP_TLS_KEY="+
			key)
	texts := []string{"/api/docs", "/api/docs/automations", "/api/openapi.json", "/api/openapi.yaml",
		"/api/openapi-3.0.json", "/api/openapi-3.0.yaml",
		"/graphql/schema.graphql"}
	for _, path := range texts { // each is generated on first request
		if a := server.Do(t.Context(), http.MethodGet, path, ""); a.Status != http.StatusOK {
			t.Fatalf("%s returned %d", path, a.Status)
		}
	}
	figure(t, "resident memory before", fmt.Sprintf("%d MiB", residentMost(t, server)>>20), "-")
	for range 40 {
		c, err := h2test.New(t.Context(), secure, 0)
		if err != nil {
			break // connection refused
		}
		t.Cleanup(func() { c.Close() })
		for i := range 250 {
			if _, err := c.Get(texts[i%len(texts)]); err != nil {
				break // connection closed
			}
		}
	}
	for i := range 1000 {
		c, err := net.Dial("tcp", plain)
		if err != nil {
			break
		}
		t.Cleanup(func() { c.Close() })
		fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", texts[i%len(texts)])
	}
	end := time.Now().Add(10 * time.Second)
	served := 0
	// The slow readers share one network and its share of the connections. Other clients come from another
	// network.
	others := &http.Client{Timeout: expect.Patience,
		Transport: &http.Transport{DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 9, 0, 1)}}).
			DialContext}}
	defer others.CloseIdleConnections()
	for time.Now().Before(end) && server.Running() {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+plain+"/api/emails", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+server.APIKey)
		a, err := others.Do(r)
		if err != nil {
			t.Fatalf("with clients that do not read, a list from another network failed: %v", err)
		}
		if a.Body.Close(); a.StatusCode != http.StatusOK {
			t.Fatalf("with clients that do not read, a list from another network returned %d, want 200", a.StatusCode)
		}
		served++
	}
	figure(t, "requests of others in the meantime", served, "> 0")
	figure(t, "resident memory, most", fmt.Sprintf("%d MiB", residentMost(t, server)>>20), "< 512 MiB")
	if most := residentMost(t, server); !server.Running() || most > 512<<20 {
		t.Errorf("with clients that do not read, process running: %t, peak memory %d MiB; want it running, with at most 512", server.Running(), most>>20)
	}
}

// residentMost returns the peak resident memory of a server.
func residentMost(t *testing.T, s *faults.Server) int64 { return statusOf(t, s, "VmHWM:") }

// statusOf reads a size from a server's process status (proc(5)).
func statusOf(t *testing.T, s *faults.Server, field string) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.PID()))
	if err != nil {
		t.Logf("the process has exited: %v", err)
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == field {
			n, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n << 10
		}
	}
	return 0
}
