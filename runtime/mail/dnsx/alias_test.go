package dnsx_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
)

func TestLookupCNAMEReturnsTheFirstLink(t *testing.T) {
	t.Parallel()
	s := dnsxtest.New(t, "rp.example.test. 300 IN CNAME Return.Postrider.test.",
		"return.postrider.test. 300 IN CNAME elsewhere.test.",
		"plain.test. 300 IN A 192.0.2.1")
	r := resolver(t, s)
	if got, err := r.LookupCNAME(t.Context(), "rp.example.test"); err != nil || got != "return.postrider.test." {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := r.LookupCNAME(t.Context(), "plain.test"); !errors.Is(err, dnsx.ErrNotFound) || isNXDomain(err) {
		t.Errorf("a name that is not an alias: %q, %v", got, err)
	}
}

func chain(length int) []string {
	records := []string{fmt.Sprintf(`c%d.test. 300 IN TXT "end"`, length)}
	for i := range length {
		records = append(records, fmt.Sprintf("c%d.test. 300 IN CNAME c%d.test.", i, i+1))
	}
	return records
}

func TestChainsAreFollowedToTenLinks(t *testing.T) {
	t.Parallel()
	for _, first := range []dnsxtest.Fault{0, dnsxtest.OnlyFirstAlias} {
		s := dnsxtest.New(t, chain(11)...)
		for i := range 11 {
			s.Fault(fmt.Sprintf("c%d.test", i), first)
		}
		r := resolver(t, s)
		if got, err := r.LookupTXT(t.Context(), "c1.test"); err != nil || len(got) != 1 || got[0] != "end" {
			t.Errorf("fault %d, ten links: %q, %v", first, got, err)
		}
		if got, err := r.LookupTXT(t.Context(), "c0.test"); !errors.Is(err, dnsx.ErrTemporary) {
			t.Errorf("fault %d, eleven links: %q, %v", first, got, err)
		}
	}
}

func TestALoopOfAliasesEnds(t *testing.T) {
	t.Parallel()
	for _, fault := range []dnsxtest.Fault{0, dnsxtest.OnlyFirstAlias} {
		s := dnsxtest.New(t, "a.test. 300 IN CNAME b.test.", "b.test. 300 IN CNAME a.test.")
		s.Fault("a.test", fault)
		s.Fault("b.test", fault)
		if _, err := resolver(t, s).LookupTXT(t.Context(), "a.test"); !errors.Is(err, dnsx.ErrTemporary) {
			t.Errorf("fault %d: %v", fault, err)
		}
	}
}

func TestAnAliasToNowhereIsNotFound(t *testing.T) {
	t.Parallel()
	for _, fault := range []dnsxtest.Fault{0, dnsxtest.OnlyFirstAlias} {
		s := dnsxtest.New(t, "a.test. 300 IN CNAME gone.test.")
		s.Fault("a.test", fault)
		if _, err := resolver(t, s).LookupMX(t.Context(), "a.test"); !errors.Is(err, dnsx.ErrNotFound) ||
			!isNXDomain(err) {
			t.Errorf("fault %d: %v", fault, err)
		}
	}
}
