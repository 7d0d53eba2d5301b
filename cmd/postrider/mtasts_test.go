package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
)

// A domain that receives mail gets an MTA-STS policy, which the service serves under the domain's own host with a
// certificate of the ACME authority, and nothing else under that host. The policy, the mail server and the logo of the
// domain are checked over the network.
func TestServeMTASTSPolicy(t *testing.T) {
	t.Parallel()
	const host, name = "mail.acme.test", "customer.example"
	plain, secure := freePort(t), freePort(t)
	zone := dnsxtest.New(t, host+". 60 IN A 127.0.0.1", `spf.`+host+`. 60 IN TXT "v=spf1 ip4:127.0.0.1 -all"`,
		`rp.`+host+`. 60 IN TXT "v=spf1 include:spf.`+host+` -all"`)
	authority := newAuthority(t, plain, secure, zone.Addr())
	dir := t.TempDir()
	trusted, ready := filepath.Join(dir, "authority.pem"), filepath.Join(dir, "ready.json")
	if err := os.WriteFile(trusted, authority.certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	service := startProcessIn(t, []string{"SSL_CERT_FILE=" + trusted}, "dev", "--data-dir", t.TempDir(), "--ready-file", ready,
		"--dns", zone.Addr(), "--base-url=https://"+host, fmt.Sprintf("--http-addr=127.0.0.1:%d", plain),
		fmt.Sprintf("--http-tls-addr=127.0.0.1:%d", secure), "--acme-ca="+authority.url)
	expect.Eventually(t, "Postrider to be ready", func() bool {
		content, err := os.ReadFile(ready)
		return err == nil && json.Unmarshal(content, service) == nil
	})
	service.BaseURL = fmt.Sprintf("http://127.0.0.1:%d", plain)
	var domain struct {
		ID      string
		Records []struct {
			shownRecord
			Status, Error string
		}
	}
	// call changes the domain, and publishes its records.
	call := func(method, path, body string) {
		t.Helper()
		status, answer := service.do(t, method, "/api/domains"+path, service.APIKey, body)
		if err := json.Unmarshal([]byte(answer), &struct{ Domain any }{&domain}); err != nil || status != http.StatusOK {
			t.Fatalf("%s %s returned %d %s (%v)", method, path, status, answer, err)
		}
		for _, r := range domain.Records {
			if r.Type == "MX" { // after the SPF record of the same name
				zone.Add(t, fmt.Sprintf("%s. 60 IN MX 10 %s.", r.Name, r.Value))
				continue
			}
			zone.Set(t, r.Name, r.zoneLine())
		}
	}
	call(http.MethodPost, "", `{"name":"`+name+`"}`)
	call(http.MethodPost, "/"+domain.ID+"/verify", "")
	call(http.MethodPatch, "/"+domain.ID, `{"inbound_enabled":true,"mta_sts":"testing"}`)

	issued := x509.NewCertPool()
	issued.AppendCertsFromPEM(authority.root(t))
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{RootCAs: issued, MinVersion: tls.VersionTLS12},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, fmt.Sprintf("127.0.0.1:%d", secure))
		}}}
	get := func(path string) (int, string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://mta-sts."+name+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err != nil {
			return 0, err.Error()
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			return 0, err.Error()
		}
		return response.StatusCode, response.Header.Get("Content-Type") + "\n" + string(body)
	}
	if status, answer := get("/.well-known/mta-sts.txt"); status != 0 {
		t.Errorf("before its CNAME record was found, the host returned %d %s, want no certificate", status, answer)
	}
	call(http.MethodPost, "/"+domain.ID+"/verify", "")
	const want = "text/plain; charset=utf-8\nversion: STSv1\r\nmode: testing\r\nmx: smtp.mail.acme.test\r\nmax_age: 86400\r\n"
	var status int
	var answer string
	expect.Eventually(t, "the policy to be served with a certificate of the authority", func() bool {
		status, answer = get("/.well-known/mta-sts.txt")
		return status == http.StatusOK
	})
	if answer != want {
		t.Errorf("the policy is %q, want %q", answer, want)
	}
	for _, r := range domain.Records {
		// Nothing listens at port 443 of the host, where other servers would fetch the policy.
		if r.Purpose == "mta_sts_host" && !strings.Contains(r.Error, "the policy cannot be fetched") {
			t.Errorf("the host of the policy is %s: %s", r.Status, r.Error)
		}
	}
	if status, answer := service.do(t, http.MethodPatch, "/api/domains/"+domain.ID, service.APIKey, `{"mta_sts":"enforce"}`); status != http.StatusBadRequest ||
		!strings.Contains(answer, "valid certificate at port 25") {
		t.Errorf("enforcing without a mail server returned %d %s", status, answer)
	}
	call(http.MethodPatch, "/"+domain.ID, `{"bimi_logo_url":"https://logo.customer.example/logo.svg"}`)
	call(http.MethodPost, "/"+domain.ID+"/verify", "")
	if status, answer := service.do(t, http.MethodGet, "/api/domains/"+domain.ID+"/deliverability", service.APIKey, ""); status != http.StatusOK ||
		!strings.Contains(answer, "The server of the logo cannot be reached over HTTPS.") {
		t.Errorf("the deliverability is %d %s, want a finding about the logo", status, answer)
	}
	for _, other := range []string{"/", "/healthz", "/api/domains", "/sign-in/", "/.well-known/mta-sts.txt/"} {
		if status, answer := get(other); status != http.StatusNotFound {
			t.Errorf("%s under the host of the policy returned %d %s, want 404", other, status, answer)
		}
	}
}
