package domains

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/domains/signing"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/mail/address"
)

func mailbox(t testing.TB, text string) address.Address {
	t.Helper()
	a, err := address.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestIdentityRequiresExactDomainOfAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.verified(t, w.ada, "bücher.example.com")
	identity, err := w.Identity(t.Context(), w.ada, mailbox(t, "Ada <a@BÜCHER.example.com>"))
	if err != nil {
		t.Fatal(err)
	}
	if identity.DomainID != d.ID || identity.Domain != "xn--bcher-kva.example.com" ||
		identity.Selector != signing.ActiveKey(d).Selector || identity.Second != nil ||
		identity.Sandbox || identity.TLSMode != "opportunistic" {
		t.Errorf("the identity is %+v, want the verified domain with its active key, opportunistic TLS, not sandboxed",
			identity)
	}
	for account, from := range map[string]string{w.ada: "a@mail.bücher.example.com", w.eve: "a@bücher.example.com"} {
		_, err := w.Identity(t.Context(), account, mailbox(t, from))
		refused := wantFault(t, err, fault.Forbidden, fault.CodeDomainNotVerified)
		if !strings.Contains(refused.Message, "bücher.example.com") ||
			!strings.Contains(refused.Message, "add it and verify it") {
			t.Errorf("the error %q does not say what to do", refused.Message)
		}
	}
}

func TestIdentityCacheIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	there := w.process(t)
	from := mailbox(t, "a@example.com")
	d := w.add(t, w.ada, "example.com")
	_, err := there.Identity(t.Context(), w.ada, from)
	wantFault(t, err, fault.Forbidden, fault.CodeDomainNotVerified)
	w.publish(t, d)
	w.verify(t, d)
	if _, err := w.Identity(t.Context(), w.ada, from); err != nil {
		t.Errorf("in the process that verified it: %v", err)
	}
	eventually(t, 2*time.Second, func() bool {
		_, err := there.Identity(t.Context(), w.ada, from)
		return err == nil
	})
}

func TestEveryAccountCanUseSandbox(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rows := make(chan string, 6)
	for range cap(rows) {
		go func() {
			d, err := w.EnsureSandbox(t.Context())
			if err != nil {
				rows <- err.Error()
				return
			}
			rows <- d.ID
		}()
	}
	first := <-rows
	for range cap(rows) - 1 {
		if other := <-rows; other != first {
			t.Errorf("got the sandbox domains %s and %s", first, other)
		}
	}
	for _, account := range []string{w.ada, w.eve} {
		identity, err := w.Identity(t.Context(), account, mailbox(t, "x@sandbox.postrider.example"))
		if err != nil || !identity.Sandbox || identity.DomainID != first || identity.Key == nil {
			t.Errorf("the sandbox identity of the account %s is %+v, %v, want the sandbox domain %s with a key",
				account, identity, err, first)
		}
	}
	_, err := w.Get(t.Context(), w.ada, first)
	wantFault(t, err, fault.NotFound, fault.CodeNotFound)
	_, err = w.Identity(t.Context(), w.ada, mailbox(t, "x@sub.sandbox.postrider.example"))
	wantFault(t, err, fault.Forbidden, fault.CodeDomainNotVerified)
}

func TestSeededDomainSendsAndIsNeverChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	added := w.add(t, w.ada, "dev.test")
	d, err := w.EnsureSeeded(t.Context(), w.ada, "dev.test")
	if err != nil || d.ID != added.ID {
		t.Fatalf("seeding an added domain returned %+v, %v, want the domain %s", d, err, added.ID)
	}
	again, err := w.process(t).EnsureSeeded(t.Context(), w.ada, "DEV.test")
	if err != nil || again.ID != d.ID {
		t.Errorf("seeding the domain again returned %+v, %v, want the domain %s", again, err, d.ID)
	}
	if w.states(d) != "vvvvv" || !signing.ActiveKey(d).Ready || d.DueAt != nil {
		t.Errorf("the seeded domain has records %s and is %+v, want all verified, the key ready and no check due",
			w.states(d), d)
	}
	if _, err := w.Identity(t.Context(), w.ada, mailbox(t, "a@dev.test")); err != nil {
		t.Error(err)
	}
	if got := w.verify(t, d); got.Status != "verified" || len(w.zone.Queries()) != 0 {
		t.Errorf("the domain is %s after %v", got.Status, w.zone.Queries())
	}
	_, err = w.EnsureSeeded(t.Context(), w.eve, "dev.test")
	wantFault(t, err, fault.Conflict, fault.CodeConflict)
}

func BenchmarkIdentityCached(b *testing.B) {
	w := newWorld(b)
	if _, err := w.EnsureSeeded(b.Context(), w.ada, "dev.test"); err != nil {
		b.Fatal(err)
	}
	from := mailbox(b, "a@dev.test")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.Identity(b.Context(), w.ada, from); err != nil {
			b.Fatal(err)
		}
	}
}

func TestLostMasterKeyIsReportedAtStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := w.EnsureSandbox(t.Context()); err != nil {
		t.Fatal(err)
	}
	other, err := secret.NewBox(secret.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	w.box = other
	if _, err := w.process(t).EnsureSandbox(t.Context()); !errors.Is(err, secret.ErrUnknownKey) {
		t.Errorf("EnsureSeeded returned %v, want %v", err, secret.ErrUnknownKey)
	}
}
