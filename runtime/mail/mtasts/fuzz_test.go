package mtasts

import (
	"strings"
	"testing"

	mox "github.com/mjl-/mox/mtasts"
)

// Every policy and record is either parsed or rejected, and a parsed policy allows exactly the hosts that it
// names.
func FuzzPolicy(f *testing.F) {
	for _, text := range []string{
		"version: STSv1\nmode: enforce\nmx: mx1.example.com\nmx: *.example.net\nmax_age: 604800\n",
		"version: STSv1\r\nmode: testing\r\nmx: a.b\r\nmax_age: 0\r\nextra: x y\r\n",
		"version:STSv1\nmode:none\nmax_age:1", "mode: enforce", "", "v=STSv1; id=1; a=b;",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if record, is, err := mox.ParseRecord(text); is && err == nil && record.ID == "" {
			t.Error("accepted a record without an id")
		}
		fetched, err := mox.ParsePolicy(strings.TrimRight(text, "\r\n"))
		if err != nil {
			return
		}
		p := policyOf(fetched, "1")
		if p == nil {
			if fetched.Mode != mox.ModeNone {
				t.Errorf("mode %s returned no policy", fetched.Mode)
			}
			return
		}
		if fetched.MaxAgeSeconds < 0 || len(p.hosts) == 0 || p.Allows("") || p.Allows("host.of-an-attacker.invalid") &&
			!strings.Contains(strings.ToLower(text), "invalid") {
			t.Errorf("policy %+v of %q", p, text)
		}
		for _, mx := range fetched.MX {
			host := mx.Domain.ASCII
			if mx.Wildcard {
				host = "any." + host
			}
			if !p.Allows(host) {
				t.Errorf("%s is named but not allowed", host)
			}
		}
	})
}
