package domains

import (
	"bytes"
	"crypto/rsa"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains/signing"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/event"
)

func TestAddCreatesPendingDomainWithKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keys = signing.NewRing(w.box, dkim.GenerateKey, nil)
	d, err := w.Add(t.Context(), w.ada, NewDomain{Name: "Mail.Example.COM.", InboundEnabled: true})
	if err != nil {
		t.Fatal(err)
	}
	if d.Name != "mail.example.com" || d.Status != "pending" || !d.InboundEnabled || d.Seeded ||
		*d.AccountID != w.ada || d.VerifiedAt != nil {
		t.Errorf("the new domain is %+v, want mail.example.com of Ada, pending, receiving, not seeded", d)
	}
	if d.DueAt == nil || time.Until(*d.DueAt) < 30*time.Second || time.Until(*d.DueAt) > 90*time.Second {
		t.Errorf("the first check is due at %v", d.DueAt)
	}
	facts, err := w.facts.Facts(t.Context(), w.ada, d.ID)
	if err != nil || len(facts[d.ID]) != 1 || facts[d.ID][0].Type != event.DomainAdded ||
		!bytes.Contains(facts[d.ID][0].Data, []byte(`"mail.example.com"`)) {
		t.Errorf("got %+v, %v", facts, err)
	}
	if len(d.Edges.Keys) != 1 {
		t.Fatalf("the domain has %d keys, want 1", len(d.Edges.Keys))
	}
	row := d.Edges.Keys[0]
	key, err := w.keys.Signer(t.Context(), row)
	if err != nil {
		t.Fatal(err)
	}
	public, isRSA := key.Public().(*rsa.PublicKey)
	if !isRSA || public.N.BitLen() != 2048 || dkim.PublicKey(key) != row.PublicKey || row.State != "active" ||
		row.ActivatedAt == nil {
		t.Errorf("the private key is a %T, matches the public key: %t, the stored key is %+v", key.Public(),
			dkim.PublicKey(key) == row.PublicKey, row)
	}
	private, err := dkim.MarshalPrivate(key)
	if err != nil || bytes.Contains(row.PrivateKey, private[50:80]) {
		t.Errorf("the row contains the private key in plain text (%v)", err)
	}
	if got := w.states(d); got != "mmmmm" {
		t.Errorf("the records have the states %s", got)
	}
	for _, r := range w.Records(d) {
		if r.Error == "" || r.Found == nil {
			t.Errorf("the record %s of a new domain is %+v, want advice and no found values",
				r.Purpose, r)
		}
	}
}

func TestAddRejectsInvalidNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, w.ada, "example.com")
	for _, name := range []string{"", "co.uk", "192.0.2.1", "sandbox.postrider.example",
		"x.sandbox.postrider.example"} {
		_, err := w.Add(t.Context(), w.ada, NewDomain{Name: name})
		if refused := wantFault(t, err, fault.Invalid, fault.CodeValidation); refused.Fields["name"] == "" {
			t.Errorf("adding the name %q got the fields %v, want an error of name", name, refused.Fields)
		}
	}
	_, err := w.Add(t.Context(), w.ada, NewDomain{Name: "EXAMPLE.com"})
	wantFault(t, err, fault.Conflict, fault.CodeConflict)
	_, err = w.Add(t.Context(), "acc_unknown", NewDomain{Name: "other.example.com"})
	wantFault(t, err, fault.NotFound, fault.CodeNotFound)
}

func TestPlanLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	free := w.addAccount(t, "free@example.org", accounts.PlanFree)
	w.add(t, free, "one.example.org")
	_, err := w.Add(t.Context(), free, NewDomain{Name: "two.example.org"})
	refused := wantFault(t, err, fault.Limit, fault.CodePlanLimit)
	if refused.UpgradeURL != "/settings/billing" || !strings.Contains(refused.Message, "Free allows 1 domain;") {
		t.Errorf("a second domain on the free plan got %+v, want the limit of 1 and the link to billing", refused)
	}
	_, err = w.Add(t.Context(), free, NewDomain{Name: "one.example.org"})
	wantFault(t, err, fault.Conflict, fault.CodeConflict) // this error is more useful than the limit
}

func TestPlanLimitUnderConcurrency(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := w.process(t)
	const tries, most = 24, 10
	kinds := make(chan fault.Kind, tries)
	var all sync.WaitGroup
	for i := range tries {
		all.Go(func() {
			s := []*Service{w.Service, other}[i%2]
			if _, err := s.Add(t.Context(), w.ada, NewDomain{Name: fmt.Sprintf("d%d.example.com", i)}); err != nil {
				kinds <- fault.KindOf(err)
			}
		})
	}
	all.Wait()
	close(kinds)
	for kind := range kinds {
		if kind != fault.Limit {
			t.Errorf("Add returned an error of kind %d", kind)
		}
	}
	if count := w.db.Ent.Domain.Query().CountX(t.Context()); count != most {
		t.Errorf("the account has %d domains, want %d", count, most)
	}
}

func TestConcurrentAddsCreateOneDomain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	errs := make(chan error, 8)
	for range cap(errs) {
		go func() {
			_, err := w.Add(t.Context(), w.ada, NewDomain{Name: "example.com"})
			errs <- err
		}()
	}
	added := 0
	for range cap(errs) {
		if err := <-errs; err == nil {
			added++
		} else {
			wantFault(t, err, fault.Conflict, fault.CodeConflict)
		}
	}
	if added != 1 {
		t.Errorf("the domain was added %d times", added)
	}
}

func TestDomainsAreIsolatedByTenant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var mine []string
	for i := range 5 {
		mine = append([]string{w.add(t, w.ada, fmt.Sprintf("a%d.example.com", i)).ID}, mine...)
		w.add(t, w.eve, fmt.Sprintf("a%d.example.com", i)) // the same names, unverified, which is not a conflict
	}
	var got []string
	request := page.Request{Limit: 2}
	for {
		list, err := w.List(t.Context(), w.ada, request)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range list.Items {
			got = append(got, d.ID)
		}
		if !list.HasMore {
			break
		}
		request.Cursor = list.NextCursor
	}
	if diff := cmp.Diff(mine, got); diff != "" {
		t.Error(diff)
	}

	_, err := w.List(t.Context(), w.eve, request)
	wantFault(t, err, fault.Invalid, fault.CodeValidation)
	_, err = w.Get(t.Context(), w.eve, mine[0])
	foreign := wantFault(t, err, fault.NotFound, fault.CodeNotFound)
	_, err = w.Get(t.Context(), w.eve, "dom_unknown")
	unknown := wantFault(t, err, fault.NotFound, fault.CodeNotFound)
	if strings.ReplaceAll(foreign.Message, mine[0], "") != strings.ReplaceAll(unknown.Message, "dom_unknown", "") {
		t.Errorf("%q and %q reveal that an id belongs to another account", foreign.Message, unknown.Message)
	}
	_, err = w.Verify(t.Context(), w.eve, mine[0])
	wantFault(t, err, fault.NotFound, fault.CodeNotFound)
	if n := len(w.zone.Queries()); n != 0 {
		t.Errorf("another account caused %d DNS lookups", n)
	}
}

func TestDomainsAreFiltered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shop, news := w.add(t, w.ada, "shop.example.com").ID, w.add(t, w.ada, "news.example.org").ID
	w.add(t, w.eve, "shop.example.net")
	if _, err := w.db.SQL.ExecContext(t.Context(), `UPDATE domains SET status = 'verified', inbound_enabled = true WHERE id = $1`, news); err != nil {
		t.Fatal(err)
	}
	yes, no := true, false
	for name, c := range map[string]struct {
		filter Filter
		want   []string
	}{
		"all": {Filter{}, []string{news, shop}}, "by name": {Filter{Text: "SHOP"}, []string{shop}}, "by status": {Filter{Status: "verified"}, []string{news}},
		"receiving": {Filter{Inbound: &yes}, []string{news}}, "not receiving": {Filter{Inbound: &no}, []string{shop}}, "a wildcard": {Filter{Text: "_"}, nil},
	} {
		found, err := w.ListFiltered(t.Context(), w.ada, c.filter, page.Request{})
		var ids []string
		for _, d := range found.Items {
			ids = append(ids, d.ID)
		}
		n, failed := w.Count(t.Context(), w.ada, c.filter, 10)
		if diff := cmp.Diff(c.want, ids); diff != "" || err != nil || failed != nil || n != len(c.want) {
			t.Errorf("%s: (-want +got) %s, %v; %d counted, %v", name, diff, err, n, failed)
		}
	}
	_, err := w.ListFiltered(t.Context(), w.ada, Filter{Text: "a\x00"}, page.Request{})
	if wantFault(t, err, fault.Invalid, fault.CodeValidation).Fields["query"] == "" {
		t.Errorf("a query with NUL returned %v, want an error for query", err)
	}
}

func TestVerifiedNameCanOnlyBeClaimed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status string // status of Ada's domain
		add    bool   // may eve add the name?
	}{
		{"pending", true}, {"failed", true}, {"verified", false}, {"temporary_failure", false},
	} {
		t.Run(c.status, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			first := w.add(t, w.ada, "example.com")
			w.exec(t, `UPDATE domains SET status = $2 WHERE id = $1`, first.ID, c.status)
			_, err := w.Add(t.Context(), w.eve, NewDomain{Name: "example.com"})
			if c.add {
				if err != nil {
					t.Error(err)
				}
				return
			}
			checkClaim(t, w, wantFault(t, err, fault.Conflict, fault.CodeDomainClaimed))
		})
	}
}

func checkClaim(t *testing.T, w *world, refused *fault.Error) {
	t.Helper()
	claim, told := refused.Details["claim"].(map[string]any)
	token := func(accountID, name string) string {
		value, err := w.claimToken(t.Context(), w.db.Ent.DomainClaim, accountID, name)
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	if !told || claim["type"] != "TXT" || claim["name"] != "_service.example.com" ||
		claim["value"] != token(w.eve, "example.com") ||
		!strings.Contains(claim["how"].(string), "POST /domains/claims") {
		t.Errorf("claim %v", claim)
	}
	if token(w.ada, "example.com") == claim["value"] || token(w.eve, "example.org") == claim["value"] {
		t.Error("the token does not depend on the account and the name")
	}
	if strings.Contains(fmt.Sprint(refused.Details, refused.Message), w.ada) {
		t.Errorf("%v reveals the owner of the domain", refused)
	}
}
