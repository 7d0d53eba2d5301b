package domains

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
	"github.com/postrider/postrider/runtime/mail/reportaddress"
	"github.com/postrider/postrider/runtime/work/event"
)

func TestVerifyLetsDomainSend(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.add(t, w.ada, "example.com")
	_, err := w.Identity(t.Context(), w.ada, mailbox(t, "a@example.com"))
	wantFault(t, err, fault.Forbidden, fault.CodeDomainNotVerified)

	d = w.verify(t, d)
	if d.Status != "pending" || w.states(d) != "mmmmm" || d.LastCheckedAt == nil || d.CheckAttempts != 1 {
		t.Errorf("before publishing, the domain is %s with records %s: %+v", d.Status, w.states(d), d)
	}
	for _, r := range w.Records(d) {
		if !strings.HasPrefix(r.Error, "Publish a ") || len(r.Found) != 0 {
			t.Errorf("before publishing, the record %s has the advice %q and the found values %v, want advice to "+
				"publish it and no values", r.Purpose, r.Error, r.Found)
		}
	}

	w.publish(t, d)
	d = w.verify(t, d)
	if d.Status != "verified" || w.states(d) != "vvvvv" || d.VerifiedAt == nil || d.FailingSince != nil {
		t.Fatalf("after publishing, the domain is %s with records %s: %+v", d.Status, w.states(d), d.Records)
	}
	if until := time.Until(*d.DueAt); until < 10*time.Hour || until > 14*time.Hour {
		t.Errorf("the next check is in %s", until)
	}
	if diff := cmp.Diff([]event.Type{event.DomainVerified}, w.publishedFacts(t, d)); diff != "" {
		t.Error(diff)
	}

	identity, err := w.Identity(t.Context(), w.ada, mailbox(t, "a@example.com"))
	if err != nil {
		t.Fatal(err)
	}
	signed, err := dkim.Sign([]byte("From: a@example.com\r\nSubject: x\r\n\r\nhello\r\n"),
		dkim.Signer{Domain: identity.Domain, Selector: identity.Selector, Key: identity.Key})
	if err != nil {
		t.Fatal(err)
	}
	signatures, err := dkim.Verify(signed,
		func(name string) ([]string, error) { return w.checks.checker.DNS.LookupTXT(t.Context(), name) })
	if err != nil || len(signatures) != 1 || signatures[0].Err != nil {
		t.Errorf("mail of a verified domain has the signatures %+v, %v, want one valid signature", signatures, err)
	}
}

func TestVerifyHandlesUnusualZones(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*testing.T, *world, map[dnscheck.Purpose]dnscheck.RecordCheck)
		want   string // expected states
	}{
		{"several TXT records", func(t *testing.T, w *world, r map[dnscheck.Purpose]dnscheck.RecordCheck) {
			w.zone.Add(t, r[dnscheck.Ownership].Name+`. TXT "something-else=1"`, r[dnscheck.SPF].Name+
				`. TXT "google-site-verification=x"`)
		}, "vvvvv"},
		{"a key split into short strings", func(t *testing.T, w *world, r map[dnscheck.Purpose]dnscheck.RecordCheck) {
			var parts []string
			for value := r[dnscheck.DKIM].Value; value != ""; value = value[min(40, len(value)):] {
				parts = append(parts, `"`+value[:min(40, len(value))]+`"`)
			}
			w.zone.Set(t, r[dnscheck.DKIM].Name, r[dnscheck.DKIM].Name+". TXT ( "+strings.Join(parts, " ")+" )")
		}, "vvvvv"},
		{"a key at an alias", func(t *testing.T, w *world, r map[dnscheck.Purpose]dnscheck.RecordCheck) {
			w.zone.Set(t, r[dnscheck.DKIM].Name, r[dnscheck.DKIM].Name+". CNAME keys.example.net.")
			w.zone.Set(t, "keys.example.net", strings.Replace(zoneLine(r[dnscheck.DKIM]), r[dnscheck.DKIM].Name,
				"keys.example.net", 1))
		}, "vvvvv"},
		{"a return path through aliases", func(t *testing.T, w *world, r map[dnscheck.Purpose]dnscheck.RecordCheck) {
			w.zone.Set(t, r[dnscheck.ReturnPath].Name, r[dnscheck.ReturnPath].Name+". CNAME A.example.net.")
			w.zone.Set(t, "a.example.net", "a.example.net. CNAME "+strings.ToUpper(r[dnscheck.ReturnPath].Value)+".")
			w.zone.Add(t, r[dnscheck.ReturnPath].Value+". A 192.0.2.1")
		}, "vvvvv"},
		{"a return path that is a loop", func(t *testing.T, w *world, r map[dnscheck.Purpose]dnscheck.RecordCheck) {
			w.zone.Set(t, r[dnscheck.ReturnPath].Name, r[dnscheck.ReturnPath].Name+". CNAME a.example.net.")
			w.zone.Set(t, "a.example.net", "a.example.net. CNAME "+r[dnscheck.ReturnPath].Name+".")
		}, "vvxvv"},
		{"an address instead of an alias", func(t *testing.T, w *world, r map[dnscheck.Purpose]dnscheck.RecordCheck) {
			w.zone.Set(t, r[dnscheck.ReturnPath].Name, r[dnscheck.ReturnPath].Name+". A 192.0.2.1")
		}, "vvmvv"},
		{"SPF two includes down", func(t *testing.T, w *world, r map[dnscheck.Purpose]dnscheck.RecordCheck) {
			w.zone.Set(t, r[dnscheck.SPF].Name, r[dnscheck.SPF].Name+`. TXT "v=spf1 include:one.example.net -all"`)
			w.zone.Set(t, "one.example.net", `one.example.net. TXT "v=spf1 include:two.example.net -all"`)
			w.zone.Set(t, "two.example.net", `two.example.net. TXT "v=spf1 " "include:spf.postrider.example -all"`)
		}, "vvvvv"},
		{"a wildcard answers for all", func(t *testing.T, w *world, r map[dnscheck.Purpose]dnscheck.RecordCheck) {
			for _, p := range []dnscheck.Purpose{dnscheck.Ownership, dnscheck.DKIM, dnscheck.DMARC} {
				w.zone.Set(t, r[p].Name, r[p].Name+`. TXT "v=spf1 -all"`)
			}
			w.zone.Set(t, r[dnscheck.ReturnPath].Name, r[dnscheck.ReturnPath].Name+". CNAME www.example.net.")
		}, "xxxvx"},
		{"names with records of other types only",
			func(t *testing.T, w *world, r map[dnscheck.Purpose]dnscheck.RecordCheck) {
				for _, p := range []dnscheck.Purpose{dnscheck.Ownership, dnscheck.DKIM, dnscheck.SPF, dnscheck.DMARC} {
					w.zone.Set(t, r[p].Name, r[p].Name+". A 192.0.2.1")
				}
			}, "mmvmm"},
		{"answers over TCP only", func(_ *testing.T, w *world, r map[dnscheck.Purpose]dnscheck.RecordCheck) {
			w.zone.Fault(r[dnscheck.DKIM].Name, dnsxtest.Truncate)
		}, "vvvvv"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			d := w.add(t, w.ada, "example.com")
			w.publish(t, d)
			c.change(t, w, w.byPurpose(d))
			d = w.verify(t, d)
			if got := w.states(d); got != c.want {
				t.Errorf("got the states %s, want %s\n%+v", got, c.want, d.Records)
			}
			if sound := c.want[:4] == "vvvv"; sound != (d.Status == "verified") {
				t.Errorf("got the status %s", d.Status)
			}
		})
	}
}

func (w *world) byPurpose(d *ent.Domain) map[dnscheck.Purpose]dnscheck.RecordCheck {
	records := map[dnscheck.Purpose]dnscheck.RecordCheck{}
	for _, r := range w.Records(d) {
		records[r.Purpose] = r
	}
	return records
}

func TestUnansweredCheckChangesNothing(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]dnsxtest.Fault{"servfail": dnsxtest.ServFail, "refused": dnsxtest.Refused,
		"timeout": dnsxtest.Timeout} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			d := w.verified(t, w.ada, "example.com")
			fresh := w.add(t, w.ada, "example.org")
			for _, victim := range []*ent.Domain{d, fresh} {
				for _, r := range w.Records(victim) {
					w.zone.Fault(r.Name, broken)
				}
			}
			w.exec(t, `UPDATE domains SET failing_since = now() - interval '30 days'`) // even so
			now := w.verify(t, d)
			if now.Status != "verified" || cmp.Diff(d.Records, now.Records) != "" {
				t.Errorf("without an answer from DNS, the domain is %s with changed records %s, want verified and "+
					"no change", now.Status, cmp.Diff(d.Records, now.Records))
			}
			if until := time.Until(*now.DueAt); until > 11*time.Minute+time.Second {
				t.Errorf("the next check is in %s", until)
			}
			if got := w.verify(t, fresh); got.Status != "pending" ||
				!strings.Contains(w.Records(got)[0].Error, "did not answer") {
				t.Errorf("without an answer from DNS, the new domain is %s: %+v, want pending and advice that DNS "+
					"did not answer", got.Status, got.Records)
			}
			if told := w.publishedFacts(t, d); len(told) != 1 {
				t.Errorf("got the facts %v", told)
			}
		})
	}
}

func TestUnansweredRecordPreventsPromotion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.add(t, w.ada, "example.com")
	w.publish(t, d)
	records := w.byPurpose(d)
	w.zone.Remove(records[dnscheck.SPF].Name)
	if d = w.verify(t, d); w.states(d) != "vvvmv" {
		t.Fatal(w.states(d))
	}
	w.publish(t, d)
	w.zone.Fault(records[dnscheck.DKIM].Name, dnsxtest.ServFail)
	if d = w.verify(t, d); w.states(d) != "vvvvv" || d.Status != "pending" {
		t.Errorf("the domain is %s with records %s, want it promoted only if all required records answered", d.Status,
			w.states(d))
	}
	w.zone.Fault(records[dnscheck.DKIM].Name, 0)
	if d = w.verify(t, d); d.Status != "verified" {
		t.Errorf("once all records answer, the domain is %s, want verified", d.Status)
	}
}

func TestBrokenDomainFailsAndRecovers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.verified(t, w.ada, "example.com")
	from := mailbox(t, "a@example.com")
	w.zone.Remove("_service.example.com")

	if d = w.verify(t, d); d.Status != "temporary_failure" || d.FailingSince == nil {
		t.Fatalf("without its ownership record, the domain is %+v, want temporary_failure and the time it began", d)
	}
	if _, err := w.Identity(t.Context(), w.ada, from); err != nil {
		t.Errorf("the domain cannot send: %v", err)
	}
	since := *d.FailingSince
	w.exec(t, `UPDATE domains SET failing_since = now() - interval '71 hours'`)
	if d = w.verify(t, d); d.Status != "temporary_failure" || !d.FailingSince.Before(since) {
		t.Errorf("after 71 h, the domain is %s since %s", d.Status, d.FailingSince)
	}
	w.exec(t, `UPDATE domains SET failing_since = now() - interval '72 hours'`)
	if d = w.verify(t, d); d.Status != "failed" {
		t.Errorf("after 72 h, the domain is %s", d.Status)
	}
	_, err := w.Identity(t.Context(), w.ada, from)
	wantFault(t, err, fault.Forbidden, fault.CodeDomainNotVerified)

	w.publish(t, d)
	if d = w.verify(t, d); d.Status != "verified" || d.FailingSince != nil {
		t.Errorf("after repairing its records, the domain is %+v", d)
	}
	want := []event.Type{event.DomainVerified, event.DomainTemporaryFailure, event.DomainFailed, event.DomainVerified}
	if diff := cmp.Diff(want, w.publishedFacts(t, d)); diff != "" {
		t.Error(diff)
	}
}

func TestSecondToVerifyMustClaim(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mine, hers := w.add(t, w.ada, "example.com"), w.add(t, w.eve, "example.com")
	w.publish(t, mine)
	w.publishBeside(t, hers)
	if got := w.verify(t, mine); got.Status != "verified" {
		t.Fatalf("the first domain with its records published is %s: %+v, want verified", got.Status, got.Records)
	}
	_, err := w.Verify(t.Context(), w.eve, hers.ID)
	checkClaim(t, w, wantFault(t, err, fault.Conflict, fault.CodeDomainClaimed))
	hers, err = w.Get(t.Context(), w.eve, hers.ID)
	if err != nil || hers.Status != "pending" || w.states(hers) != "vvvvv" || len(w.publishedFacts(t, hers)) != 0 {
		t.Errorf("the second domain of that name is %+v, %v, want pending with all records verified, and no fact", hers,
			err)
	}
}

// publishBeside publishes additional records where they differ between accounts.
func (w *world) publishBeside(t *testing.T, d *ent.Domain) {
	t.Helper()
	for _, r := range w.Records(d) {
		if r.Purpose == dnscheck.Ownership || r.Purpose == dnscheck.DKIM {
			w.zone.Add(t, zoneLine(r))
		}
	}
}

func TestConcurrentVerifyHasOneWinner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rows := []*ent.Domain{w.add(t, w.ada, "example.com"), w.add(t, w.eve, "example.com")}
	w.publish(t, rows[0])
	w.publishBeside(t, rows[1])
	var all sync.WaitGroup
	errs := make([]error, 12)
	for i := range errs {
		all.Go(func() {
			d := rows[i%2]
			_, errs[i] = w.Verify(t.Context(), *d.AccountID, d.ID)
		})
	}
	all.Wait()
	refused := map[string]int{}
	for i, err := range errs {
		if err != nil {
			wantFault(t, err, fault.Conflict, fault.CodeDomainClaimed)
			refused[rows[i%2].ID]++
		}
	}
	if len(refused) != 1 {
		t.Errorf("the other account got %v", refused)
	}
	var facts int
	for _, d := range rows {
		facts += len(w.publishedFacts(t, d))
	}
	if verified := w.count(t, `status = 'verified'`); verified != 1 || facts != 1 {
		t.Errorf("got %d verified domains and %d facts", verified, facts)
	}
}

func (w *world) count(t testing.TB, where string) (n int) {
	t.Helper()
	if err := w.db.SQL.QueryRowContext(t.Context(), fmt.Sprintf(`SELECT count(*) FROM domains WHERE %s`, where)).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestHostileZoneIsSanitized(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.add(t, w.ada, "example.com")
	for _, r := range w.Records(d) {
		if r.Type == "TXT" {
			w.zone.Set(t, r.Name, r.Name+`. TXT "v=DKIM1\000\255; k=\000\010<b>; p=x" "`+strings.Repeat("y", 200)+`"`)
		}
	}
	w.zone.Add(t, `example.com. TXT "v=spf1 include:\000\255.example -all"`)
	if d = w.verify(t, d); d.Status != "pending" || w.byPurpose(d)[dnscheck.DKIM].Status != dnscheck.Mismatch {
		t.Errorf("with a hostile zone, the domain is %s: %+v, want pending with a mismatch of DKIM",
			d.Status, d.Records)
	}
	for _, state := range d.Records {
		checkClean(t, state)
	}
}

// A new domain is shown a target of its own. A verified domain keeps its target, and both are accepted.
func TestVerifyAcceptsOwnAndSharedTargets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := w.add(t, w.ada, "old.example.com")
	w.publish(t, old)
	if old = w.verify(t, old); old.Status != "verified" {
		t.Fatalf("with the shared target, the domain is %s: %+v", old.Status, old.Records)
	}
	w.checks.hosts.OwnTargets = true
	target := func(d *ent.Domain) string {
		for _, r := range w.Records(d) {
			if r.Purpose == dnscheck.ReturnPath {
				return r.Value
			}
		}
		return ""
	}
	const shared = "rp.postrider.example"
	if old = w.verify(t, old); old.Status != "verified" || target(old) != shared {
		t.Errorf("an existing domain is %s and is shown the target %s, want verified and %s", old.Status, target(old), shared)
	}
	d := w.add(t, w.ada, "new.example.com")
	own := target(d)
	if !strings.HasSuffix(own, "."+shared) {
		t.Fatalf("a new domain is shown the target %s, want a name below %s", own, shared)
	}
	w.publish(t, d)
	d = w.verify(t, d)
	if d.Status != "pending" || !slices.ContainsFunc(w.Records(d), func(r dnscheck.RecordCheck) bool {
		return strings.Contains(r.Error, "operator of this mail service: there is no CNAME record at "+own)
	}) {
		t.Errorf("without the wildcard record, the domain is %s: %+v; want pending, and a fault of the operator",
			d.Status, w.Records(d))
	}
	w.zone.Add(t, "*."+shared+". CNAME "+shared+".")
	if d = w.verify(t, d); d.Status != "verified" || target(d) != own {
		t.Errorf("with the wildcard record, the domain is %s and is shown the target %s, want verified and %s: %+v",
			d.Status, target(d), own, d.Records)
	}
	w.checks.hosts.OwnTargets = false
	if d = w.verify(t, d); d.Status != "verified" || target(d) != own {
		t.Errorf("after the setting was removed, the domain is %s and is shown the target %s, want verified and %s",
			d.Status, target(d), own)
	}
}

// If a record of the installation is missing, a domain whose owner did everything right is neither promoted
// nor demoted, and its records name the operator.
func TestDomainKeepsStateWithoutOperatorsRecords(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"spf.postrider.example", "rp.postrider.example"} {
		w := newWorld(t)
		d := w.add(t, w.ada, "example.com")
		w.publish(t, d)
		w.zone.Remove(name)
		d = w.verify(t, d)
		if d.Status != "pending" {
			t.Errorf("without %s, a new domain is %s, want pending", name, d.Status)
		}
		said := 0
		for _, r := range w.Records(d) {
			if strings.Contains(r.Error, "the operator of this mail service: there is no SPF record at "+name) {
				said++
			}
		}
		if said != 1 {
			t.Errorf("without %s, %d records name the operator, want one: %+v", name, said, w.Records(d))
		}
		for _, record := range ourRecords {
			if strings.HasPrefix(record, name) {
				w.zone.Add(t, record)
			}
		}
		if d = w.verify(t, d); d.Status != "verified" {
			t.Errorf("with the records of the installation, the domain is %s, want verified: %+v", d.Status, d.Records)
		}
		w.zone.Remove(name)
		if d = w.verify(t, d); d.Status != "verified" {
			t.Errorf("a verified domain is %s without %s, want it still verified", d.Status, name)
		}
	}
}

func checkClean(t *testing.T, state shape.RecordState) {
	t.Helper()
	for _, text := range append(state.Found, state.Error) {
		if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) || len(text) > 4000 {
			t.Errorf("the record %s stores %q", state.Purpose, text)
		}
	}
}

// The proposed DMARC record contains the report address of its domain, if reports are received. A record without it
// is valid too.
func TestProposedDMARCRecordHasReportAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.add(t, w.ada, "reported.example")
	dmarcOf := func() dnscheck.RecordCheck {
		all := w.Records(d)
		return all[slices.IndexFunc(all, func(r dnscheck.RecordCheck) bool { return r.Purpose == dnscheck.DMARC })]
	}
	if got := dmarcOf().Value; got != "v=DMARC1; p=none;" {
		t.Errorf("without reports, the record is %q", got)
	}
	addresses, err := reportaddress.New("rp.mail.example.org", make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	w.checks.reports = addresses
	if got, want := dmarcOf().Value, "v=DMARC1; p=none; rua=mailto:"+addresses.Address(d.ID); got != want {
		t.Errorf("the record is %q, want %q", got, want)
	}
	w.publish(t, d)
	w.zone.Set(t, "_dmarc.reported.example", `_dmarc.reported.example. 300 IN TXT "v=DMARC1; p=reject"`)
	d = w.verify(t, d)
	if got := dmarcOf(); got.Status != dnscheck.Verified || d.Status != "verified" {
		t.Errorf("with a record of its owner, the DMARC record is %s and the domain %s", got.Status, d.Status)
	}
}
