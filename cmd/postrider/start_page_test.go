package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/emersion/go-msgauth/dkim"
	"github.com/miekg/dns"

	"github.com/postrider/postrider/runtime/base/expect"
	postriderdkim "github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

const (
	startService  = "203.0.113.9"  // the machine of docs/start.md
	startReceiver = "203.0.113.20" // the mail server of its recipient
	startNetwork  = "POSTRIDER_TEST_START_NETWORK"
)

// The commands of docs/start.md lead from nothing to a DKIM-signed email at the server of the recipient. They run as
// printed, in a network without other machines, so that the service has the ports and addresses of a real one.
//
// There is no Docker daemon: `docker compose up` starts the service with the URL and the secrets that the page has
// created, and `docker compose exec` runs the program of this test. deploy/test/image runs the image itself.
func TestCommandsOfTheStartPage(t *testing.T) {
	t.Parallel()
	if os.Getenv(startNetwork) == "" {
		runInOwnNetwork(t)
		return
	}
	s := newStartPage(t)
	blocks := startPageBlocks(t)

	s.run(t, blocks[1]) // clone, create the secrets, start
	s.launch(t)

	link := regexp.MustCompile(`https://mail\.example\.com/setup#([\w-]+)`).FindStringSubmatch(s.run(t, blocks[2]))
	if link == nil {
		t.Fatal("the command of step 2 prints no setup link")
	}
	s.call(t, http.MethodPost, "/api/setup", map[string]string{"token": link[1], "email": "ada@example.com",
		"password": "green paper horses run", "account_name": "Example"}, nil)

	s.publishService(t, blocks[3])

	var key struct{ Secret string }
	s.call(t, http.MethodPost, "/api/api-keys", map[string]string{"name": "first"}, &key)
	s.publishDomain(t, strings.Replace(blocks[4], "svc_…", key.Secret, 1))

	s.environment = append(s.environment, "POSTRIDER_BASE_URL=https://mail.example.com", "POSTRIDER_API_KEY="+key.Secret)
	s.run(t, blocks[5])
	expect.Eventually(t, "the recipient's server to accept the email",
		func() bool { return len(s.receiver.Messages()) > 0 })
	s.judgeMail(t)
}

// runInOwnNetwork runs the test again in a network that contains only the two machines of the page.
func runInOwnNetwork(t *testing.T) {
	t.Helper()
	const network = "ip link set lo up && ip address add " + startService + "/32 dev lo && ip address add " +
		startReceiver + "/32 dev lo"
	if err := exec.CommandContext(t.Context(), "unshare", "--net", "sh", "-c", network).Run(); err != nil {
		t.Skipf("cannot create a network, which requires root, unshare and ip: %v", err)
	}
	command := exec.CommandContext(t.Context(), "unshare", "--net", "sh", "-c", network+` && exec "$0" "$@"`,
		os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	command.Env = append(os.Environ(), startNetwork+"=1", "POSTRIDER_TEST_DATABASE_URL="+dbtest.URL(t))
	out, err := command.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
		t.Fatalf("in its own network: %v\n%s", err, out)
	}
}

// startPageBlocks returns the commands of docs/start.md by the number of their step.
func startPageBlocks(t *testing.T) map[int]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/start.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[int]string{}
	for _, step := range regexp.MustCompile(`(?m)^## `).Split(string(page), -1)[1:] {
		found := regexp.MustCompile("(?s)```sh tested\n(.*?)```").FindAllStringSubmatch(step, -1)
		if len(found) != 1 {
			t.Fatalf("a step has %d blocks of commands, want one: adapt this test to the page\n%s", len(found), step)
		}
		blocks[len(blocks)+1] = found[0][1]
	}
	if len(blocks) != 5 {
		t.Fatalf("the page has %d steps, want 5: adapt this test to the page", len(blocks))
	}
	return blocks
}

// startPage is a person who follows the page, and the machines around.
type startPage struct {
	zone        *dnsxtest.Server
	receiver    *smtptest.Server
	folder      string
	environment []string // of the commands
	service     []string // settings of the service, beyond those of the page
	browser     *http.Client
}

func newStartPage(t *testing.T) *startPage {
	t.Helper()
	s := &startPage{folder: t.TempDir()}
	// "create an A record that points to the machine", and the recipient's records.
	s.zone = dnsxtest.New(t, "mail.example.com. 60 IN A "+startService, "example.net. 60 IN MX 10 mx.example.net.",
		"mx.example.net. 60 IN A "+startReceiver)
	for _, provider := range []string{"gmail.com", "outlook.com", "yahoo.com"} {
		s.zone.Add(t, provider+". 60 IN MX 10 mx.example.net.")
	}
	s.receiver = smtptest.New(t, smtptest.Config{Hostname: "mx.example.net", Addr: startReceiver + ":25"})
	authority := newAuthority(t, 80, 443, s.zone.Addr())
	trusted := filepath.Join(s.folder, "trusted.pem")
	root := authority.root(t)
	writeFiles(t, s.folder, map[string]string{
		"trusted.pem": string(authority.certificate) + string(root),
		".curlrc": "resolve = mail.example.com:443:" + startService + "\ncacert = " + trusted +
			"\nfail-with-body\nsilent\nshow-error\n",
		"bin/docker": `#!/bin/sh -eu
[ "$1" = compose ]
case "$2" in
up) grep -q '^services:' compose.yaml ;;
exec) [ "$3" = postrider ]; shift 3; exec "$@" ;;
*) echo "docker $*: not expected" >&2; exit 1 ;;
esac
`})
	issued := x509.NewCertPool()
	issued.AppendCertsFromPEM(root)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s.browser = &http.Client{Jar: jar, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: issued, MinVersion: tls.VersionTLS12},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, startService+":443")
		}}}
	t.Cleanup(s.browser.CloseIdleConnections)
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	s.service = []string{"SSL_CERT_FILE=" + trusted, "DATABASE_URL=" + os.Getenv("POSTRIDER_TEST_DATABASE_URL"),
		"POSTRIDER_DATA_DIR=" + filepath.Join(s.folder, "data"),
		"POSTRIDER_SPOOL_DIR=" + filepath.Join(s.folder, "spool"),
		"POSTRIDER_HTTP_ADDR=:80", "POSTRIDER_HTTP_TLS_ADDR=:443", "POSTRIDER_INBOUND_ADDR=" + startService + ":25",
		"POSTRIDER_RELAY_ADDR=:587", "POSTRIDER_RELAY_TLS_ADDR=:465", "POSTRIDER_NODE=postrider",
		"POSTRIDER_DNS=" + s.zone.Addr(), "POSTRIDER_ACME_CA=" + authority.url,
		"POSTRIDER_PUBLIC_ADDRESSES=" + startService, "POSTRIDER_MX_ALLOW=" + startReceiver + "/32"}
	s.environment = append(os.Environ(), "CURL_HOME="+s.folder,
		"PATH="+filepath.Join(s.folder, "bin")+":"+os.Getenv("PATH"), "GIT_CONFIG_COUNT=2",
		"GIT_CONFIG_KEY_0=url."+repository+".insteadOf",
		"GIT_CONFIG_VALUE_0=https://github.com/postrider/postrider",
		"GIT_CONFIG_KEY_1=safe.directory", "GIT_CONFIG_VALUE_1=*")
	return s
}

func writeFiles(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		file := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// try runs commands in a shell, and returns their output and exit code.
func (s *startPage) try(t *testing.T, commands string) (output string, code int) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "bash", "-eu", "-o", "pipefail", "-c", commands)
	command.Dir, command.Env = s.folder, s.environment
	if checkout := filepath.Join(s.folder, "postrider/deploy/docker"); isFolder(checkout) {
		command.Dir = checkout // where step 1 leaves the shell
	}
	var out, log bytes.Buffer
	command.Stdout, command.Stderr = &out, &log
	if err := command.Run(); command.ProcessState == nil {
		t.Fatal(err)
	}
	if code := command.ProcessState.ExitCode(); code != 0 {
		t.Logf("%s\nexited with %d: %s%s", commands, code, &out, &log)
		return out.String(), code
	}
	return out.String(), 0
}

func (s *startPage) run(t *testing.T, commands string) string {
	t.Helper()
	output, code := s.try(t, commands)
	if code != 0 {
		t.FailNow()
	}
	return output
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// launch does what `docker compose up` does with the files of step 1, and waits until the service has a certificate.
func (s *startPage) launch(t *testing.T) {
	t.Helper()
	folder := filepath.Join(s.folder, "postrider/deploy/docker")
	base, err := os.ReadFile(filepath.Join(folder, ".env"))
	if err != nil {
		t.Fatal(err)
	}
	password, err := os.ReadFile(filepath.Join(folder, "secrets/postgres_password"))
	if err != nil || len(bytes.TrimSpace(password)) < 32 {
		t.Fatalf("the password of the database is %q, %v", password, err)
	}
	s.service = append(s.service, strings.TrimSpace(string(base)),
		"POSTRIDER_MASTER_KEY_FILE="+filepath.Join(folder, "secrets/master_key"))
	s.environment = append(s.environment, s.service...)
	startProcessIn(t, s.service, "serve")
	expect.Eventually(t, "the service to respond at its URL over HTTPS", func() bool {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://mail.example.com/readyz", nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := s.browser.Do(request)
		return err == nil && response.Body.Close() == nil && response.StatusCode == http.StatusOK
	})
}

// call sends a request as the dashboard does.
func (s *startPage) call(t *testing.T, method, path string, body, answer any) {
	t.Helper()
	content, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, "https://mail.example.com"+path,
		bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Origin", "https://mail.example.com")
	request.Header.Set("Content-Type", "application/json")
	response, err := s.browser.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= 300 {
		t.Fatalf("%s %s returned %d %s, %v; want 2xx", method, path, response.StatusCode, got, err)
	}
	if answer != nil {
		if err := json.Unmarshal(got, answer); err != nil {
			t.Fatalf("%s %s returned no JSON: %v: %s", method, path, err, got)
		}
	}
}

// publish adds a record, as its owner does at a DNS provider.
func (s *startPage) publish(t *testing.T, kind, name, value string) {
	t.Helper()
	switch kind {
	case "TXT":
		value = postriderdkim.ZoneText(strings.Trim(value, `"`))
	case "PTR":
		reverse, err := dns.ReverseAddr(name)
		if err != nil {
			t.Fatal(err)
		}
		name, value = reverse, dns.Fqdn(value)
	case "MX", "CNAME":
		value = dns.Fqdn(value)
	}
	s.zone.Add(t, dns.Fqdn(name)+" 60 IN "+kind+" "+value)
}

// publishService repeats the report of step 3, and publishes the records that it lists, until it has no errors.
func (s *startPage) publishService(t *testing.T, doctor string) {
	t.Helper()
	report, code := s.try(t, doctor)
	if code != 2 {
		t.Fatalf("the report has the exit code %d, want 2, because records are missing:\n%s", code, report)
	}
	rows := regexp.MustCompile(`(?m)^  (\S+) +(A|AAAA|TXT|MX|PTR|CNAME) +(".*?"|\d+ \S+|\S+)  `).
		FindAllStringSubmatch(report, -1)
	if len(rows) < 6 {
		t.Fatalf("the report lists %d records, want 6 at least:\n%s", len(rows), report)
	}
	records := map[string][]string{} // a name can have several
	for _, row := range rows {
		records[row[1]] = append(records[row[1]], row[2]+" "+row[3])
	}
	for name, values := range records {
		s.zone.Remove(name)
		for _, value := range values {
			kind, value, _ := strings.Cut(value, " ")
			s.publish(t, kind, name, value)
		}
	}
	expect.Eventually(t, "the report to have no errors", func() bool {
		_, code = s.try(t, doctor)
		return code < 2
	})
}

// publishDomain runs the command of step 4, publishes the records of the response, and presses Verify.
func (s *startPage) publishDomain(t *testing.T, commands string) {
	t.Helper()
	type domain struct {
		ID, Status string
		Records    []struct{ Type, Name, Value string }
	}
	var added, now struct{ Domain domain }
	output := s.run(t, commands)
	if err := json.Unmarshal([]byte(output), &added); err != nil || len(added.Domain.Records) < 3 {
		t.Fatalf("the command of step 4 prints %s, want a domain with records (%v)", output, err)
	}
	for _, record := range added.Domain.Records {
		s.publish(t, record.Type, record.Name, record.Value)
	}
	path := "/api/domains/" + added.Domain.ID
	s.call(t, http.MethodPost, path+"/verify", struct{}{}, nil)
	expect.Eventually(t, "the domain to be verified", func() bool {
		s.call(t, http.MethodGet, path, nil, &now)
		return now.Domain.Status == "verified"
	})
}

// judgeMail checks the email as the recipient's server does: with another implementation of DKIM, and public keys from
// the zone.
func (s *startPage) judgeMail(t *testing.T) {
	t.Helper()
	mail := s.receiver.Messages()[0]
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, s.zone.Addr())
	}}
	results, err := dkim.VerifyWithOptions(bytes.NewReader(mail.Data), &dkim.VerifyOptions{
		LookupTXT: func(name string) ([]string, error) { return resolver.LookupTXT(t.Context(), name) }})
	passed := false
	for _, result := range results {
		if result.Err != nil {
			t.Errorf("the signature of %s: %v", result.Domain, result.Err)
		}
		passed = passed || result.Err == nil && result.Domain == "example.com"
	}
	if err != nil || !passed || mail.To[0] != "you@example.net" ||
		!bytes.Contains(mail.Data, []byte("It works.")) {
		t.Errorf("the recipient's server got an email to %v with %d signatures (%v), want dkim=pass for "+
			"example.com:\n%s", mail.To, len(results), err, mail.Data)
	}
}
