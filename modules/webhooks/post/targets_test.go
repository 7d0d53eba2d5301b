package post

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
)

// target is one case of testdata/targets.txt.
type target struct {
	kind string // refuse, later, public, redirect
	url  string // target of a redirect
	code int    // status of a redirect
}

// readTargets reads the cases and the DNS records from before and after the endpoints are created.
func readTargets(t testing.TB) (cases []target, before, after []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/targets.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		kind, rest, _ := strings.Cut(line, " ")
		switch kind {
		case "", "#":
			continue
		case "zone":
			before = append(before, rest)
			continue
		case "then":
			after = append(after, rest)
			continue
		}
		c := target{kind: kind}
		if kind == "redirect" {
			var code string
			code, rest, _ = strings.Cut(rest, " ")
			if c.code, err = strconv.Atoi(code); err != nil {
				t.Fatalf("the line %q has no status code: %v", line, err)
			}
		}
		if c.url = rest; strings.HasPrefix(rest, `"`) {
			if c.url, err = strconv.Unquote(rest); err != nil {
				t.Fatalf("the line %q has no quoted URL: %v", line, err)
			}
		}
		cases = append(cases, c)
	}
	return cases, before, after
}

// watch listens on many ports of all addresses of this machine and records the local address of each
// connection.
type watch struct {
	roots     *x509.CertPool
	mu        sync.Mutex
	reached   []netip.Addr
	redirects []target // keyed by the number in the path
}

func (w *watch) listSeen() []netip.Addr {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.reached)
}

// notingListener records accepted connections.
type notingListener struct {
	net.Listener
	watch *watch
}

func (l notingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		l.watch.mu.Lock()
		l.watch.reached = append(l.watch.reached, conn.LocalAddr().(*net.TCPAddr).AddrPort().Addr().Unmap())
		l.watch.mu.Unlock()
	}
	return conn, err
}

// watched lists the ports that cases name and those of services that such attacks target.
var watched = []int{22, 23, 25, 80, 389, 443, 2375, 5432, 6379, 8443, 11211, 32526, 65535}

// listenEverywhere serves TLS with certificates of its own authority, and plain HTTP on port 80. It needs at
// least one available port.
func listenEverywhere(t testing.TB, hosts ...string) *watch {
	t.Helper()
	w := &watch{roots: x509.NewCertPool()}
	issue := newAuthority(t, w.roots)
	silent := slog.NewLogLogger(slog.DiscardHandler, 0)
	handler := http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		if n, err := strconv.Atoi(strings.TrimPrefix(in.URL.Path, "/redirect/")); err == nil {
			out.Header().Set("Location", w.redirects[n].url)
			out.WriteHeader(w.redirects[n].code)
		}
	})
	had := 0
	for _, port := range watched {
		for _, host := range hosts {
			l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
			if err != nil {
				t.Logf("no listener on port %d: %v", port, err)
				continue
			}
			had++
			l = notingListener{l, w}
			if port != 80 {
				l = tls.NewListener(l, &tls.Config{NextProtos: []string{"http/1.1"}, GetCertificate: issue})
			}
			server := &http.Server{Handler: handler, ErrorLog: silent}
			go server.Serve(l)
			t.Cleanup(func() { server.Close() })
		}
	}
	if had == 0 {
		t.Fatal("no port is available, so the test would see no connection")
	}
	return w
}

// newAuthority creates a certificate authority and returns a function that issues a certificate for any requested
// name.
func newAuthority(t testing.TB, roots *x509.CertPool) func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().
		Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, ca, ca, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	if ca, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	roots.AddCert(ca)
	return func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		leaf := &x509.Certificate{SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour),
			IPAddresses: []net.IP{hello.Conn.LocalAddr().(*net.TCPAddr).IP}}
		if hello.ServerName != "" {
			leaf.DNSNames = []string{hello.ServerName}
		}
		der, err := x509.CreateCertificate(rand.Reader, leaf, ca, key.Public(), key)
		return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
	}
}

func newTestPoster(t testing.TB, c Config) *Poster {
	t.Helper()
	c.Timeout = 5 * time.Second
	p := New(c, slog.New(slog.DiscardHandler))
	t.Cleanup(p.Close)
	return p
}

func (p *Poster) postTo(t testing.TB, url string) Result {
	t.Helper()
	return p.Post(t.Context(), DeliveryRequest{URL: url, EventID: "evt_1", Attempt: 1, Body: []byte("{}")})
}

// publicAddresses returns the addresses that may be reached: those of the "public" URLs and of public names in
// the DNS records.
func publicAddresses(t testing.TB, cases []target) map[netip.Addr]bool {
	t.Helper()
	all := map[netip.Addr]bool{netip.MustParseAddr("93.184.215.14"): true,
		netip.MustParseAddr("2606:2800:220:1::1"): true}
	for _, c := range cases {
		u, err := url.Parse(c.url)
		if c.kind != "public" || err != nil {
			continue
		}
		if addr, err := netip.ParseAddr(u.Hostname()); err == nil {
			all[addr] = true
		}
	}
	return all
}

// Every case is validated as in POST and PATCH /webhooks and dialed by the client that makes deliveries. The
// test runs in its own network namespace, in which every address leads to its listeners. No listener may see a
// connection to a non-public address, and the kernel may not even have started one.
func TestForbiddenTargetsAreNotReached(t *testing.T) {
	t.Parallel()
	run, whole := inNamespace(t)
	if !run {
		return
	}
	cases, zone, changed := readTargets(t)
	if len(cases) < 300 {
		t.Fatalf("the list has %d cases, want at least 300", len(cases))
	}
	dns := dnsxtest.New(t, zone...)
	resolver, err := dnsx.New(dnsx.Config{Server: dns.Addr(), Timeout: 20 * time.Second, Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	hosts := []string{"::"}
	if !whole {
		hosts = []string{"127.0.0.1", "::1"}
	}
	w := listenEverywhere(t, hosts...)
	s := newTestPoster(t, Config{Lookup: resolver.LookupIP, RootCAs: w.roots})
	for _, c := range cases {
		if c.kind == "redirect" {
			continue
		}
		wrong := s.CheckURL(t.Context(), c.url)
		if refused := wrong != ""; refused != (c.kind == "refuse") {
			t.Errorf("%s %q: Refusal = %q", c.kind, c.url, wrong)
		}
	}
	for _, record := range changed {
		dns.Remove(strings.Fields(record)[0])
	}
	dns.Add(t, changed...)
	forbidden := w.dialAll(t, cases, whole, resolver)
	if whole {
		w.checkListeners(t, cases, resolver)
	}
	w.controlLoopback(t)
	t.Logf("%d cases; connections to forbidden addresses: %d", len(cases), forbidden)
}

// dialAll posts to every target that must not be reached: with the DNS records of the list, with a DNS server
// that resolves every name to forbidden addresses, and with the development settings.
func (w *watch) dialAll(t *testing.T, cases []target, whole bool, resolver *dnsx.Resolver) (forbidden int) {
	t.Helper()
	hostile := func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback(),
			netip.MustParseAddr("169.254.169.254"), netip.MustParseAddr("::ffff:10.0.0.1")}, nil
	}
	for what, client := range map[string]*Poster{
		"with its DNS":       newTestPoster(t, Config{Lookup: resolver.WithoutCache().LookupIP, RootCAs: w.roots}),
		"with a hostile DNS": newTestPoster(t, Config{Lookup: hostile, RootCAs: w.roots}),
		"in development":     newTestPoster(t, Config{Lookup: resolver.WithoutCache().LookupIP, RootCAs: w.roots, PlainLoopback: true}),
	} {
		for _, c := range cases {
			if c.kind != "refuse" && c.kind != "later" {
				continue
			}
			before, seen := connectsBegun(t), len(w.listSeen())
			if a := client.postTo(t, c.url); a.Status != 0 || a.Failure == "" {
				t.Errorf("%q %s answered %d, want a failure", c.url, what, a.Status)
			}
			if n := connectsBegun(t) - before; whole && n != 0 {
				t.Errorf("%q %s: %d connections were started", c.url, what, n)
			}
			if now := w.listSeen(); len(now) != seen {
				forbidden += len(now) - seen
				t.Errorf("%q %s reached %v", c.url, what, now[seen:])
			}
		}
	}
	return forbidden
}

// checkListeners proves that the listeners would have seen a connection. Public cases reach them at no other address,
// redirects reach only the first server, and the forbidden addresses are reachable without the guard.
func (w *watch) checkListeners(t *testing.T, cases []target, resolver *dnsx.Resolver) {
	t.Helper()
	s := newTestPoster(t, Config{Lookup: resolver.LookupIP, RootCAs: w.roots})
	public := publicAddresses(t, cases)
	for _, c := range cases {
		if c.kind == "redirect" {
			w.redirects = append(w.redirects, c)
		}
	}
	from := len(w.listSeen())
	for _, c := range cases {
		if c.kind == "public" {
			if a := s.postTo(t, c.url); a.Status != http.StatusOK {
				t.Errorf("POST to public target %q: %d %s, want 200", c.url, a.Status, a.Failure)
			}
		}
	}
	for i, c := range w.redirects {
		a := s.postTo(t, fmt.Sprintf("https://public.test/redirect/%d", i))
		if a.Status != c.code || a.IsDelivered() {
			t.Errorf("redirect %d to %q answered %d %s", c.code, c.url, a.Status, a.Failure)
		}
	}
	reached := map[netip.Addr]bool{}
	for _, addr := range w.listSeen()[from:] {
		if reached[addr] = true; !public[addr] {
			t.Errorf("%s was reached", addr)
		}
	}
	for addr := range public {
		if !reached[addr] {
			t.Errorf("%s was not reached", addr)
		}
	}
	for _, address := range []string{"127.0.0.1:443", "10.0.0.1:443", "169.254.169.254:80", "100.64.0.1:6379",
		"192.168.1.1:22", "0.0.0.0:443", "240.0.0.1:443", "[::1]:443", "[fd00:ec2::254]:443",
		"[64:ff9b::7f00:1]:8443", "[2002:7f00:1::1]:443", "[2606:2800:220:1:0:5efe:7f00:1]:443", "[fec0::1]:443",
		"[5f00::1]:443", "[::ffff:10.0.0.1]:443"} {
		before, seen := connectsBegun(t), len(w.listSeen())
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Errorf("dial %s without the guard: %v", address, err)
			continue
		}
		expect.EventuallyWithin(t, 20*time.Second, address+" to reach a listener",
			func() bool { return len(w.listSeen()) == seen+1 })
		if connectsBegun(t) != before+1 {
			t.Errorf("the kernel did not count the connection to %s", address)
		}
		conn.Close()
	}
}

// controlLoopback checks that a listener on the allow-list is reachable.
func (w *watch) controlLoopback(t *testing.T) {
	t.Helper()
	s := newTestPoster(t, Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: w.roots})
	reached := 0
	for _, port := range watched {
		if a := s.postTo(t, fmt.Sprintf("https://localhost:%d/", port)); a.Status == http.StatusOK {
			reached++
		}
	}
	if reached == 0 || len(w.listSeen()) == 0 {
		t.Error("no listener was reached through the allow-list")
	}
}
