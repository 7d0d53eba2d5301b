package domains

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/domains/signing"
	"github.com/postrider/postrider/runtime/work/event"
)

// switchSecondKey enables or disables the second key without publishing facts, so that a test sees only the
// facts about keys.
func (w *world) switchSecondKey(ctx context.Context, accountID, domainID string, on bool) (*ent.Domain, error) {
	err := w.changeKeys(ctx, accountID, domainID, nil, func(tx *ent.Tx, d *ent.Domain, keys []*ent.DKIMKey) error {
		return w.switchEd25519(ctx, tx, d, keys, on)
	})
	if err != nil {
		return nil, err
	}
	return w.Get(ctx, accountID, domainID)
}

func (w *world) enable(t testing.TB, d *ent.Domain, on bool) *ent.Domain {
	t.Helper()
	now, err := w.switchSecondKey(t.Context(), *d.AccountID, d.ID, on)
	if err != nil || now.Ed25519 != on {
		t.Fatalf("setting Ed25519 to %t returned %+v, %v, want that setting", on, now, err)
	}
	return now
}

func TestSecondSignatureRequiresPublishedRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.verified(t, w.ada, "example.com")
	first := signing.ActiveKey(d).Selector
	d = w.enable(t, w.enable(t, d, true), true) // enabling it twice has no further effect
	if got := keyStates(d, first); !strings.HasPrefix(got, "A active, pe1") || !strings.HasSuffix(got, "? pending") ||
		len(signing.Keys(d)) != 2 {
		t.Fatalf("after enabling Ed25519, the keys are %s, want the first active and one more pending", got)
	}
	second := signing.Keys(d)[1].Selector
	if r := recordOf(t, w.Records(d), second); r.Required || !strings.HasPrefix(r.Value, "v=DKIM1; k=ed25519; p=") ||
		len(r.Value) != len("v=DKIM1; k=ed25519; p=")+44 {
		t.Errorf("the record of the Ed25519 key is %+v, want one that is not required, with a key of 44 characters", r)
	}
	if d = w.verify(t, d); d.Status != "verified" { // it is not required
		t.Errorf("without the record of the Ed25519 key, the domain is %s, want verified", d.Status)
	}
	if diff := cmp.Diff([]string{first}, w.sent(t, d)); diff != "" {
		t.Error(diff)
	}

	w.publish(t, d)
	d = w.verify(t, d)
	if diff := cmp.Diff([]string{first, second}, w.sent(t, d)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]event.Type{event.DomainVerified}, w.publishedFacts(t, d)); diff != "" {
		t.Error(diff) // the first key of an algorithm replaces no other
	}

	w.zone.Remove(second + "._domainkey.example.com")
	if d = w.verify(t, d); d.Status != "verified" {
		t.Errorf("after removing the record of the Ed25519 key, the domain is %s, want verified", d.Status)
	}
	if diff := cmp.Diff([]string{first}, w.sent(t, d)); diff != "" {
		t.Error(diff)
	}
	w.publish(t, d)
	d = w.verify(t, d)
	if diff := cmp.Diff([]string{first, second}, w.sent(t, d)); diff != "" {
		t.Error(diff)
	}
}

func TestBothKeysRotate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.enable(t, w.verified(t, w.ada, "example.com"), true)
	w.publish(t, d)
	d = w.verify(t, d)
	before := w.sent(t, d)
	d = w.rotate(t, d)
	if got := keyStates(d, before...); strings.Count(got, "active") != 2 || strings.Count(got, "pending") != 2 {
		t.Fatal(got)
	}
	// Each key becomes active once its own record is published.
	keys := signing.Keys(d)
	rsa, ed := recordOf(t, w.Records(d), keys[1].Selector), recordOf(t, w.Records(d), keys[3].Selector)
	w.zone.Set(t, ed.Name, zoneLine(ed))
	d = w.verify(t, d)
	if diff := cmp.Diff([]string{before[0], ed.Selector}, w.sent(t, d)); diff != "" {
		t.Error(diff)
	}
	w.zone.Set(t, rsa.Name, zoneLine(rsa))
	d = w.verify(t, d)
	if diff := cmp.Diff([]string{rsa.Selector, ed.Selector}, w.sent(t, d)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]event.Type{event.DomainVerified, event.DomainDKIMRotated, event.DomainDKIMRotated},
		w.publishedFacts(t, d)); diff != "" {
		t.Error(diff)
	}
}

func TestSecondSignatureCanBeDisabled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.enable(t, w.verified(t, w.ada, "example.com"), true)
	if d = w.enable(t, d, false); len(signing.Keys(d)) != 1 {
		t.Errorf("after disabling Ed25519, the keys are %+v, want the key that never signed deleted", signing.Keys(d))
	}
	d = w.enable(t, d, true)
	w.publish(t, d)
	d = w.verify(t, d)
	selectors := w.sent(t, d)
	d = w.enable(t, d, false)
	if got, want := keyStates(d, selectors...), "A active, B retired"; got != want {
		t.Errorf("got the keys %s, want %s", got, want)
	}
	if diff := cmp.Diff(selectors[:1], w.sent(t, d)); diff != "" {
		t.Error(diff)
	}
	d = w.enable(t, d, true) // a new key, not the old one again
	w.publish(t, d)
	d = w.verify(t, d)
	if again := w.sent(t, d); len(again) != 2 || again[1] == selectors[1] {
		t.Errorf("got the new key %v after the old key %v", again, selectors)
	}
}
