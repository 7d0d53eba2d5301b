package reportaddress

import (
	"errors"
	"strings"
	"testing"
)

const (
	first  = "dom_01kf0m4w7he6x8q2v5b3n9c1ta"
	second = "dom_01kf0m4w7he6x8q2v5b3n9c1tb"
)

func newSigner(t testing.TB, keys ...string) *Signer {
	t.Helper()
	var all [][]byte
	for _, key := range keys {
		all = append(all, []byte(key))
	}
	s, err := New("rp.mail.example.org", all...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAddressIdentifiesDomain(t *testing.T) {
	t.Parallel()
	s := newSigner(t, "new", "old")
	address := s.Address(first)
	if local, _, _ := strings.Cut(address, "@"); len(local) > 64 {
		t.Errorf("the local part %s has %d bytes", local, len(local))
	}
	for _, accepted := range []string{address, strings.ToUpper(address), address + ".", newSigner(t, "old").Address(first)} {
		if got, err := s.Parse(accepted); got != first || err != nil {
			t.Errorf("Parse(%s) returned %q, %v", accepted, got, err)
		}
	}
	for rejected, want := range map[string]error{
		strings.Replace(address, first[4:], second[4:], 1):          ErrForged,
		newSigner(t, "other").Address(first):                        ErrForged,
		"dmarc+@rp.mail.example.org":                                ErrForged,
		"dmarc+" + strings.Repeat("a", 42) + "@rp.mail.example.org": ErrForged,
		"dmarc+\x00@rp.mail.example.org":                            ErrForged,
		strings.Replace(address, "rp.", "xx.", 1):                   ErrNotReportAddress,
		"postmaster@rp.mail.example.org":                            ErrNotReportAddress,
		"dmarc+x":                                                   ErrNotReportAddress,
		"":                                                          ErrNotReportAddress,
	} {
		if got, err := s.Parse(rejected); !errors.Is(err, want) || got != "" {
			t.Errorf("Parse(%q) returned %q, %v, want %v", rejected, got, err, want)
		}
	}
}
