package certificate

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/letsencrypt/pebble/v2/ca"
	pebbledb "github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"

	"github.com/postrider/postrider/modules/tracking/hosts"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// TestMain configures the authority not to wait between its checks and not to reject nonces at random.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{"PEBBLE_VA_NOSLEEP": "1", "PEBBLE_WFE_NONCEREJECT": "0"} {
		if err := os.Setenv(name, value); err != nil {
			log.Fatal(err)
		}
	}
	os.Exit(m.Run())
}

func newBox(t *testing.T) *secret.Box {
	t.Helper()
	box, err := secret.NewBox(secret.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func portOf(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }

// startAuthority runs an ACME server that checks the given local ports. It returns its directory URL, the root of
// its server certificate, and the root of the certificates it issues.
func startAuthority(t *testing.T, zone *dnsxtest.Server, httpPort,
	tlsPort int) (directory string, server, issued *x509.CertPool) {
	t.Helper()
	logger := log.New(io.Discard, "", 0)
	store := pebbledb.NewMemoryStore()
	issuing := ca.New(logger, store, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {Description: "the only certificate"}})
	front := wfe.New(logger, store, va.New(logger, httpPort, tlsPort, false, zone.Addr(), store), issuing,
		[]string{"pebble.letsencrypt.org"}, false, false, 1, 1)
	s := httptest.NewTLSServer(front.Handler())
	t.Cleanup(s.Close)
	server, issued = x509.NewCertPool(), x509.NewCertPool()
	server.AddCert(s.Certificate())
	issued.AppendCertsFromPEM(issuing.GetRootCert(0).PEM())
	return s.URL + wfe.DirectoryPath, server, issued
}

// A verified host is served over TLS under its own name, with each kind of challenge. Other names get no
// certificate.
func TestTrackingHostGetsCertificate(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"http-01", "tls-alpn-01"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			// certmagic identifies the challenges of a process by name, so each kind of challenge needs its own
			// names.
			links, first, other := "links."+way+".example", "first."+way+".example", "other."+way+".example"
			zone := dnsxtest.New(t, links+". 60 IN A 127.0.0.1", first+". 60 IN A 127.0.0.1", other+
				". 60 IN A 127.0.0.1")
			plain, secure := listen(t), listen(t)
			directory, server, issued := startAuthority(t, zone, portOf(plain), portOf(secure))
			k := New(Params{DB: dbtest.New(t), Box: newBox(t), Logger: slog.New(slog.DiscardHandler),
				Config: Config{CA: directory, Email: "ops@mail.example.org", Roots: server, HTTPPort: portOf(plain),
					TLSPort: portOf(secure)},
				Allowed: func(_ context.Context, host string) error {
					if host == links || host == first {
						return nil
					}
					return errors.New("not a tracking host")
				}})
			k.issuer.DisableHTTPChallenge = way != "http-01"
			k.issuer.DisableTLSALPNChallenge = way == "http-01"
			hello := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello "+r.Host) })
			serve(t, plain, k.Challenge(hello))
			serve(t, tls.NewListener(secure, k.TLS()), hello)
			t.Cleanup(func() {
				if err := k.Stop(context.Background()); err != nil {
					t.Error(err)
				}
			})

			if got := k.Certificate(t.Context(), links); got.Status != hosts.CertificatePending ||
				k.Ready(t.Context(), links) {
				t.Errorf("before Obtain: %+v, want pending", got)
			}
			k.Obtain(links)
			expect.EventuallyWithin(t, time.Minute, "the certificate is issued",
				func() bool { return k.Ready(t.Context(), links) })
			if got := k.Certificate(t.Context(), links); got.Status != hosts.CertificateIssued ||
				time.Until(*got.Expires) < time.Hour {
				t.Errorf("after Obtain: %+v, want issued", got)
			}
			if body, err := get(t, secure, issued, links); err != nil || body != "hello "+links {
				t.Errorf("%s over TLS with its certificate answered %q, %v; want a greeting", links, body, err)
			}
			// An allowed host also gets a certificate during its first handshake.
			if body, err := get(t, secure, issued, first); err != nil || body != "hello "+first {
				t.Errorf("%s over TLS at the first handshake answered %q, %v; want a greeting", first, body, err)
			}
			if body, err := get(t, secure, issued, other); err == nil {
				t.Errorf("a host that is not allowed was served: %q", body)
			}
			if k.Ready(t.Context(), other) {
				t.Error("a host that is not allowed has a certificate")
			}
		})
	}
}

func serve(t *testing.T, l net.Listener, h http.Handler) {
	t.Helper()
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
}

func get(t *testing.T, l net.Listener, roots *x509.CertPool, host string) (string, error) {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
		}}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+host+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := (&http.Client{Transport: transport, Timeout: 30 * time.Second}).Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	return string(body), err
}

func TestUnreachableHostReportsReason(t *testing.T) {
	t.Parallel()
	zone := dnsxtest.New(t)
	plain, secure := listen(t), listen(t)
	directory, server, _ := startAuthority(t, zone, portOf(plain), portOf(secure))
	k := New(Params{DB: dbtest.New(t), Box: newBox(t), Logger: slog.New(slog.DiscardHandler),
		Allowed: func(context.Context, string) error { return nil },
		Config: Config{CA: directory, Email: "ops@mail.example.org", Roots: server, HTTPPort: portOf(plain),
			TLSPort: portOf(secure)}})
	serve(t, plain, k.Challenge(http.NotFoundHandler()))
	k.Obtain("nowhere.example")
	expect.EventuallyWithin(t, time.Minute, "the attempt has failed", func() bool {
		got := k.Certificate(t.Context(), "nowhere.example")
		return got.Status == hosts.CertificateFailed && got.Error != ""
	})
	if err := k.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if err := secure.Close(); err != nil {
		t.Error(err)
	}
}

func TestStorageEncryptsAndSharesFiles(t *testing.T) {
	t.Parallel()
	d, box := dbtest.New(t), newBox(t)
	one, two := &storage{d, box}, &storage{d, box}
	ctx := t.Context()
	key := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("very secret")})
	for _, name := range []string{"certificates/ca/a.example/a.key", "certificates/ca/a_example/a.key",
		"acme/ca/x.json", "acme/ca/x.json"} {
		if err := one.Store(ctx, name, key); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := two.Load(ctx, "certificates/ca/a.example/a.key"); err != nil || string(got) != string(key) {
		t.Errorf("Load in the other process returned %q, %v; want the stored file", got, err)
	}
	var leaks int
	if err := d.SQL.QueryRowContext(ctx,
		`SELECT count(*) FROM certificate_files WHERE position('PRIVATE' in encode(sealed, 'escape')) > 0`).Scan(&leaks); err != nil || leaks != 0 {
		t.Errorf("%d files are stored unencrypted, %v", leaks, err)
	}
	if _, err := one.Load(ctx, "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("load: %v", err)
	}
	if _, err := one.Stat(ctx, "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("stat: %v", err)
	}
	if _, err := one.List(ctx, "none", true); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("list: %v", err)
	}
	if info, err := one.Stat(ctx, "acme/ca/x.json"); err != nil || info.Size != int64(len(key)) || !info.IsTerminal ||
		time.Since(info.Modified) > time.Hour {
		t.Errorf("Stat of a file returned %+v, %v; want size %d and its time", info, err, len(key))
	}
	if info, err := one.Stat(ctx, "acme/ca"); err != nil || info.IsTerminal {
		t.Errorf("Stat of a folder returned %+v, %v", info, err)
	}
	if got, err := one.List(ctx, "certificates/ca", false); err != nil ||
		!slices.Equal(got, []string{"certificates/ca/a.example", "certificates/ca/a_example"}) {
		t.Errorf("List of a folder returned %q, %v; want its two subfolders", got, err)
	}
	if got, err := one.List(ctx, "certificates", true); err != nil || len(got) != 2 {
		t.Errorf("recursive List of a folder returned %q, %v; want 2 names", got, err)
	}
	if err := one.Delete(ctx, "certificates/ca/a_example"); err != nil ||
		!two.Exists(ctx, "certificates/ca/a.example") || two.Exists(ctx, "certificates/ca/a_example") {
		t.Errorf("Delete of a name with a LIKE wildcard deleted other names, or nothing: %v", err)
	}
	if err := one.Delete(ctx, "never"); err != nil {
		t.Error(err)
	}
}

func TestLockIsExclusiveAndExpires(t *testing.T) {
	t.Parallel()
	d, box := dbtest.New(t), newBox(t)
	one, two := &storage{d, box}, &storage{d, box}
	if err := one.Lock(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := two.Lock(short, "x"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Lock of a held lock returned %v, want deadline exceeded", err)
	}
	if err := one.Unlock(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	if held, err := two.tryLock(t.Context(), "x"); !held || err != nil {
		t.Errorf("tryLock of a released lock returned %v, %v", held, err)
	}
	if _, err := d.SQL.ExecContext(t.Context(), `UPDATE certificate_files SET locked_until = now() - interval '1 second'`); err != nil {
		t.Fatal(err)
	}
	if held, err := one.tryLock(t.Context(), "x"); !held || err != nil {
		t.Errorf("tryLock of an expired lock returned %v, %v", held, err)
	}
	if err := one.RenewLockLease(t.Context(), "x", time.Hour); err != nil {
		t.Fatal(err)
	}
	var left float64
	if err := d.SQL.QueryRowContext(t.Context(),
		`SELECT extract(epoch FROM locked_until - now()) FROM certificate_files`).Scan(&left); err != nil || left < 3000 {
		t.Errorf("the extended lock has %v s left, %v; want an hour", left, err)
	}
}
