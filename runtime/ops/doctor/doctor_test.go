package doctor

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
)

// sound contains the records of a zone without problems.
var sound = []string{
	"mail.example.com. 60 IN A 203.0.113.9",
	"smtp.mail.example.com. 60 IN A 203.0.113.9",
	"mx1.example.com. 60 IN A 203.0.113.9",
	`spf.mail.example.com. 60 IN TXT "v=spf1 ip4:203.0.113.9 -all"`,
	`rp.mail.example.com. 60 IN TXT "v=spf1 include:spf.mail.example.com -all"`,
	"rp.mail.example.com. 60 IN MX 10 smtp.mail.example.com.",
	"9.113.0.203.in-addr.arpa. 60 IN PTR mx1.example.com.",
	"gmail.com. 60 IN MX 5 mx.gmail.example.",
	"mx.gmail.example. 60 IN A 198.51.100.1",
}

type world struct {
	*Doctor
	zone *dnsxtest.Server
	// peers accept connections by address; all other addresses refuse them.
	peers map[string]func(net.Conn)
}

func newWorld(t *testing.T, change func(*Config)) *world {
	t.Helper()
	zone := dnsxtest.New(t, sound...)
	resolver, err := dnsx.New(dnsx.Config{Server: zone.Addr(), Timeout: 5 * time.Second, Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{zone: zone, peers: map[string]func(net.Conn){}}
	w.Doctor = &Doctor{DNS: resolver.WithoutCache(), Dial: func(_ context.Context, _, addr string) (net.Conn, error) {
		peer, ok := w.peers[addr]
		if !ok {
			return nil, errors.New("connection refused")
		}
		ours, theirs := net.Pipe()
		go peer(theirs)
		return ours, nil
	}, Config: Config{BaseURL: "https://mail.example.com", Hostname: "mx1.example.com",
		ReturnPathHost: "rp.mail.example.com", SPFInclude: "spf.mail.example.com",
		SMTPHost: "smtp.mail.example.com", TrackingHost: "mail.example.com", Direct: true, Receives: true,
		ListenAddr: ":25",
		Addresses:  []SendingAddress{{IP: netip.MustParseAddr("203.0.113.9")}}}}
	if change != nil {
		change(&w.Config)
	}
	return w
}

// greets is a mail server that sends only its greeting.
func greets(text string) func(net.Conn) {
	return func(c net.Conn) {
		defer c.Close()
		fmt.Fprintf(c, "220 %s\r\n", text)
		for lines := bufio.NewScanner(c); lines.Scan(); {
			if strings.EqualFold(lines.Text(), "QUIT") {
				return
			}
			fmt.Fprint(c, "502 no\r\n")
		}
	}
}

// find returns the finding of a check.
func (w *world) find(t *testing.T, check string) Finding {
	t.Helper()
	report := w.Run(t.Context())
	for _, f := range report.Findings {
		if f.Check == check {
			return f
		}
	}
	t.Fatalf("no finding %s among %+v", check, report.Findings)
	return Finding{}
}

func TestChecksDNSRecords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, check string
		change      func(t *testing.T, w *world)
		want        Level
		found, do   string
	}{
		{"a valid SPF record", "dns.spf", nil, OK, "ip4:203.0.113.9", ""},
		{"SPF missing", "dns.spf", func(_ *testing.T, w *world) { w.zone.Remove("spf.mail.example.com") }, Error,
			"no SPF record",
			`Publish a TXT record at spf.mail.example.com with the value "v=spf1 ip4:203.0.113.9 -all"`},
		{"SPF with other values only", "dns.spf", func(t *testing.T, w *world) {
			w.zone.Set(t, "spf.mail.example.com", `spf.mail.example.com. TXT "hello"`)
		}, Error, "no SPF record", "Publish"},
		{"SPF without our address", "dns.spf", func(t *testing.T, w *world) {
			w.zone.Set(t, "spf.mail.example.com", `spf.mail.example.com. TXT "v=spf1 ip4:203.0.113.8 -all"`)
		}, Error, "returns fail for 203.0.113.9", "Add ip4:203.0.113.9 to the SPF record at spf.mail.example.com"},
		{"SPF that is not valid", "dns.spf", func(t *testing.T, w *world) {
			w.zone.Set(t, "spf.mail.example.com", `spf.mail.example.com. TXT "v=spf1 ipv4:203.0.113.9 -all"`)
		}, Error, `the term "ipv4:203.0.113.9" is invalid`, "Publish"},
		{"two SPF records", "dns.spf", func(t *testing.T, w *world) {
			w.zone.Add(t, `spf.mail.example.com. TXT "v=spf1 -all"`)
		}, Error, "there are 2 SPF records", "Publish"},
		{"SPF with one of two addresses", "dns.spf", func(_ *testing.T, w *world) {
			w.Config.Addresses = append(w.Config.Addresses, SendingAddress{IP: netip.MustParseAddr("2001:db8::9")})
		}, Error, "returns fail for 2001:db8::9", "Add ip6:2001:db8::9"},
		{"a silent server", "dns.spf",
			func(_ *testing.T, w *world) { w.zone.Fault("spf.mail.example.com", dnsxtest.Timeout) }, Error, "no answer",
			"Retry later"},
		{"SERVFAIL", "dns.spf", func(_ *testing.T, w *world) {
			w.zone.Fault("spf.mail.example.com",
				dnsxtest.ServFail)
		}, Error, "no answer", "DNS servers of spf.mail.example.com"},
		{"an answer to another query", "dns.spf",
			func(_ *testing.T, w *world) { w.zone.Fault("spf.mail.example.com", dnsxtest.OtherQuestion) }, Error,
			"no answer", "Retry later"},
		{"the return path's SPF missing", "dns.return_path", func(t *testing.T, w *world) {
			w.zone.Set(t, "rp.mail.example.com", "rp.mail.example.com. MX 10 smtp.mail.example.com.")
		}, Error, "no SPF record",
			`Publish a TXT record at rp.mail.example.com with the value "v=spf1 include:spf.mail.example.com -all"`},
		{"the return path's SPF broken by ours", "dns.return_path",
			func(_ *testing.T, w *world) { w.zone.Remove("spf.mail.example.com") }, Error, "has 0 SPF records",
			"Publish"},
		{"bounces go elsewhere", "dns.return_path_mx", func(t *testing.T, w *world) {
			w.zone.Set(t, "rp.mail.example.com", "rp.mail.example.com. MX 10 mx.example.net.")
		}, Error, "mx.example.net",
			`Publish an MX record at rp.mail.example.com with the value "10 smtp.mail.example.com"`},
		{"bounces go nowhere", "dns.return_path_mx", func(t *testing.T, w *world) {
			w.zone.Set(t, "rp.mail.example.com", `rp.mail.example.com. TXT "v=spf1 -all"`)
		}, Error, "neither an MX record nor an address", "Publish an MX record"},
		{"an address instead of an MX record", "dns.return_path_mx", func(t *testing.T, w *world) {
			w.zone.Set(t, "rp.mail.example.com", "rp.mail.example.com. A 203.0.113.9")
		}, OK, "203.0.113.9", ""},
		{"a host without an address", "dns.smtp_host",
			func(_ *testing.T, w *world) { w.zone.Remove("smtp.mail.example.com") }, Error, "no address",
			"Publish smtp.mail.example.com A 203.0.113.9"},
		{"a host with a private address", "dns.smtp_host", func(t *testing.T, w *world) {
			w.zone.Set(t, "smtp.mail.example.com", "smtp.mail.example.com. A 10.0.0.9")
		}, Error, "10.0.0.9", "is not reachable from outside"},
		{"a host with another's address", "dns.base_url", func(t *testing.T, w *world) {
			w.zone.Set(t, "mail.example.com", "mail.example.com. A 203.0.113.77")
		}, Warning, "203.0.113.77", "If that is a proxy"},
		{"no reverse name", "dns.ptr", func(_ *testing.T, w *world) { w.zone.Remove("9.113.0.203.in-addr.arpa") },
			Error, "no PTR record", "set the reverse name of 203.0.113.9 to mx1.example.com"},
		{"a reverse name that does not resolve back", "dns.ptr", func(t *testing.T, w *world) {
			w.zone.Set(t, "9.113.0.203.in-addr.arpa", "9.113.0.203.in-addr.arpa. PTR host9.provider.example.")
		}, Error, "host9.provider.example, which does not resolve back", "set the reverse name"},
		{"a reverse name that resolves back, and another EHLO name", "dns.ptr", func(t *testing.T, w *world) {
			w.zone.Set(t, "9.113.0.203.in-addr.arpa", "9.113.0.203.in-addr.arpa. PTR host9.provider.example.")
			w.zone.Add(t, "host9.provider.example. A 203.0.113.9")
		}, Warning, "the EHLO name is mx1.example.com", "set POSTRIDER_HOSTNAME"},
		{"a reverse zone without an answer", "dns.ptr",
			func(_ *testing.T, w *world) { w.zone.Fault("9.113.0.203.in-addr.arpa", dnsxtest.ServFail) }, Error,
			"no answer", "the reverse zone of 203.0.113.9"},
		{"no address is known", "dns.ptr", func(_ *testing.T, w *world) {
			w.Config.Addresses = []SendingAddress{}
		}, Skipped, "no public address", "POSTRIDER_PUBLIC_ADDRESSES"},
		{"an honest resolver", "dns.resolver", nil, OK, "it does", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			if c.change != nil {
				c.change(t, w)
			}
			if c.check == "dns.ptr" && len(w.Config.addresses()) > 0 && len(w.Config.Addresses) == 0 {
				t.Skip("this machine has a public address")
			}
			got := w.find(t, c.check)
			if got.Level != c.want || !strings.Contains(got.Found, c.found) || !strings.Contains(got.Do, c.do) ||
				got.Expected == "" || (got.Do == "") != (c.want == OK) {
				t.Errorf("%s reports %+v, want the level %s, %q found and the advice %q", c.check, got, c.want,
					c.found, c.do)
			}
		})
	}
}

// lying responds to every query with an address.
type lying struct{ *dnsx.Resolver }

func (lying) LookupIP(context.Context, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("198.51.100.66")}, nil
}

func TestReportsBadResolver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.DNS = lying{w.DNS.(*dnsx.Resolver)}
	if got := w.find(t, "dns.resolver"); got.Level != Error || !strings.Contains(got.Do, "invent answers") {
		t.Errorf("for a resolver that invents addresses, got %+v, want an error about it", got)
	}
	silent, err := dnsx.New(dnsx.Config{Server: "127.0.0.1:1", Timeout: 100 * time.Millisecond, Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	w.DNS = silent
	report := w.Run(t.Context())
	if report.ExitCode() != 2 {
		t.Errorf("without any DNS answer, the exit code is %d, want 2: %+v", report.ExitCode(), report.Findings)
	}
	for _, f := range report.Findings {
		if strings.HasPrefix(f.Check, "dns.") && f.Level == OK {
			t.Errorf("without any DNS answer, %s is %+v, want no advice about records", f.Check, f)
		}
	}
}

func TestChecksWildcardsOfOwnTargets(t *testing.T) {
	t.Parallel()
	const returnPath = "*.rp.mail.example.com. 60 IN CNAME rp.mail.example.com."
	const tracking = "*.t.mail.example.com. 60 IN CNAME mail.example.com."
	for _, c := range []struct {
		name    string
		on      bool
		records []string
		level   Level
		do      string
	}{
		{"off, no records", false, nil, Skipped,
			"publish *.rp.mail.example.com CNAME rp.mail.example.com and *.t.mail.example.com CNAME mail.example.com"},
		{"off, one record", false, []string{returnPath}, Skipped, "publish"},
		{"off, all records", false, []string{returnPath, tracking}, Skipped, "Set POSTRIDER_OWN_TARGETS=true."},
		{"on, no records", true, nil, Error, "Publish *.rp.mail.example.com CNAME rp.mail.example.com."},
		{"on, wrong record", true, []string{"*.rp.mail.example.com. 60 IN CNAME mail.example.com.", tracking}, Error,
			"Publish *.rp.mail.example.com CNAME rp.mail.example.com."},
		{"on, one record", true, []string{returnPath}, OK, ""},
	} {
		w := newWorld(t, func(config *Config) { config.OwnTargets, config.TrackingLabel = c.on, "t." })
		w.zone.Add(t, c.records...)
		if got := w.find(t, "dns.own_targets"); got.Level != c.level || !strings.Contains(got.Do, c.do) {
			t.Errorf("%s: got %+v, want the level %v and the advice %q", c.name, got, c.level, c.do)
		}
		report := w.Run(t.Context())
		listed := slices.ContainsFunc(report.Records, func(r RequiredRecord) bool {
			return r.Type == "CNAME" && r.Name == "*.t.mail.example.com" && r.Value == "mail.example.com"
		})
		if listed != c.on {
			t.Errorf("%s: the report lists the wildcard record: %t", c.name, listed)
		}
		faults := 0
		for _, f := range report.Findings {
			if f.Check == "dns.own_targets" && f.Level == Error {
				faults++
			}
		}
		if want := map[string]int{"on, no records": 2, "on, wrong record": 1, "on, one record": 1}[c.name]; faults != want {
			t.Errorf("%s: %d errors, want %d", c.name, faults, want)
		}
	}
}

func TestPort25InBothDirections(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	if got := w.find(t, "smtp.outward"); got.Level != Error ||
		!strings.Contains(got.Do, "open port 25 for outgoing connections") {
		t.Errorf("with port 25 closed for outgoing connections, got %+v, want an error", got)
	}
	if got := w.find(t, "smtp.inward"); got.Level != Error || !strings.Contains(got.Do, "Start the service") {
		t.Errorf("without a listener at port 25, got %+v, want an error", got)
	}
	w.peers["198.51.100.1:25"] = greets("mx.gmail.example ready")
	if got := w.find(t, "smtp.outward"); got.Level != OK {
		t.Errorf("with a mail server that responds, got %+v, want ok", got)
	}
	w.peers["127.0.0.1:25"] = greets("mx1.example.com ESMTP")
	if got := w.find(t, "smtp.inward"); got.Level != Warning || !strings.Contains(got.Do, "firewall") {
		t.Errorf("with a listener that only this machine can reach, got %+v, want a warning about the route", got)
	}
	w.peers["203.0.113.9:25"] = greets("other.example.net ESMTP")
	if got := w.find(t, "smtp.inward"); got.Level != Error || !strings.Contains(got.Do, "Another mail server") {
		t.Errorf("with another mail server there, got %+v, want an error", got)
	}
	w.peers["203.0.113.9:25"] = greets("mx1.example.com ESMTP")
	if got := w.find(t, "smtp.inward"); got.Level != OK {
		t.Errorf("with Postrider there, got %+v, want ok", got)
	}
	if got := w.find(t, "smtp.certificate"); got.Level != Warning {
		t.Errorf("without STARTTLS, got %+v, want a warning", got)
	}
	w.Config.Direct = false
	for _, f := range w.Run(t.Context()).Findings {
		if f.Check == "smtp.outward" || f.Check == "dns.ptr" {
			t.Errorf("mail is sent through a smarthost, but %s was checked: %+v", f.Check, f)
		}
	}
}

// issue creates a certificate and a pool that trusts it.
func issue(t *testing.T, name string, from, until time.Time) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Test authority"},
		NotBefore: from, NotAfter: until, DNSNames: []string{name},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, roots
}

func TestChecksCertificates(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, c := range []struct {
		name, host  string
		from, until time.Duration
		strange     bool
		want        Level
		do          string
	}{
		{"sound", "mail.example.com", -time.Hour, 90 * 24 * time.Hour, false, OK, ""},
		{"expired", "mail.example.com", -90 * 24 * time.Hour, -time.Hour, false, Error, "it expired 1h"},
		{"not valid yet", "mail.example.com", time.Hour, 90 * 24 * time.Hour, false, Error, "clock"},
		{"another name", "other.example.com", -time.Hour, 90 * 24 * time.Hour, false, Error, "Get a certificate for mail.example.com"},
		{"expires soon", "mail.example.com", -time.Hour, 5*24*time.Hour + time.Hour, false, Warning, "it expires in 5 days"},
		{"unknown issuer", "mail.example.com", -time.Hour, 90 * 24 * time.Hour, true, Warning, "public authority"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			certificate, roots := issue(t, c.host, now.Add(c.from), now.Add(c.until))
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
			server.StartTLS()
			defer server.Close()
			w := newWorld(t, nil)
			if w.Roots = roots; c.strange {
				w.Roots = x509.NewCertPool()
			}
			w.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				if addr != "203.0.113.9:443" {
					return nil, errors.New("connection refused")
				}
				return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
			}
			if got := w.find(t, "http.certificate"); got.Level != c.want || !strings.Contains(got.Do, c.do) {
				t.Errorf("for the certificate of the base URL, got %+v, want %s and %q", got, c.want, c.do)
			}
			if got := w.find(t, "http.base_url"); got.Level != OK {
				t.Errorf("for the base URL, got %+v, want ok, because the certificate is a separate finding", got)
			}
		})
	}
}

func TestJudgesDiskSpace(t *testing.T) {
	t.Parallel()
	const gib = 1 << 30
	for _, c := range []struct {
		free, total uint64
		want        Level
	}{{50 * gib, 100 * gib, OK}, {15 * gib, 100 * gib, Warning}, {4 * gib, 100 * gib, Error},
		{60 * gib, 2000 * gib, OK}, {gib / 4, gib / 2, Error}, {0, 0, Error}} {
		if got := judgeRoom(subject{"disk", "room"}, "/data", c.free, c.total); got.Level != c.want {
			t.Errorf("%d free bytes of %d: got %s, want %s", c.free, c.total, got.Level, c.want)
		}
	}
}

func TestChecksDatabaseSettings(t *testing.T) {
	t.Parallel()
	good := serverState{version: 150004, fsync: "on", fullPages: "on", commit: "on", autovacuum: "on", local: true,
		skew: float64(time.Now().UnixMicro()) / 1e6}
	for name, change := range map[string]func(*serverState){
		"":                   func(*serverState) {},
		"version":            func(s *serverState) { s.version = 130004 },
		"fsync":              func(s *serverState) { s.fsync = "off" },
		"full_page_writes":   func(s *serverState) { s.fullPages = "off" },
		"synchronous_commit": func(s *serverState) { s.commit = "off" },
		"autovacuum":         func(s *serverState) { s.autovacuum = "off" },
		"writes":             func(s *serverState) { s.readOnly = true },
		"clock":              func(s *serverState) { s.skew -= 60 },
		"oldest_transaction": func(s *serverState) { s.oldest = 3600 },
		"wraparound":         func(s *serverState) { s.age = 1_500_000_000 },
		"encryption":         func(s *serverState) { s.local = false },
	} {
		s := good
		change(&s)
		for _, f := range s.judge(DatabaseConfig{}) {
			if bad := f.Level >= Warning; bad != (f.Check == "database."+name) || bad != (f.Do != "") {
				t.Errorf("with a wrong value for %q, the finding is %+v", name, f)
			}
		}
	}
}

func TestReportHasWorstLevel(t *testing.T) {
	t.Parallel()
	var r Report
	for _, step := range []struct {
		add  Level
		want int
	}{{OK, 0}, {Skipped, 0}, {Warning, 1}, {OK, 1}, {Error, 2}, {Warning, 2}} {
		r.Add(Finding{Check: "x", Level: step.add})
		if r.ExitCode() != step.want {
			t.Errorf("with a finding of the level %s, the exit code is %d, want %d", step.add, r.ExitCode(), step.want)
		}
	}
	if bad := r.Problems(); len(bad) != 3 || bad[0].Level != Error {
		t.Errorf("the bad findings are %+v, want the error and then two warnings", bad)
	}
	text, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(text), `"level":"error"`) {
		t.Errorf("the report as JSON is %s, %v, want levels by name", text, err)
	}
}

func TestListsRequiredRecords(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	var got []string
	for _, r := range w.Config.Records() {
		got = append(got, r.Name+" "+r.Type+" "+r.Value)
		if r.For == "" {
			t.Errorf("the record %+v has no purpose", r)
		}
	}
	want := []string{"mail.example.com A 203.0.113.9", "smtp.mail.example.com A 203.0.113.9",
		"mx1.example.com A 203.0.113.9",
		"spf.mail.example.com TXT v=spf1 ip4:203.0.113.9 -all",
		"rp.mail.example.com TXT v=spf1 include:spf.mail.example.com -all",
		"rp.mail.example.com MX 10 smtp.mail.example.com", "203.0.113.9 PTR mx1.example.com"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the records are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
