package domains

import (
	"context"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/postrider/postrider/ent/schema/shape"
)

// FuzzCompare feeds what a stranger's zone may hold: nothing panics or runs for
// ever, and whatever is stored is one clean line.
func FuzzCompare(f *testing.F) {
	for _, seed := range []string{"", "v=spf1", "v=spf1 include:spf.postrider.example ~all", "v=spf1 - + ?include: redirect= a/24:x", "v=DKIM1; k=rsa; p=" + testKey,
		"v=DKIM1;=;p", "postrider-verification=tok3n", "v=DMARC1; p=none", "\"", "\x00\xff", "v=DKIM1\x00; p=x", "v=spf1 include:a.example include:a.example"} {
		f.Add(seed, "")
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		e := testExpectation()
		found := []string{one}
		if two != "" {
			found = append(found, two)
		}
		lookups := 0
		spf, err := compareSPF(t.Context(), e, found, func(context.Context, string) ([]string, error) {
			lookups++
			return found[:1], nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if lookups > maxSPFLookups {
			t.Errorf("%d look-ups", lookups)
		}
		seen := []observation{compareOwnership(e, found), compareFirstKey(e, found), compareReturnPath(e, found), spf, compareDMARC(e, found)}
		for i, state := range merge(nil, seen) {
			if (state.Status == string(Verified)) != (state.Error == "") {
				t.Errorf("%s is %s and says %q", state.Purpose, state.Status, state.Error)
			}
			checkClean(t, state)
			if len(seen[i].found) > len(found) {
				t.Errorf("%d values of %d", len(seen[i].found), len(found))
			}
		}
	})
}

func checkClean(t *testing.T, state shape.RecordState) {
	t.Helper()
	for _, text := range append(state.Found, state.Error) {
		if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) || len(text) > 4000 {
			t.Errorf("%s stores %q", state.Purpose, text)
		}
	}
}
