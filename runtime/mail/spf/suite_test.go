package spf

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"go.yaml.in/yaml/v3"

	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
)

// The RFC 7208 test suite of the SPF community is in testdata/rfc7208, along with its license. The "skip"
// remarks in the file are from the library that ships it, and are ignored here. The suite tests the evaluation
// with our resolver and a DNS server.
//
// Skipped cases have a result that differs from the suite's, with the reason. A case
// whose result agrees must be removed from this list.
var leftOut = map[string]string{
	"a-colon-domain":            "a slash inside a domain-spec, which no host name contains, is read as the prefix length",
	"a-colon-domain-ip4mapped":  "the same",
	"mx-colon-domain":           "the same",
	"mx-colon-domain-ip4mapped": "the same",
	"p-macro-multiple":          "the macro p is always \"unknown\", which RFC 7208 section 7.3 allows: it should not be used",
}

const suiteCases = 203

type suite struct {
	Description string
	Tests       map[string]suiteCase
	ZoneData    map[string][]yaml.Node
}

type suiteCase struct {
	Helo, Host string
	MailFrom   string `yaml:"mailfrom"`
	Result     oneOrMore
}

// oneOrMore is one string or several.
type oneOrMore []string

func (s *oneOrMore) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.SequenceNode {
		return node.Decode((*[]string)(s))
	}
	*s = []string{""}
	return node.Decode(&(*s)[0])
}

func TestSuite(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/rfc7208/rfc7208-tests.yml")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	cases, left := 0, 0
	for decoder := yaml.NewDecoder(file); ; {
		var suite suite
		if err := decoder.Decode(&suite); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		cases += len(suite.Tests)
		for name := range suite.Tests {
			if _, out := leftOut[name]; out {
				left++
			}
		}
		t.Run(suite.Description, func(t *testing.T) {
			t.Parallel()
			suite.run(t)
		})
	}
	if cases != suiteCases || left != len(leftOut) {
		t.Errorf("the file has %d cases, want %d; it has %d of the %d skipped cases", cases, suiteCases, left,
			len(leftOut))
	}
	t.Logf("%d cases run, %d of them known to differ", cases, left)
}

func (suite suite) run(t *testing.T) {
	server := dnsxtest.New(t)
	suite.fill(t, server)
	resolver, err := dnsx.New(dnsx.Config{Server: server.Addr(), Timeout: 3 * time.Second, Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range suite.Tests {
		got, err := (&Evaluation{Source: resolver.WithoutCache()}).
			Check(t.Context(), Client{IP: net.ParseIP(c.Host), Hello: c.Helo, Sender: c.MailFrom})
		reason, out := leftOut[name]
		switch agrees := slices.Contains(c.Result, string(got)); {
		case out && agrees:
			t.Errorf("%s is skipped (%s) although it agrees: %s", name, reason, got)
		case !out && !agrees:
			t.Errorf("%s: got %s (%v), want %v", name, got, err, c.Result)
		}
	}
}

// fill publishes the DNS records for the cases of a section.
func (suite suite) fill(t *testing.T, server *dnsxtest.Server) {
	for name, entries := range suite.ZoneData {
		records := map[string][]oneOrMore{}
		for _, entry := range entries {
			var fields map[string]oneOrMore
			if err := entry.Decode(&fields); err != nil {
				t.Fatal(err)
			}
			for kind, values := range fields {
				records[kind] = append(records[kind], values)
			}
		}
		// The suite predates the removal of the SPF record type. Its SPF records are published as TXT unless
		// the name has TXT records, as its header requires.
		if _, found := records["TXT"]; !found {
			records["TXT"] = records["SPF"]
		}
		for kind, all := range records {
			for _, values := range all {
				if rr := suiteRecord(t, name, kind, values); rr != nil {
					server.Put(rr)
				}
			}
		}
		// A timeout applies to the types that the entry does not list.
		if records["TIMEOUT"] != nil &&
			!slices.ContainsFunc(records["TXT"], func(values oneOrMore) bool { return values[0] != "NONE" }) {
			server.Fault(name, dnsxtest.Timeout)
		}
	}
}

func suiteRecord(t *testing.T, name, kind string, values []string) dns.RR {
	name = strings.ReplaceAll(name, " ", `\ `)
	header := func(qtype uint16) dns.RR_Header {
		return dns.RR_Header{Name: dns.Fqdn(name), Rrtype: qtype, Class: dns.ClassINET, Ttl: 60}
	}
	switch kind {
	case "A":
		return &dns.A{Hdr: header(dns.TypeA), A: net.ParseIP(values[0])}
	case "AAAA":
		return &dns.AAAA{Hdr: header(dns.TypeAAAA), AAAA: net.ParseIP(values[0])}
	case "MX":
		return &dns.MX{Hdr: header(dns.TypeMX), Mx: dns.Fqdn(values[1])}
	case "PTR":
		return &dns.PTR{Hdr: header(dns.TypePTR), Ptr: dns.Fqdn(values[0])}
	case "CNAME":
		return &dns.CNAME{Hdr: header(dns.TypeCNAME), Target: dns.Fqdn(values[0])}
	case "CNAMELOOP":
		return &dns.CNAME{Hdr: header(dns.TypeCNAME), Target: dns.Fqdn(name)}
	case "TXT":
		if len(values) == 0 {
			values = []string{""} // a record without strings cannot be written
		}
		if values[0] == "NONE" {
			return nil
		}
		txt := &dns.TXT{Hdr: header(dns.TypeTXT)}
		for _, value := range values {
			txt.Txt = append(txt.Txt, suiteText(value))
		}
		return txt
	case "SPF", "TIMEOUT":
		return nil
	}
	t.Fatalf("%s has a record of type %s", name, kind)
	return nil
}

// suiteText escapes a string in the form of the DNS library.
func suiteText(value string) string {
	var b strings.Builder
	for i := range len(value) {
		switch c := value[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\%03d`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
