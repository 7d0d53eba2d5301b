package records

import "testing"

func TestSenderForDisplay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ display, spec, name, domain string }{
		{"Example Shop <hello@example.com>", "hello@example.com", "Example Shop", "example.com"},
		{`"Shop, Example" <hello@example.com>`, "hello@example.com", "Shop, Example", "example.com"},
		{"hello@xn--mnchen-3ya.de", "hello@xn--mnchen-3ya.de", "", "münchen.de"},
		{"nonsense", "nonsense", "", "nonsense"},
	} {
		if name, domain := splitSender(c.display, c.spec); name != c.name || domain != c.domain {
			t.Errorf("the sender of %s is %q of %q, want %q of %q", c.display, name, domain, c.name, c.domain)
		}
	}
}
