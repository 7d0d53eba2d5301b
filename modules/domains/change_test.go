package domains

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/domaincheck"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/modules/domains/signing"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/reportaddress"
	"github.com/postrider/postrider/runtime/work/event"
)

func TestVerifiedDomainAcceptsDeliverySettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.verified(t, w.ada, "example.com")
	on, off, enforced := true, false, "enforced"
	got, err := w.Update(t.Context(), w.ada, d.ID,
		DomainChange{OpenTracking: &on, ClickTracking: &off, TLSMode: &enforced})
	if err != nil || !got.OpenTracking || got.ClickTracking || got.TLSMode != "enforced" || got.InboundEnabled ||
		!got.UpdatedAt.After(d.UpdatedAt) {
		t.Fatalf("after changing the settings, the domain is %+v, %v, want opens tracked, clicks not, TLS "+
			"enforced, and a new update time", got, err)
	}
	if identity, err := w.Identity(t.Context(), w.ada, mailbox(t, "a@example.com")); err != nil ||
		identity.TLSMode != "enforced" {
		t.Errorf("the identity does not have the new TLS mode: %+v, %v", identity, err)
	}
	if again, err := w.Update(t.Context(), w.ada, d.ID, DomainChange{OpenTracking: &on}); err != nil ||
		!again.UpdatedAt.Equal(got.UpdatedAt) {
		t.Errorf("an update with the current settings changed %+v, %v", again, err)
	}
	facts, err := w.facts.Facts(t.Context(), w.ada, d.ID)
	if err != nil || len(facts[d.ID]) != 3 || facts[d.ID][2].Type != event.DomainUpdated {
		t.Fatalf("the facts are %+v, %v, want 3 with domain.updated last", facts, err)
	}
	var told event.DomainUpdate
	if err := json.Unmarshal(facts[d.ID][2].Data, &told); err != nil {
		t.Fatal(err)
	}
	want := event.DomainUpdate{Domain: event.Domain{DomainID: d.ID, Name: "example.com", Status: "verified"},
		OpenTracking: true, TLSMode: "enforced", MTASTS: "off",
		Changed: []string{"open_tracking", "tls_mode"}}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}

func TestInvalidDomainSettingsAreRejected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.add(t, w.ada, "example.com")
	on, enforced, strict := true, "enforced", "strict"
	for name, c := range map[string]DomainChange{"open": {OpenTracking: &on},
		"click": {ClickTracking: &on, InboundEnabled: &on}, "tls": {TLSMode: &enforced, Ed25519: &on}} {
		_, err := w.Update(t.Context(), w.ada, d.ID, c)
		if wantFault(t, err, fault.Conflict, fault.CodeDomainNotVerified); t.Failed() {
			t.Error(name)
		}
	}
	_, err := w.Update(t.Context(), w.ada, d.ID, DomainChange{TLSMode: &strict})
	wantFault(t, err, fault.Invalid, fault.CodeValidation)
	if now, err := w.Get(t.Context(), w.ada, d.ID); err != nil || now.InboundEnabled || now.Ed25519 ||
		len(now.Edges.Keys) != 1 {
		t.Errorf("a rejected change was applied in part: %+v, %v", now, err)
	}
	_, err = w.Update(t.Context(), w.eve, d.ID, DomainChange{InboundEnabled: &on})
	wantFault(t, err, fault.NotFound, fault.CodeNotFound)
	if len(w.publishedFacts(t, d)) != 0 {
		t.Error("a rejected change published facts")
	}
}

func TestEd25519CanBeEnabled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.verified(t, w.ada, "example.com")
	on := true
	d, err := w.Update(t.Context(), w.ada, d.ID, DomainChange{Ed25519: &on})
	if err != nil || !d.Ed25519 || len(signing.Keys(d)) != 2 {
		t.Fatalf("after enabling Ed25519, the domain is %+v, %v, want two keys", d, err)
	}
	w.publish(t, d)
	if d = w.verify(t, d); signing.Keys(d)[1].State != "active" {
		t.Errorf("after publishing its record, the keys are %+v, want the Ed25519 key active", signing.Keys(d))
	}
}

func TestInboundFromSettingToReceiver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.verified(t, w.ada, "example.com")
	rcpt, on, off := mailbox(t, "Help@Example.COM"), true, false
	_, err := w.Receiver(t.Context(), rcpt)
	wantFault(t, err, fault.NotFound, fault.CodeNotFound)
	d, err = w.Update(t.Context(), w.ada, d.ID, DomainChange{InboundEnabled: &on})
	if err != nil {
		t.Fatal(err)
	}
	mx := w.byPurpose(d)[dnscheck.InboundMX]
	if mx.Type != "MX" || mx.Name != "example.com" || mx.Value != "smtp.postrider.example" || *mx.Priority != 10 ||
		mx.Required || mx.Status != dnscheck.Missing {
		t.Errorf("the MX record of a receiving domain is %+v, want smtp.postrider.example at 10, not required, missing",
			mx)
	}
	if until := time.Until(*d.DueAt); until > 2*time.Minute {
		t.Errorf("the next check is due in %s", until)
	}
	if got, err := w.Receiver(t.Context(), rcpt); err != nil ||
		got != (Receiver{AccountID: w.ada, DomainID: d.ID, Domain: "example.com"}) {
		t.Errorf("Receiver of %s: %+v, %v, want Ada's example.com", rcpt, got, err)
	}
	if d = w.verify(t, d); d.Status != "verified" || w.byPurpose(d)[dnscheck.InboundMX].Error == "" {
		t.Errorf("without the MX record: %s, %+v", d.Status, w.byPurpose(d)[dnscheck.InboundMX])
	}
	w.zone.Add(t, "example.com. 300 IN MX 10 SMTP.postrider.example.")
	if d = w.verify(t, d); w.byPurpose(d)[dnscheck.InboundMX].Status != dnscheck.Verified {
		t.Errorf("after publishing it, the MX record is %+v, want verified", w.byPurpose(d)[dnscheck.InboundMX])
	}
	_, err = w.Receiver(t.Context(), mailbox(t, "help@mail.example.com"))
	wantFault(t, err, fault.NotFound, fault.CodeNotFound)
	w.checkTLSReports(t, d)
	if _, err := w.Update(t.Context(), w.ada, d.ID, DomainChange{InboundEnabled: &off}); err != nil {
		t.Fatal(err)
	}
	_, err = w.Receiver(t.Context(), rcpt)
	wantFault(t, err, fault.NotFound, fault.CodeNotFound)
}

// checkTLSReports checks the proposed TLS reporting record of a verified domain that receives mail.
func (w *world) checkTLSReports(t *testing.T, d *ent.Domain) {
	t.Helper()
	if _, shown := w.byPurpose(d)[dnscheck.TLSReports]; shown {
		t.Error("a TLS reporting record is proposed, but reports are not received")
	}
	addresses, err := reportaddress.New("rp.mail.example.org", make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	w.checks.reports = addresses
	record := w.byPurpose(d)[dnscheck.TLSReports]
	if record.Type != "TXT" || record.Name != "_smtp._tls."+d.Name || record.Required || record.Status != dnscheck.Missing ||
		record.Value != "v=TLSRPTv1; rua=mailto:"+addresses.Address(d.ID) {
		t.Errorf("the TLS reporting record is %+v", record)
	}
	if d = w.verify(t, d); d.Status != "verified" {
		t.Errorf("without the optional record, the domain is %s", d.Status)
	}
	w.zone.Add(t, record.Name+`. 300 IN TXT "`+record.Value+`"`)
	if d = w.verify(t, d); w.byPurpose(d)[dnscheck.TLSReports].Status != dnscheck.Verified {
		t.Errorf("after publishing it, the record is %+v, want verified", w.byPurpose(d)[dnscheck.TLSReports])
	}
	w.checks.reports = nil
}

func TestOnlyVerifiedDomainReceivesMail(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hers, err := w.Add(t.Context(), w.eve, NewDomain{Name: "example.com", InboundEnabled: true})
	if err != nil {
		t.Fatal(err)
	}
	rcpt := mailbox(t, "help@example.com")
	if _, shown := w.byPurpose(hers)[dnscheck.InboundMX]; shown {
		t.Error("an unverified domain lists an MX record, with which mail would be lost")
	}
	for status, receives := range map[string]bool{"pending": false, "failed": false, "verified": true,
		"temporary_failure": true} {
		w.exec(t, `UPDATE domains SET status = $1`, status)
		w.forget(w.eve, "example.com")
		if _, err := w.Receiver(t.Context(), rcpt); (err == nil) != receives {
			t.Errorf("Receiver of a domain that is %s: %v, want it to receive: %t", status, err, receives)
		}
	}
}

func TestDeletedDomainCanBeAddedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.verified(t, w.ada, "example.com")
	_, err := w.Identity(t.Context(), w.ada, mailbox(t, "a@example.com"))
	if err != nil {
		t.Fatal(err)
	}
	wantFault(t, w.Delete(t.Context(), w.eve, d.ID), fault.NotFound, fault.CodeNotFound)
	if err := w.Delete(t.Context(), w.ada, d.ID); err != nil {
		t.Fatal(err)
	}
	wantFault(t, w.Delete(t.Context(), w.ada, d.ID), fault.NotFound, fault.CodeNotFound)
	_, err = w.Identity(t.Context(), w.ada, mailbox(t, "a@example.com"))
	wantFault(t, err, fault.Forbidden, fault.CodeDomainNotVerified)
	if diff := cmp.Diff([]event.Type{event.DomainVerified, event.DomainDeleted}, w.publishedFacts(t, d)); diff != "" {
		t.Error(diff)
	}
	keys, checks := w.db.Ent.DKIMKey.Query().CountX(t.Context()), w.db.Ent.DomainCheck.Query().CountX(t.Context())
	if keys != 0 || checks != 0 {
		t.Errorf("%d keys and %d checks remain", keys, checks)
	}
	// Every account can add the name again, with other keys and another token.
	again := w.add(t, w.eve, "example.com")
	if again.ID == d.ID || again.OwnershipToken == d.OwnershipToken ||
		again.Edges.Keys[0].Selector == d.Edges.Keys[0].Selector {
		t.Errorf("adding the name again returned %+v, want another id, ownership token and key", again)
	}
}

func TestZoneFileCanBePublishedUnchanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d, on := w.verified(t, w.ada, "mail.example.com"), true
	d, err := w.Update(t.Context(), w.ada, d.ID, DomainChange{InboundEnabled: &on})
	if err != nil {
		t.Fatal(err)
	}
	zone, err := w.ZoneFile(t.Context(), w.ada, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	// A real zone accepts the file unchanged, and the domain is then verified.
	w.zone.Remove("mail.example.com")
	for _, r := range w.Records(d) {
		w.zone.Remove(r.Name)
	}
	var lines []string
	for line := range strings.Lines(zone) {
		if !strings.HasPrefix(line, ";") {
			lines = append(lines, line)
		}
	}
	w.zone.Add(t, lines...)
	if d = w.verify(t, d); d.Status != "verified" || strings.Trim(w.states(d), "v") != "" {
		t.Errorf("after publishing its zone file, the domain is %s with records %s, want all verified", d.Status,
			w.states(d))
	}
	_, err = w.ZoneFile(t.Context(), w.eve, d.ID)
	wantFault(t, err, fault.NotFound, fault.CodeNotFound)
}

func TestHistoryKeepsChangesAndOneCheckPerDay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.verified(t, w.ada, "example.com")
	for range 3 {
		w.verify(t, d) // nothing new
	}
	w.zone.Remove("_dmarc.example.com")
	w.verify(t, d) // the advice changed, but not the status
	w.zone.Remove("_service.example.com")
	w.verify(t, d)
	health := func(first int) []string {
		t.Helper()
		all, err := w.Health(t.Context(), w.ada, first, d.ID, "dom_other")
		if err != nil {
			t.Fatal(err)
		}
		out := []string{}
		for _, c := range all[d.ID] {
			out = append(out, c.Status+" "+w.states(&ent.Domain{Name: d.Name, Records: c.Records, Edges: d.Edges}))
		}
		return out
	}
	if diff := cmp.Diff([]string{"temporary_failure mvvvm", "verified vvvvm", "verified vvvvv"},
		health(10)); diff != "" {
		t.Error(diff)
	}
	w.exec(t, `UPDATE domain_checks SET checked_at = checked_at - interval '1 day'`)
	w.verify(t, d)
	if diff := cmp.Diff([]string{"temporary_failure mvvvm", "temporary_failure mvvvm"}, health(2)); diff != "" {
		t.Error(diff)
	}
	// The next check deletes checks older than 90 days.
	w.exec(t, `UPDATE domain_checks SET checked_at = now() - interval '91 days' WHERE status = 'verified'`)
	w.publish(t, d)
	w.verify(t, d)
	if diff := cmp.Diff([]string{"verified vvvvv", "temporary_failure mvvvm", "temporary_failure mvvvm"},
		health(10)); diff != "" {
		t.Error(diff)
	}
	if all, err := w.Health(t.Context(), w.eve, 10, d.ID); err != nil || len(all) != 0 {
		t.Errorf("another account: %v, %v", all, err)
	}
	for _, first := range []int{0, 101} {
		_, err := w.Health(t.Context(), w.ada, first, d.ID)
		wantFault(t, err, fault.Invalid, fault.CodeValidation)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.verified(t, w.ada, "example.com")
	w.exec(t, `INSERT INTO domain_checks (domain_id, account_id, checked_at, status, records)
		SELECT $1, $2, now() - make_interval(mins => n), 'verified', '[]' FROM generate_series(1, 1200) n`, d.ID, w.ada)
	w.zone.Remove("_dmarc.example.com")
	w.verify(t, d)
	if n := w.db.Ent.DomainCheck.Query().Where(domaincheck.DomainID(d.ID)).CountX(t.Context()); n != keepChecks {
		t.Errorf("%d checks are kept, want the maximum", n)
	}
}

// Resolvers rotate the order of values, which is not a change.
func TestOrderOfValuesIsIgnored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.verified(t, w.ada, "example.com")
	w.zone.Add(t, `_service.example.com. TXT "other=1"`)
	a := w.verify(t, d).Records
	b := append(a[1:len(a):len(a)], a[0])
	for i := range b {
		if len(b[i].Found) == 2 {
			b[i].Found = []string{b[i].Found[1], b[i].Found[0]}
		}
	}
	if !dnscheck.SameResults(a, b) || dnscheck.SameResults(a, d.Records) || dnscheck.SameResults(a, a[1:]) {
		t.Error("equal and different values")
	}
}

// Mail to the postmaster of the installation goes to the domain of its host, else to an operator, else to the
// only account.
func TestFindsPostmasterOfInstallation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	on := true
	receives := func(account, name string) Receiver {
		d := w.verified(t, account, name)
		if _, err := w.Update(t.Context(), account, d.ID, DomainChange{InboundEnabled: &on}); err != nil {
			t.Fatal(err)
		}
		return Receiver{AccountID: account, DomainID: d.ID, Domain: name}
	}
	want := func(when, host string, want Receiver) {
		t.Helper()
		got, err := w.process(t).Postmaster(t.Context(), host) // without the cache of another process
		if want == (Receiver{}) {
			wantFault(t, err, fault.NotFound, fault.CodeNotFound)
		} else if err != nil || got != want {
			t.Errorf("%s: Postmaster of %s returned %+v (%v), want %+v", when, host, got, err, want)
		}
	}
	silent := w.verified(t, w.ada, "silent.example")
	want("without a receiving domain", "mx.postrider.example", Receiver{})
	ada := receives(w.ada, "example.com")
	want("with one account", "mx.postrider.example", ada)
	want("with one account", "localhost", ada)
	eve := receives(w.eve, "example.net")
	want("with two accounts", "mx.postrider.example", Receiver{})
	want("with two accounts", "mx.example.net", eve)
	exec := func(query string) {
		t.Helper()
		if _, err := w.db.SQL.ExecContext(t.Context(), query, w.ada); err != nil {
			t.Fatal(err)
		}
	}
	exec(`UPDATE users SET operator = true FROM memberships m WHERE m.user_id = users.id AND m.account_id = $1`)
	exec(`UPDATE domains SET account_id = NULL WHERE account_id = $1 AND name = 'silent.example'`) // a sandbox domain
	exec(`UPDATE domains SET inbound_enabled = false WHERE account_id = $1`)
	want("with an operator whose domain does not receive", "mx.postrider.example", ada)
	want("with an operator whose domain does not receive", "mx.example.net", eve)
	exec(`UPDATE domains SET status = 'failed' WHERE account_id = $1`)
	want("with an operator without a domain", "mx.postrider.example",
		Receiver{AccountID: w.ada, DomainID: silent.ID, Domain: "silent.example"})
	exec(`UPDATE domains SET status = 'verified', inbound_enabled = true WHERE account_id = $1`)
	want("with an operator", "mx.postrider.example", ada)
	want("with an operator", "mx.example.net", eve)
	near := receives(w.eve, "mx.example.net")
	want("with two domains above the host", "a.mx.example.net", near)
}
