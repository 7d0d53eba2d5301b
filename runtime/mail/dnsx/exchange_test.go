package dnsx_test

import (
	"fmt"
	"testing"

	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
)

func TestTruncatedRepliesAreRetriedOverTCP(t *testing.T) {
	t.Parallel()
	s := dnsxtest.New(t, `forced.test. 300 IN TXT "v=spf1 -all"`)
	s.Fault("forced.test", dnsxtest.Truncate)
	for i := range 60 {
		s.Add(t, fmt.Sprintf(`big.test. 300 IN TXT "record number %d of a set that fits in no datagram"`, i))
	}
	r := resolver(t, s)
	for name, want := range map[string]int{"forced.test": 1, "big.test": 60} {
		got, err := r.LookupTXT(t.Context(), name)
		if err != nil || len(got) != want {
			t.Errorf("%s: %d records, %v", name, len(got), err)
		}
		overTCP := false
		for _, q := range s.Queries() {
			overTCP = overTCP || q.TCP && q.Name == name+"."
		}
		if !overTCP {
			t.Errorf("%s: never queried over TCP", name)
		}
	}
}

func TestServersWithoutEDNSAreQueriedWithoutIt(t *testing.T) {
	t.Parallel()
	s := dnsxtest.New(t, "old.test. 300 IN MX 10 mx.old.test.")
	s.Fault("old.test", dnsxtest.NoEDNS)
	if mx, err := resolver(t, s).LookupMX(t.Context(), "old.test"); err != nil || len(mx) != 1 {
		t.Errorf("got %v, %v", mx, err)
	}
}
