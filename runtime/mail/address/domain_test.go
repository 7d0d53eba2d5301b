package address_test

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/mail/address"
)

func TestParseDomain(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Example.COM":                     "example.com",
		"mail.example.co.uk":              "mail.example.co.uk",
		"bücher.example":                  "xn--bcher-kva.example",
		"XN--BCHER-KVA.example":           "xn--bcher-kva.example",
		"ＥＸＡＭＰＬＥ.com":                     "example.com",
		"1and1.com":                       "1and1.com",
		strings.Repeat("a.", 125) + "aaa": strings.Repeat("a.", 125) + "aaa",
	} {
		if got, err := address.ParseDomain(in); err != nil || got != want {
			t.Errorf("ParseDomain(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		"":                               "domain is empty",
		"localhost":                      "domain has no dot",
		"example.com.":                   "domain ends with a dot",
		"192.0.2.1":                      "domain is an IP address",
		"::1":                            "domain is an IP address",
		"[192.0.2.1]":                    "domain is an IP address",
		"1.2.3.4.5":                      "domain is an IP address",
		"https://example.com":            "domain has ':', which is not allowed",
		"exa mple.com":                   "domain has ' ', which is not allowed",
		"a@example.com":                  "domain has '@', which is not allowed",
		"*.example.com":                  "domain has '*', which is not allowed",
		"example\r\n.com":                "domain has a line break",
		"example\x00.com":                "domain has a NUL character",
		"\xff.com":                       "domain is not valid UTF-8",
		"bü cher.example":                "domain is not a valid internationalised name",
		"\u200b.com":                     "domain has an empty label",
		"a-.com":                         "domain label starts or ends with a hyphen",
		strings.Repeat("a.", 126) + "aa": "domain is longer than 253 bytes",
		strings.Repeat("ü", 60) + ".com": "domain label is longer than 63 bytes",
	} {
		if got, err := address.ParseDomain(in); err == nil || err.Error() != want {
			t.Errorf("ParseDomain(%.40q) = %q, %v, want %q", in, got, err, want)
		}
	}
}

func TestPublicSuffix(t *testing.T) {
	t.Parallel()
	for domain, want := range map[string]bool{
		"co.uk": true, "github.io": true, "xn--p1ai": true,
		"example.co.uk": false, "example.com": false, "mail.example.com": false, "dev.test": false,
	} {
		if got := address.IsPublicSuffix(domain); got != want {
			t.Errorf("IsPublicSuffix(%q) = %v", domain, got)
		}
	}
	if got := address.RegistrableDomain("a.mail.example.co.uk"); got != "example.co.uk" {
		t.Errorf("RegistrableDomain = %q", got)
	}
	if got := address.RegistrableDomain("co.uk"); got != "" {
		t.Errorf("RegistrableDomain of a suffix = %q", got)
	}
}
