package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/letsencrypt/pebble/v2/ca"
	pebbledb "github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
)

// With an HTTPS address and no certificate files, the service obtains a certificate for the host of the base
// URL from an ACME authority. After a restart it uses the stored certificate.
func TestServeObtainsACMECertificate(t *testing.T) {
	t.Parallel()
	const host = "mail.acme.test"
	plain, secure := freePort(t), freePort(t)
	zone := dnsxtest.New(t, host+". 60 IN A 127.0.0.1")
	authority := newAuthority(t, plain, secure, zone.Addr())
	trusted := filepath.Join(t.TempDir(), "authority.pem")
	if err := os.WriteFile(trusted, authority.certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	issued := x509.NewCertPool()
	issued.AppendCertsFromPEM(authority.root(t))
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: issued, MinVersion: tls.VersionTLS12},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, fmt.Sprintf("127.0.0.1:%d", secure))
		}}}
	answers := func() bool {
		defer client.CloseIdleConnections()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+host+"/healthz", nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err != nil {
			return false
		}
		return response.Body.Close() == nil && response.StatusCode == http.StatusOK
	}
	data := t.TempDir()
	start := func() *process {
		return startProcessIn(t, []string{"SSL_CERT_FILE=" + trusted}, "dev", "--data-dir", data, "--base-url=https://"+
			host,
			fmt.Sprintf("--http-addr=127.0.0.1:%d", plain), fmt.Sprintf("--http-tls-addr=127.0.0.1:%d", secure),
			"--acme-ca="+authority.url)
	}
	first := start()
	expect.Eventually(t, "the base URL to be served with a certificate of the authority", answers)
	first.signal(t, syscall.SIGTERM)
	if err := first.ended(); err != nil {
		t.Errorf("the first service exited with %v", err)
	}
	if strings.Contains(first.log.String(), "listener failed") {
		t.Errorf("the first service logged that a listener failed when it stopped:\n%s", first.log)
	}
	authority.server.Close()
	start()
	expect.Eventually(t, "the base URL to be served after a restart while no authority answers", answers)
}

// authority is an ACME authority that validates hosts at two ports.
type authority struct {
	server      *httptest.Server
	url         string // of its directory
	certificate []byte // of its server
	issuing     *ca.CAImpl
}

func newAuthority(t *testing.T, plain, secure int, resolver string) *authority {
	t.Helper()
	logger, store := log.New(io.Discard, "", 0), pebbledb.NewMemoryStore()
	issuing := ca.New(logger, store, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {Description: "the only one"}})
	front := wfe.New(logger, store, va.New(logger, plain, secure, false, resolver, store), issuing,
		[]string{"pebble.letsencrypt.org"}, false, false, 1, 1)
	server := httptest.NewTLSServer(front.Handler())
	t.Cleanup(server.Close)
	return &authority{server: server, url: server.URL + wfe.DirectoryPath, issuing: issuing,
		certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})}
}

// root returns the root certificate of what it issues.
func (a *authority) root(t *testing.T) []byte {
	t.Helper()
	root := a.issuing.GetRootCert(0)
	if root == nil {
		t.Fatal("the authority has no root certificate")
	}
	return root.PEM()
}

// freePort returns a port that is currently free.
func freePort(t *testing.T) int {
	t.Helper()
	port, err := strconv.Atoi(expect.FreePort(t))
	if err != nil {
		t.Fatal(err)
	}
	return port
}
