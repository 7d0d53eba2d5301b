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

// FuzzCompare compares arbitrary zone contents: nothing may panic or run forever, and everything stored is
// one clean line.
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
		// Ten terms and the lookups that they may cause: ten hosts of an MX, and the names of an address (RFC
		// 7208 section 4.6.4).
		if zone.asked > 10*11 {
			t.Errorf("a comparison caused %d lookups", zone.asked)
		}
		seen := []Observation{compareOwnership(e, found), compareFirstKey(e, found), compareReturnPath(e, found), spf,
			compareDMARC(e, found)}
		for i, state := range Merge(nil, seen) {
			if (state.Status == string(Verified)) != (state.Error == "") {
				t.Errorf("the record %s is %s with the advice %q", state.Purpose, state.Status, state.Error)
			}
			checkClean(t, state)
			if len(seen[i].Found) > len(found) {
				t.Errorf("got %d found values of %d", len(seen[i].Found), len(found))
			}
		}
	})
}

// oneAnswer is a resolver that returns the same answer for every name.
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
