package signing

import (
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/dkimkey"
	"github.com/postrider/postrider/modules/domains/dnscheck"
)

func keyRow(selector string, state dkimkey.State) *ent.DKIMKey {
	return &ent.DKIMKey{ID: "dkm_" + selector, Selector: selector, Algorithm: dkimkey.AlgorithmRsaSha256, State: state}
}

// sawKey returns the observation of a key, in the letters of sight.
func sawKey(selector string, code byte) dnscheck.Observation {
	status := map[byte]dnscheck.Status{'v': dnscheck.Verified, 'm': dnscheck.Missing, 'x': dnscheck.Mismatch}[code]
	return dnscheck.Observation{Purpose: dnscheck.DKIM, Selector: selector, Status: status, Unanswered: code == '?'}
}

func TestTurnover(t *testing.T) {
	t.Parallel()
	const active, pending, retired = dkimkey.StateActive, dkimkey.StatePending, dkimkey.StateRetired
	for _, c := range []struct {
		name     string
		keys     []*ent.DKIMKey         // the current keys
		seen     []dnscheck.Observation // from a check that may be older
		ripe     string
		required string // selector of the key whose observation counts
		counts   byte
	}{
		{"one key", []*ent.DKIMKey{keyRow("a", active)}, []dnscheck.Observation{sawKey("a", 'v')}, "", "a", 'v'},
		{"one key, missing", []*ent.DKIMKey{keyRow("a", active)}, []dnscheck.Observation{sawKey("a", 'm')}, "", "a", 'm'},
		{"the next is there", []*ent.DKIMKey{keyRow("a", active), keyRow("b", pending)},
			[]dnscheck.Observation{sawKey("a", 'v'), sawKey("b", 'v')}, "b", "b", 'v'},
		{"the next instead of the first", []*ent.DKIMKey{keyRow("a", active), keyRow("b", pending)},
			[]dnscheck.Observation{sawKey("a", 'm'), sawKey("b", 'v')}, "b", "b", 'v'},
		{"the next is wrong", []*ent.DKIMKey{keyRow("a", active), keyRow("b", pending)},
			[]dnscheck.Observation{sawKey("a", 'v'), sawKey("b", 'x')}, "", "a", 'v'},
		{"the next did not answer", []*ent.DKIMKey{keyRow("a", active), keyRow("b", pending)},
			[]dnscheck.Observation{sawKey("a", 'v'), sawKey("b", '?')}, "", "a", 'v'},
		{"both gone", []*ent.DKIMKey{keyRow("a", active), keyRow("b", pending)}, []dnscheck.Observation{sawKey("a", 'm'), sawKey("b", 'm')}, "", "a", 'm'},
		{"turned meanwhile", []*ent.DKIMKey{keyRow("a", retired), keyRow("b", active)},
			[]dnscheck.Observation{sawKey("a", 'm'), sawKey("b", 'v')}, "", "b", 'v'},
		{"turned to one that was not looked at", []*ent.DKIMKey{keyRow("a", retired), keyRow("b", active)},
			[]dnscheck.Observation{sawKey("a", 'm')}, "", "b", '?'},
		{"a key that is gone", []*ent.DKIMKey{keyRow("a", active)}, []dnscheck.Observation{sawKey("a", 'v'), sawKey("z", 'm')}, "", "a", 'v'},
		{"a retired one never comes back", []*ent.DKIMKey{keyRow("a", retired), keyRow("b", active)},
			[]dnscheck.Observation{sawKey("a", 'v'), sawKey("b", 'v')}, "", "b", 'v'},
	} {
		ripe, current := Turnover(c.keys, c.seen)
		var got strings.Builder
		for _, k := range ripe {
			got.WriteString(k.Selector)
		}
		if got.String() != c.ripe {
			t.Errorf("%s: ripe %q, want %q", c.name, got.String(), c.ripe)
		}
		var counted []dnscheck.Observation
		for _, o := range current {
			if o.Selector == "z" {
				t.Errorf("%s: kept the observation of a deleted key", c.name)
			}
			if o.IsRequired() {
				counted = append(counted, o)
			}
		}
		want := sawKey(c.required, c.counts)
		if len(counted) != 1 || counted[0].Selector != want.Selector || counted[0].Unanswered != want.Unanswered ||
			counted[0].Status != want.Status {
			t.Errorf("%s: %+v counts, want %+v", c.name, counted, want)
		}
	}
}

func TestWaitsForNewestPendingKey(t *testing.T) {
	t.Parallel()
	now := time.Now()
	keys := []*ent.DKIMKey{keyRow("a", dkimkey.StateActive), keyRow("b", dkimkey.StatePending)}
	keys[1].CreatedAt = now.Add(-time.Hour)
	if age := PendingAge(keys, nil, now); age != time.Hour {
		t.Errorf("PendingAge returned %s", age)
	}
	if age := PendingAge(keys, keys[1:], now); age >= 0 {
		t.Errorf("PendingAge of an active key returned %s", age)
	}
}
