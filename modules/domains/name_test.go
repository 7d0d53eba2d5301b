package domains

import (
	"strings"
	"testing"
)

func testConfig() Config {
	return Config{BaseHost: "app.postrider.example", SandboxDomain: "sandbox.postrider.example",
		ReturnPathHost: "rp.postrider.example",
		SPFInclude:     "spf.postrider.example", SMTPHost: "smtp.postrider.example", Hostname: "mx1.postrider.example"}
}

func TestNamesAreNormalized(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		"Example.COM":                      "example.com",
		" mail.example.com. ":              "mail.example.com",
		"bücher.example":                   "xn--bcher-kva.example",
		"XN--BCHER-KVA.example":            "xn--bcher-kva.example",
		"postrider.example":                "postrider.example", // the operator's own domain, the parent of our hosts
		"a.rp.postrider.example":           "a.rp.postrider.example",
		"notsandbox.postrider.example.com": "notsandbox.postrider.example.com",
		"user.github.io":                   "user.github.io",
		"127.0.0.1.example.com":            "127.0.0.1.example.com",
	} {
		name, reason := newReserved(testConfig()).parseName(input)
		if name != want || reason != "" {
			t.Errorf("parseName(%q) = %q, %q, want %q", input, name, reason, want)
		}
	}
}

func TestReservedAndInvalidNamesAreRejected(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		"":                                "is required",
		"  ":                              "is required",
		"localhost":                       "no dot",
		"com":                             "no dot",
		"co.uk":                           "public suffix",
		"github.io":                       "public suffix",
		"CO.UK.":                          "public suffix",
		"192.0.2.1":                       "IP address",
		"192.0.2.1.":                      "IP address",
		"[192.0.2.1]":                     "IP address",
		"2001:db8::1":                     "IP address",
		"[IPv6:2001:db8::1]":              "IP address",
		"app.postrider.example":           "host of this service",
		"APP.Postrider.Example.":          "host of this service",
		"rp.postrider.example":            "return path host",
		"spf.postrider.example":           "SPF host",
		"smtp.postrider.example":          "SMTP host",
		"mx1.postrider.example":           "mail host",
		"sandbox.postrider.example":       "sandbox domain",
		"x.y.sandbox.postrider.example":   "sandbox domain",
		"exa mple.com":                    "domain",
		"example.com\r\nBcc: x@y.example": "line break",
		"example.com\r\n":                 "line break",
		"\fexample.com":                   "control character",
		"a@example.com":                   "domain",
		"https://example.com":             "domain",
		"-a.example.com":                  "hyphen",
		"a..example.com":                  "empty label",
		strings.Repeat("a", 64) + ".com":  "longer than 63",
		strings.Repeat("a.", 126) + "com": "longer than 253", // 255 bytes
		"_dmarc.example.com":              "not allowed",
	} {
		name, reason := newReserved(testConfig()).parseName(input)
		if name != "" || !strings.Contains(reason, want) {
			t.Errorf("parseName(%q) = %q, %q, want a reason with %q", input, name, reason, want)
		}
	}
}

func TestLongestName(t *testing.T) {
	t.Parallel()
	label := strings.Repeat("a", 61)
	longest := strings.Join([]string{label, label, label, strings.Repeat("b", 63), "com"}, ".") // 253 bytes
	if name, reason := newReserved(testConfig()).parseName(longest); len(longest) != 253 || name != longest {
		t.Errorf("a name of %d bytes returned %q, %q", len(longest), name, reason)
	}
	if _, reason := newReserved(testConfig()).parseName("a" + longest); reason == "" {
		t.Error("a name of 254 bytes was accepted")
	}
}
