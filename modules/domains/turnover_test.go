package domains

import (
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/dkimkey"
)

func keyRow(selector string, state dkimkey.State) *ent.DKIMKey {
	return &ent.DKIMKey{ID: "dkm_" + selector, Selector: selector, Algorithm: dkimkey.AlgorithmRsaSha256, State: state}
}

// sawKey is the observation of a key, in the letters of sight.
func sawKey(selector string, code byte) observation {
	status := map[byte]RecordStatus{'v': Verified, 'm': Missing, 'x': Mismatch}[code]
	return observation{purpose: DKIM, selector: selector, status: status, unanswered: code == '?'}
}

func TestTurnover(t *testing.T) {
	t.Parallel()
	const active, pending, retired = dkimkey.StateActive, dkimkey.StatePending, dkimkey.StateRetired
	for _, c := range []struct {
		name     string
		keys     []*ent.DKIMKey // as they are now
		seen     []observation  // by a check that may be older
		ripe     string
		required string // selector whose state counts
		counts   byte
	}{
		{"one key", []*ent.DKIMKey{keyRow("a", active)}, []observation{sawKey("a", 'v')}, "", "a", 'v'},
		{"one key, missing", []*ent.DKIMKey{keyRow("a", active)}, []observation{sawKey("a", 'm')}, "", "a", 'm'},
		{"the next is there", []*ent.DKIMKey{keyRow("a", active), keyRow("b", pending)}, []observation{sawKey("a", 'v'), sawKey("b", 'v')}, "b", "b", 'v'},
		{"the next instead of the first", []*ent.DKIMKey{keyRow("a", active), keyRow("b", pending)}, []observation{sawKey("a", 'm'), sawKey("b", 'v')}, "b", "b", 'v'},
		{"the next is wrong", []*ent.DKIMKey{keyRow("a", active), keyRow("b", pending)}, []observation{sawKey("a", 'v'), sawKey("b", 'x')}, "", "a", 'v'},
		{"the next did not answer", []*ent.DKIMKey{keyRow("a", active), keyRow("b", pending)}, []observation{sawKey("a", 'v'), sawKey("b", '?')}, "", "a", 'v'},
		{"both gone", []*ent.DKIMKey{keyRow("a", active), keyRow("b", pending)}, []observation{sawKey("a", 'm'), sawKey("b", 'm')}, "", "a", 'm'},
		{"turned meanwhile", []*ent.DKIMKey{keyRow("a", retired), keyRow("b", active)}, []observation{sawKey("a", 'm'), sawKey("b", 'v')}, "", "b", 'v'},
		{"turned to one that was not looked at", []*ent.DKIMKey{keyRow("a", retired), keyRow("b", active)}, []observation{sawKey("a", 'm')}, "", "b", '?'},
		{"a key that is gone", []*ent.DKIMKey{keyRow("a", active)}, []observation{sawKey("a", 'v'), sawKey("z", 'm')}, "", "a", 'v'},
		{"a retired one never comes back", []*ent.DKIMKey{keyRow("a", retired), keyRow("b", active)}, []observation{sawKey("a", 'v'), sawKey("b", 'v')}, "", "b", 'v'},
	} {
		ripe, current := turnover(c.keys, c.seen)
		var got strings.Builder
		for _, k := range ripe {
			got.WriteString(k.Selector)
		}
		if got.String() != c.ripe {
			t.Errorf("%s: ripe %q, want %q", c.name, got.String(), c.ripe)
		}
		var counted []observation
		for _, o := range current {
			if o.selector == "z" {
				t.Errorf("%s: kept what was seen of a key that is gone", c.name)
			}
			if o.required() {
				counted = append(counted, o)
			}
		}
		want := sawKey(c.required, c.counts)
		if len(counted) != 1 || counted[0].selector != want.selector || counted[0].unanswered != want.unanswered || counted[0].status != want.status {
			t.Errorf("%s: %+v counts, want %+v", c.name, counted, want)
		}
	}
}

func TestLooksForAWaitingKeyGrowApart(t *testing.T) {
	t.Parallel()
	now := time.Now()
	keys := []*ent.DKIMKey{keyRow("a", dkimkey.StateActive), keyRow("b", dkimkey.StatePending)}
	keys[1].CreatedAt = now.Add(-time.Hour)
	if age := waiting(keys, nil, now); age != time.Hour {
		t.Errorf("waits for %s", age)
	}
	if age := waiting(keys, keys[1:], now); age >= 0 {
		t.Errorf("one that signs now waits for %s", age)
	}
	for age, want := range map[time.Duration]time.Duration{0: time.Minute, time.Hour: 30 * time.Minute, 30 * 24 * time.Hour: 6 * time.Hour} {
		if got := untilWaiting(age); got != want {
			t.Errorf("after %s: %s, want %s", age, got, want)
		}
	}
}
