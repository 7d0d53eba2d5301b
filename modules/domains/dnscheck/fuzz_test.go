package dnscheck

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/runtime/mail/dnsx"
)

// FuzzCompare feeds what a stranger's zone may hold: nothing panics or runs for
// ever, and whatever is stored is one clean line.
func FuzzCompare(f *testing.F) {
	for _, seed := range []string{"", "v=spf1", "v=spf1 include:spf.postrider.example ~all",
		"v=spf1 - + ?include: redirect= a/24:x", "v=DKIM1; k=rsa; p=" + testKey,
		"v=DKIM1;=;p", "postrider-verification=tok3n", "v=DMARC1; p=none", "\"", "\x00\xff", "v=DKIM1\x00; p=x",
		"v=spf1 include:a.example include:a.example"} {
		f.Add(seed, "")
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		e := testExpectation()
		found := []string{one}
		if two != "" {
			found = append(found, two)
		}
		zone := &oneAnswer{txt: found[:1]}
		spf, err := compareSPF(t.Context(), e, found, zone)
		if err != nil {
			t.Fatal(err)
		}
		// Ten terms, and what they may cause: ten hosts of an MX, and the names of an
		// address (RFC 7208 section 4.6.4).
		if zone.asked > 10*11 {
			t.Errorf("%d look-ups", zone.asked)
		}
		seen := []Observation{compareOwnership(e, found), compareFirstKey(e, found), compareReturnPath(e, found), spf,
			compareDMARC(e, found)}
		for i, state := range Merge(nil, seen) {
			if (state.Status == string(Verified)) != (state.Error == "") {
				t.Errorf("%s is %s and says %q", state.Purpose, state.Status, state.Error)
			}
			checkClean(t, state)
			if len(seen[i].Found) > len(found) {
				t.Errorf("%d values of %d", len(seen[i].Found), len(found))
			}
		}
	})
}

// oneAnswer is a DNS in which every name holds the same.
type oneAnswer struct {
	txt   []string
	asked int
}

func (a *oneAnswer) LookupTXT(context.Context, string) ([]string, error) {
	a.asked++
	return a.txt, nil
}

func (a *oneAnswer) LookupMX(_ context.Context, name string) ([]*net.MX, error) {
	a.asked++
	return []*net.MX{{Host: "mx." + name}, {Host: name}}, nil
}

func (a *oneAnswer) LookupIP(context.Context, string) ([]netip.Addr, error) {
	a.asked++
	return nil, dnsx.ErrNotFound
}

func (a *oneAnswer) LookupAddr(context.Context, string) ([]string, error) {
	a.asked++
	return nil, dnsx.ErrNotFound
}

func checkClean(t *testing.T, state shape.RecordState) {
	t.Helper()
	for _, text := range append(state.Found, state.Error) {
		if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) || len(text) > 4000 {
			t.Errorf("%s stores %q", state.Purpose, text)
		}
	}
}
