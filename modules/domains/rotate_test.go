package domains

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/modules/domains/signing"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/web/idempotency"
	"github.com/postrider/postrider/runtime/work/event"
)

// testKey is a public key that no domain of a test has.
const testKey = "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA7fJ0"

func (w *world) rotate(t testing.TB, d *ent.Domain) *ent.Domain {
	t.Helper()
	now, err := w.RotateDKIM(t.Context(), *d.AccountID, d.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	return now
}

// keyStates returns "selector state ready" for each key, in display order. Selectors are replaced by their
// rank among the given ones.
func keyStates(d *ent.Domain, selectors ...string) string {
	var out []string
	for _, k := range signing.Keys(d) {
		name := k.Selector
		for i, s := range selectors {
			if s == name {
				name = string(rune('A' + i))
			}
		}
		if !k.Ready {
			name += "?"
		}
		out = append(out, name+" "+k.State)
	}
	return strings.Join(out, ", ")
}

// sent signs a message like a delivery does and verifies it like a receiver does. It returns the selectors,
// topmost first.
func (w *world) sent(t testing.TB, d *ent.Domain) []string {
	t.Helper()
	identity, err := w.Identity(t.Context(), *d.AccountID, mailbox(t, "a@"+d.Name))
	if err != nil {
		t.Fatal(err)
	}
	signed, err := dkim.Sign([]byte("From: a@"+d.Name+"\r\nSubject: x\r\n\r\nhello\r\n"), identity.Signers()...)
	if err != nil {
		t.Fatal(err)
	}
	var selectors []string
	for _, m := range regexp.MustCompile(`(?m)^ d=.*; s=(\w+);`).FindAllSubmatch(signed, -1) {
		selectors = append(selectors, string(m[1]))
	}
	signatures, err := dkim.Verify(signed,
		func(name string) ([]string, error) { return w.checks.checker.DNS.LookupTXT(t.Context(), name) })
	if err != nil || len(signatures) != len(identity.Signers()) {
		t.Fatalf("verifying the signatures of a message returned %+v, %v, want %d", signatures, err,
			len(identity.Signers()))
	}
	for _, s := range signatures {
		if s.Err != nil || s.Domain != d.Name {
			t.Errorf("the signature is %+v, want a valid one of %s", s, d.Name)
		}
	}
	return selectors
}

func recordOf(t testing.TB, records []dnscheck.RecordCheck, selector string) dnscheck.RecordCheck {
	t.Helper()
	for _, r := range records {
		if r.Purpose == dnscheck.DKIM && r.Selector == selector {
			return r
		}
	}
	t.Fatalf("no record for %s in %+v", selector, records)
	return dnscheck.RecordCheck{}
}

func TestRotationKeepsOneActiveKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.verified(t, w.ada, "example.com")
	first := signing.ActiveKey(d).Selector
	d = w.rotate(t, d)
	if len(signing.Keys(d)) != 2 {
		t.Fatalf("after a rotation, the keys are %+v, want two", signing.Keys(d))
	}
	second := signing.Keys(d)[1].Selector
	if got, want := keyStates(d, first, second), "A active, B? pending"; got != want {
		t.Errorf("got the keys %s, want %s", got, want)
	}
	if until := time.Until(*d.DueAt); until > time.Minute+time.Second {
		t.Errorf("the next check is in %s", until)
	}
	if r := recordOf(t, w.Records(d), second); r.Required || r.Status != dnscheck.Missing ||
		r.Error != dnscheck.NotChecked || r.Name != second+"._domainkey.example.com" {
		t.Errorf("after a rotation, the record of the new key is %+v, want it not required, missing and not checked", r)
	}

	// If the record is missing, wrong or unanswered, the first key keeps signing and the domain stays
	// verified.
	name := second + "._domainkey.example.com"
	for _, spoil := range []func(){
		func() {},
		func() { w.zone.Set(t, name, name+`. TXT "v=DKIM1; k=rsa; p=`+testKey+`"`) },
		func() { w.zone.Fault(name, dnsxtest.ServFail) },
	} {
		spoil()
		d = w.verify(t, d)
		if got, want := keyStates(d, first, second), "A active, B? pending"; got != want || d.Status != "verified" {
			t.Errorf("got the keys %s, want %s; %s", got, want, d.Status)
		}
		if until := time.Until(*d.DueAt); until > 2*time.Minute {
			t.Errorf("the next check is in %s", until)
		}
		if diff := cmp.Diff([]string{first}, w.sent(t, d)); diff != "" {
			t.Error(diff)
		}
	}

	w.zone.Fault(name, 0)
	w.publish(t, d)
	d = w.verify(t, d)
	if got, want := keyStates(d, first, second), "B active, A retired"; got != want || d.Status != "verified" {
		t.Errorf("got the keys %s, want %s; %s", got, want, d.Status)
	}
	if diff := cmp.Diff([]string{second}, w.sent(t, d)); diff != "" {
		t.Error(diff)
	}
	if old, next := recordOf(t, w.Records(d), first), recordOf(t, w.Records(d), second); old.Required ||
		old.Status != dnscheck.Verified || !next.Required || next.Status != dnscheck.Verified {
		t.Errorf("after the rotation, the records are\n%+v\n%+v, want the old one verified and not required, the "+
			"new one verified and required", old, next)
	}
	old := signing.Keys(d)[1]
	if old.KeepUntil == nil || old.RetiredAt == nil || old.KeepUntil.Sub(*old.RetiredAt) != dnscheck.KeepRetired ||
		signing.ActiveKey(d).ActivatedAt.Before(*old.RetiredAt) {
		t.Errorf("after the rotation, the keys are %+v, want the old one kept for %s after it retired",
			signing.Keys(d), dnscheck.KeepRetired)
	}
	if diff := cmp.Diff([]event.Type{event.DomainVerified, event.DomainDKIMRotated},
		w.publishedFacts(t, d)); diff != "" {
		t.Error(diff)
	}
	facts, err := w.facts.Facts(t.Context(), w.ada, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	if data := string(facts[d.ID][2].Data); !strings.Contains(data, first) || !strings.Contains(data, second) {
		t.Errorf("published %s", data)
	}
}

func TestRetiredKeyIsDeletedAfterAWeek(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.verified(t, w.ada, "example.com")
	first := signing.ActiveKey(d).Selector
	d = w.rotate(t, d)
	w.publish(t, d)
	d = w.verify(t, d)
	w.zone.Remove(first + "._domainkey.example.com")
	d = w.verify(t, d)
	if r := recordOf(t, w.Records(d), first); r.Status != dnscheck.Missing ||
		!strings.HasPrefix(r.Error, "Restore the TXT record at "+first) || d.Status != "verified" {
		t.Errorf("without the record of the retired key, the domain is %s and the record is %+v, want verified, "+
			"and advice to restore the record", d.Status, r)
	}
	w.exec(t, `UPDATE dkim_keys SET retired_at = now() - interval '7 days' WHERE state = 'retired'`)
	d, err := w.Get(t.Context(), w.ada, d.ID)
	if err != nil || len(signing.Keys(d)) != 1 || strings.Contains(dnscheck.ZoneFile(d, w.Records(d)), first) {
		t.Errorf("a week after it retired, the keys are %+v, %v, want the old one gone from keys and zone file",
			signing.Keys(d), err)
	}
	w.verify(t, d)
	if n := w.db.Ent.DKIMKey.Query().CountX(t.Context()); n != 1 {
		t.Errorf("%d keys are kept, want 1", n)
	}
}

// The response to the caller and the change are committed together.
func TestFailedResponseStorageUndoesChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.verified(t, w.ada, "example.com")
	full := errors.New("no room for the answer")
	_, err := w.RotateDKIM(t.Context(), w.ada, d.ID,
		func(_ context.Context, _ idempotency.Execer, now *ent.Domain) error {
			if keys := signing.Keys(now); len(keys) != 2 || keys[1].State != "pending" || len(w.Records(now)) != 6 {
				t.Errorf("the response would contain %+v", keys)
			}
			return full
		})
	if !errors.Is(err, full) {
		t.Errorf("the rotation returned %v", err)
	}
	if now, err := w.Get(t.Context(), w.ada, d.ID); err != nil || len(now.Edges.Keys) != 1 {
		t.Errorf("got %d keys, %v", len(now.Edges.Keys), err)
	}
	_, err = w.StartClaim(t.Context(), w.eve, "example.com",
		func(_ context.Context, _ idempotency.Execer, c Claim) error {
			if c.Status != ClaimPending || c.Record.Value == "" {
				t.Errorf("the response would contain %+v", c)
			}
			return full
		})
	if !errors.Is(err, full) {
		t.Errorf("the claim returned %v", err)
	}
	if claims, err := w.ListClaims(t.Context(), w.eve, page.Request{Limit: 10}); err != nil || len(claims.Items) != 0 {
		t.Errorf("after storing the response failed, the claims are %+v, %v, want none", claims, err)
	}
}

func TestNewRecordMayReplaceOldOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.verified(t, w.ada, "example.com")
	first := signing.ActiveKey(d).Selector
	d = w.rotate(t, d)
	w.publish(t, d)
	w.zone.Remove(first + "._domainkey.example.com")
	d = w.verify(t, d)
	if d.Status != "verified" || signing.ActiveKey(d).Selector == first {
		t.Errorf("with the new record instead of the old one, the domain is %s with keys %+v, want verified and "+
			"signing with the new key", d.Status, signing.Keys(d))
	}
	if diff := cmp.Diff([]event.Type{event.DomainVerified, event.DomainDKIMRotated}, w.publishedFacts(t, d)); diff != "" {
		t.Error(diff)
	}
}

func TestBackgroundCheckCompletesRotation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.rotate(t, w.verified(t, w.ada, "example.com"))
	second := signing.Keys(d)[1].Selector
	w.publish(t, d)
	w.exec(t, `UPDATE domains SET due_at = now()`)
	for _, s := range []*Service{w.Service, w.process(t)} {
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, 10*time.Second, func() bool {
		now, err := w.Get(t.Context(), w.ada, d.ID)
		return err == nil && signing.ActiveKey(now).Selector == second
	})
	if diff := cmp.Diff([]string{second}, w.sent(t, d)); diff != "" {
		t.Error(diff)
	}
}

func TestOneRotationAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.verified(t, w.ada, "example.com")
	services := []*Service{w.Service, w.process(t)}
	errs := make(chan error, 8)
	for i := range cap(errs) {
		go func() {
			_, err := services[i%2].RotateDKIM(t.Context(), w.ada, d.ID, nil)
			errs <- err
		}()
	}
	made := 0
	for range cap(errs) {
		if err := <-errs; err == nil {
			made++
		} else if refused := wantFault(t, err, fault.Conflict, fault.CodeConflict); refused.Details["selector"] == "" {
			t.Errorf("a second rotation returned %+v, want the selector of the first in its details", refused)
		}
	}
	d, err := w.Get(t.Context(), w.ada, d.ID)
	if err != nil || made != 1 || len(signing.Keys(d)) != 2 {
		t.Fatalf("got %d rotations, %+v, %v", made, signing.Keys(d), err)
	}
	// Two checks that find the record concurrently cause only one change of keys.
	w.publish(t, d)
	for i := range cap(errs) {
		go func() {
			_, err := services[i%2].Verify(t.Context(), w.ada, d.ID)
			errs <- err
		}()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff([]event.Type{event.DomainVerified, event.DomainDKIMRotated}, w.publishedFacts(t, d)); diff != "" {
		t.Error(diff)
	}
}

func TestStaleCheckKeepsNewKeyPending(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.verified(t, w.ada, "example.com")
	slow := w.claimOne(t, d)
	seen := w.checks.run(t.Context(), slow, nil)
	if seen.err != nil {
		t.Fatal(seen.err)
	}
	w.rotate(t, d)
	err := w.db.InTx(t.Context(), func(tx *ent.Tx) error {
		stored, err := w.checks.store(t.Context(), tx, slow.domain, &slow.fence, seen.seen)
		if err != nil || !stored.gone {
			t.Errorf("after a check from before the rotation, the keys are %+v, %v", stored, err)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestRotationIsLimitedToOwnAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.verified(t, w.ada, "example.com")
	sandbox, err := w.EnsureSandbox(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{d.ID, sandbox.ID, "dom_unknown", ""} {
		_, err := w.RotateDKIM(t.Context(), w.eve, id, nil)
		wantFault(t, err, fault.NotFound, fault.CodeNotFound)
		_, err = w.switchSecondKey(t.Context(), w.eve, id, true)
		wantFault(t, err, fault.NotFound, fault.CodeNotFound)
	}
	if n := w.db.Ent.DKIMKey.Query().CountX(t.Context()); n != 2 {
		t.Errorf("got %d keys", n)
	}
}

func TestSeededDomainRotatesImmediately(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d, err := w.EnsureSeeded(t.Context(), w.ada, "dev.test")
	if err != nil {
		t.Fatal(err)
	}
	first := signing.ActiveKey(d).Selector
	if d, err = w.switchSecondKey(t.Context(), w.ada, d.ID, true); err != nil {
		t.Fatal(err)
	}
	d = w.rotate(t, d)
	if signing.ActiveKey(d).Selector == first || !signing.ActiveKey(d).Ready || len(signing.Keys(d)) != 4 ||
		d.DueAt != nil {
		t.Errorf("after rotating a seeded domain, the keys are %+v, want 4 with a new ready one signing",
			signing.Keys(d))
	}
	identity, err := w.Identity(t.Context(), w.ada, mailbox(t, "a@dev.test"))
	if err != nil || identity.Selector != signing.ActiveKey(d).Selector || identity.Second == nil {
		t.Errorf("after rotating a seeded domain, the identity is %+v, %v, want the new key and a second signature",
			identity, err)
	}
	if diff := cmp.Diff([]event.Type{event.DomainDKIMRotated, event.DomainDKIMRotated},
		w.publishedFacts(t, d)); diff != "" {
		t.Error(diff)
	}
}
