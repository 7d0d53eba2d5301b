package domains

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/event"
)

func (w *world) startClaim(t testing.TB, accountID, name string) Claim {
	t.Helper()
	c, err := w.StartClaim(t.Context(), accountID, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (w *world) publishClaim(t testing.TB, c Claim) {
	t.Helper()
	w.zone.Add(t, strings.ReplaceAll(c.Record.ZoneLine(), "\t", " "))
}

func (w *world) status(t testing.TB, d *ent.Domain) string {
	t.Helper()
	now, err := w.Get(t.Context(), *d.AccountID, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	return string(now.Status)
}

func TestClaimMovesTheDomain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	his := w.verified(t, w.ada, "example.com")
	from := mailbox(t, "a@example.com")
	before, err := w.Identity(t.Context(), w.ada, from)
	if err != nil {
		t.Fatal(err)
	}

	_, err = w.Add(t.Context(), w.eve, NewDomain{Name: "example.com"})
	told, ok := wantFault(t, err, fault.Conflict, fault.CodeDomainClaimed).Details["claim"].(map[string]any)
	c := w.startClaim(t, w.eve, "Example.COM.")
	if !ok || told["name"] != c.Record.Name || told["value"] != c.Record.Value {
		t.Errorf("StartClaim returned %v, %+v", told, c)
	}
	if life := c.ExpiresAt.Sub(c.CreatedAt); c.Status != ClaimPending || life != 7*24*time.Hour ||
		c.Name != "example.com" {
		t.Errorf("the claim is %+v and expires in %s", c, life)
	}

	c, d, err := w.VerifyClaim(t.Context(), w.eve, c.ID)
	if err != nil || d != nil || c.Status != ClaimPending || c.LastCheckedAt == nil ||
		c.Record.Status != dnscheck.Mismatch || !strings.Contains(c.Record.Error, c.Record.Value) {
		t.Fatalf("before its record is published, VerifyClaim returned %+v, %+v, %v", c, d, err)
	}
	w.publishClaim(t, c)
	c, d, err = w.VerifyClaim(t.Context(), w.eve, c.ID)
	if err != nil || d == nil || c.Status != ClaimCompleted || c.CompletedAt == nil {
		t.Fatalf("after its record was published, VerifyClaim returned %+v, %+v, %v, want a completed claim and "+
			"the domain", c,
			d, err)
	}
	if d.ID == his.ID || *d.AccountID != w.eve || d.Status != "pending" || d.VerifiedAt != nil || d.DueAt == nil ||
		d.Edges.Keys[0].PublicKey == his.Edges.Keys[0].PublicKey ||
		d.Edges.Keys[0].Selector == before.Selector || d.OwnershipToken == his.OwnershipToken {
		t.Errorf("the claimed domain is %+v", d)
	}
	if again, same, err := w.VerifyClaim(t.Context(), w.eve, c.ID); err != nil || again.Status != ClaimCompleted ||
		same == nil || same.ID != d.ID {
		t.Errorf("verifying the claim again returned %+v, %v", again, err)
	}

	// The records that the former owner published are still in DNS. They do not restore the domain.
	his = w.verify(t, his)
	if his.Status != "failed" || w.byPurpose(his)[dnscheck.Ownership].Status == dnscheck.Verified {
		t.Errorf("the former owner's domain is %s, %+v", his.Status, his.Records)
	}
	_, err = w.Identity(t.Context(), w.ada, from)
	wantFault(t, err, fault.Forbidden, fault.CodeDomainNotVerified)
	if diff := cmp.Diff([]event.Type{event.DomainVerified, event.DomainLost}, w.publishedFacts(t, his)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]event.Type{event.DomainClaimed}, w.publishedFacts(t, d)); diff != "" {
		t.Error(diff)
	}
	w.publishBeside(t, d)
	if d = w.verify(t, d); d.Status != "verified" {
		t.Errorf("with the records of its new owner, the domain is %s: %+v, want verified", d.Status, w.Records(d))
	}
}

func TestLostDomainIsNotCheckedAutomatically(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	his := w.verified(t, w.ada, "example.com")
	c := w.startClaim(t, w.eve, "example.com")
	w.publishClaim(t, c)
	if _, _, err := w.VerifyClaim(t.Context(), w.eve, c.ID); err != nil {
		t.Fatal(err)
	}
	his, err := w.Get(t.Context(), w.ada, his.ID)
	if err != nil || his.DueAt != nil || !strings.HasPrefix(w.byPurpose(his)[dnscheck.Ownership].Error,
		"Another account proved control of example.com on ") {
		t.Errorf("the lost domain is due at %v with the records %+v, %v", his.DueAt, his.Records, err)
	}
	// The former owner can see nothing about the other account.
	health, err := w.Health(t.Context(), w.ada, 10, his.ID)
	if err != nil {
		t.Fatal(err)
	}
	facts, err := w.facts.Facts(t.Context(), w.ada, his.ID)
	if err != nil {
		t.Fatal(err)
	}
	all, err := json.Marshal([]any{his, w.Records(his), health, facts})
	if err != nil {
		t.Fatal(err)
	}
	for _, foreign := range []string{w.eve, c.ID, c.Record.Value, "eve@example.net"} {
		if strings.Contains(string(all), foreign) {
			t.Errorf("the former owner can see %s", foreign)
		}
	}
	// The former owner takes the name back by proving control again, now that no account has it verified.
	w.publish(t, his)
	if got := w.verify(t, his); got.Status != "verified" {
		t.Errorf("after the former owner verified it again, the domain is %s", got.Status)
	}
}

func TestRunningCheckDoesNotUndoClaim(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	his := w.verified(t, w.ada, "example.com")
	seen, err := w.checks.check(t.Context(), his) // all records are valid
	if err != nil {
		t.Fatal(err)
	}
	c := w.startClaim(t, w.eve, "example.com")
	w.publishClaim(t, c)
	if _, _, err := w.VerifyClaim(t.Context(), w.eve, c.ID); err != nil {
		t.Fatal(err)
	}
	err = w.db.InTx(t.Context(), func(tx *ent.Tx) error {
		o, err := w.checks.store(t.Context(), tx, his, nil, seen)
		if err == nil && !o.gone {
			t.Errorf("storing the check of a claimed domain returned %+v, want gone", o)
		}
		return err
	})
	if err != nil || w.status(t, his) != "failed" {
		t.Errorf("after a late check, the lost domain is %s, %v, want failed", w.status(t, his), err)
	}
}

func TestInvalidClaimsAreRejected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.verified(t, w.ada, "example.com")
	w.add(t, w.ada, "pending.example.com")
	free := w.addAccount(t, "free@example.org", accounts.PlanFree)
	w.add(t, free, "one.example.org")
	for name, c := range map[string]struct {
		account, name string
		kind          fault.Kind
		code          string
	}{
		"not added":                 {w.eve, "new.example.com", fault.Conflict, fault.CodeConflict},
		"not verified":              {w.eve, "pending.example.com", fault.Conflict, fault.CodeConflict},
		"the account itself has it": {w.ada, "example.com", fault.Conflict, fault.CodeConflict},
		"no room in the plan":       {free, "example.com", fault.Limit, fault.CodePlanLimit},
		"no name":                   {w.eve, "", fault.Invalid, fault.CodeValidation},
		"a public suffix":           {w.eve, "co.uk", fault.Invalid, fault.CodeValidation},
		"our sandbox":               {w.eve, "sandbox.postrider.example", fault.Invalid, fault.CodeValidation},
		"no such account":           {"acc_unknown", "example.com", fault.NotFound, fault.CodeNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := w.StartClaim(t.Context(), c.account, c.name, nil)
			wantFault(t, err, c.kind, c.code)
		})
	}
}

func TestClaimExpiresByDatabaseClock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.verified(t, w.ada, "example.com")
	first := w.startClaim(t, w.eve, "example.com")
	if again := w.startClaim(t, w.eve, "example.com"); again.ID != first.ID {
		t.Error("a second claim next to the open one")
	}
	w.publishClaim(t, first)
	w.exec(t, `UPDATE domain_claims SET expires_at = now()`)
	_, _, err := w.VerifyClaim(t.Context(), w.eve, first.ID)
	wantFault(t, err, fault.Conflict, fault.CodeConflict)
	if got, err := w.GetClaim(t.Context(), w.eve, first.ID); err != nil || got.Status != ClaimExpired {
		t.Errorf("after its lifetime, the claim is %+v, %v, want expired", got, err)
	}
	// A leftover record does not prove the next claim.
	second := w.startClaim(t, w.eve, "example.com")
	if second.ID == first.ID || second.Record.Value == first.Record.Value {
		t.Errorf("the claim after %[2]v is %+[1]v, want another token", second, first)
	}
	if c, d, err := w.VerifyClaim(t.Context(), w.eve, second.ID); err != nil || d != nil ||
		c.Record.Status != dnscheck.Mismatch {
		t.Errorf("with the record of an expired claim, the next claim is %+v, %v, want a mismatch", c, err)
	}
}

func TestClaimWithoutAnswerStaysPending(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	his := w.verified(t, w.ada, "example.com")
	c := w.startClaim(t, w.eve, "example.com")
	w.zone.Fault("_service.example.com", dnsxtest.ServFail)
	got, d, err := w.VerifyClaim(t.Context(), w.eve, c.ID)
	if err != nil || d != nil || got.Status != ClaimPending || !strings.Contains(got.Record.Error, "did not answer") ||
		w.status(t, his) != "verified" {
		t.Errorf("a claim whose lookup got no answer is %+v, %v, want pending, and the domain still verified", got, err)
	}
}

func TestClaimsAreIsolatedByTenant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.verified(t, w.ada, "example.com")
	mal := w.addAccount(t, "mal@example.org", accounts.PlanPro)
	hers, his := w.startClaim(t, w.eve, "example.com"), w.startClaim(t, mal, "example.com")
	if hers.Record.Value == his.Record.Value {
		t.Error("two accounts have the same token")
	}
	_, err := w.GetClaim(t.Context(), w.eve, his.ID)
	wantFault(t, err, fault.NotFound, fault.CodeNotFound)
	_, _, err = w.VerifyClaim(t.Context(), w.eve, his.ID)
	wantFault(t, err, fault.NotFound, fault.CodeNotFound)
	list, err := w.ListClaims(t.Context(), w.eve, page.Request{Limit: 1})
	if err != nil || len(list.Items) != 1 || list.Items[0].ID != hers.ID || list.HasMore {
		t.Errorf("Eve's claims are %+v, %v, want only %s", list, err, hers.ID)
	}
	// The record of another account does not prove eve's claim.
	w.publishClaim(t, his)
	if c, d, err := w.VerifyClaim(t.Context(), w.eve, hers.ID); err != nil || d != nil || c.Status != ClaimPending {
		t.Errorf("with the record of another account, the claim is %+v, %v, want pending", c, err)
	}
}

func TestClaimantKeepsTheIDOfItsUnverifiedDomain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.verified(t, w.ada, "example.com")
	w.exec(t, `UPDATE domains SET status = 'failed' WHERE account_id = $1`, w.ada)
	own, err := w.Add(t.Context(), w.eve, NewDomain{Name: "example.com", InboundEnabled: true})
	if err != nil {
		t.Fatal(err)
	}
	w.exec(t, `UPDATE domains SET status = 'verified' WHERE account_id = $1`, w.ada)
	c := w.startClaim(t, w.eve, "example.com")
	w.publishClaim(t, c)
	_, d, err := w.VerifyClaim(t.Context(), w.eve, c.ID)
	if err != nil || d.ID != own.ID || !d.InboundEnabled || len(d.Edges.Keys) != 1 ||
		d.Edges.Keys[0].Selector == own.Edges.Keys[0].Selector ||
		d.Edges.Keys[0].PublicKey == own.Edges.Keys[0].PublicKey || d.OwnershipToken == own.OwnershipToken {
		t.Errorf("the claim returned %+v for the domain %+v, %v", d, own, err)
	}
}

// Two accounts verify claims concurrently while the owner checks the domain and a third account adds the
// name. In the end, at most one account has verified the name, and every request got one of its allowed
// responses.
func TestClaimRaces(t *testing.T) {
	t.Parallel()
	for i := range 3 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			his := w.verified(t, w.ada, "example.com")
			mal := w.addAccount(t, "mal@example.org", accounts.PlanPro)
			claims := map[string]Claim{w.eve: w.startClaim(t, w.eve, "example.com"),
				mal: w.startClaim(t, mal, "example.com")}
			for _, c := range claims {
				w.publishClaim(t, c)
			}
			other := w.process(t)
			var all sync.WaitGroup
			for account, c := range claims {
				for j := range 6 {
					all.Go(func() {
						got, d, err := []*Service{w.Service, other}[j%2].VerifyClaim(t.Context(), account, c.ID)
						if err != nil || got.Status != ClaimCompleted || d == nil || *d.AccountID != account ||
							d.Status != "pending" {
							t.Errorf("VerifyClaim of the account %s, concurrently with others, returned %+v, %+v, "+
								"%v, want a completed claim and a pending domain of the account", account, got, d, err)
						}
					})
				}
			}
			all.Go(func() {
				for range 4 {
					if _, err := other.Verify(t.Context(), w.ada, his.ID); err != nil {
						t.Error(err)
					}
				}
			})
			all.Wait()
			if status := w.status(t, his); status != "failed" {
				t.Errorf("the former owner's domain is %s", status)
			}
			if n := w.count(t, `status = 'verified'`); n != 0 {
				t.Errorf("%d accounts have verified the name", n)
			}
			if n := w.count(t, `name = 'example.com'`); n != 3 {
				t.Errorf("got %d rows for the name", n)
			}
			if diff := cmp.Diff([]event.Type{event.DomainVerified, event.DomainLost},
				w.publishedFacts(t, his)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
