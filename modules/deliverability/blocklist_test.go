package deliverability

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// withLists looks up lists, one of which is a real one and the others broken in different ways.
func withLists(t *testing.T) *mailer {
	t.Helper()
	m := newMailer(t)
	for _, zone := range []string{"bl.example", "refusing.example", "wild.example", "parked.example", "silent.example",
		"domain:dbl.example"} {
		m.blocklists = append(m.blocklists, newBlocklist(zone))
	}
	m.zone.Add(t, "4.113.0.203.bl.example. 0 IN A 127.0.0.2", "4.113.0.203.refusing.example. A 127.255.255.254",
		"4.113.0.203.wild.example. A 127.0.0.2", "1.0.0.127.wild.example. A 127.0.0.2",
		"4.113.0.203.parked.example. A 198.51.100.80", "example.com.dbl.example. A 127.0.1.2",
		"5.113.0.203.other.example. A 127.0.0.2")
	for _, name := range []string{"4.113.0.203.silent.example", "5.113.0.203.silent.example"} {
		m.zone.Fault(name, dnsxtest.ServFail)
	}
	m.count(t, "email.sent", "gmail.com", m.now.Add(-time.Hour), 1)
	for _, local := range []string{"203.0.113.4:40000", "203.0.113.5", "10.0.0.7:40000", "[::1]:25"} {
		m.answer(t, "email.delivered", "bob@gmail.com", "", "")
		dbtest.Exec(t, m.db, `UPDATE attempts SET local_addr = $1 WHERE local_addr = ''`, local)
	}
	m.answer(t, "email.delivered", "bob@gmail.com", "", "")
	dbtest.Exec(t, m.db, `UPDATE attempts SET local_addr = '203.0.113.99:4', way = 'smarthost:relay.example:25' WHERE local_addr = ''`)
	return m
}

func (m *mailer) lookUp(t *testing.T) {
	t.Helper()
	dbtest.Exec(t, m.db, `UPDATE deliverability_turns SET due_at = now()`)
	check(t, m.CheckBlocklists(t.Context()))
}

// A listing differs from a list that refuses to answer, that answers for everything, and a resolver that invents
// answers. Only public source addresses and sending domains are looked up.
func TestTellsListingsFromRefusals(t *testing.T) {
	t.Parallel()
	m := withLists(t)
	m.lookUp(t)
	summary, err := m.Summarize(t.Context(), m.ada, m.domain.ID)
	check(t, err)
	var got []string
	for _, l := range summary.Blocklists {
		got = append(got, strings.Join([]string{l.Subject, l.List, l.Status, l.Reply}, " "))
		if (l.Status == "listed") != (l.ListedSince != nil) || l.Found == "" ||
			(l.Fix == "") != (l.Status == "clear" || l.Status == "unknown") {
			t.Errorf("the lookup %+v lacks a time, a text or a fix", l)
		}
	}
	want := []string{"203.0.113.4 bl.example listed 127.0.0.2", "203.0.113.5 bl.example clear ",
		"203.0.113.4 parked.example broken 198.51.100.80", "203.0.113.4 refusing.example refused 127.255.255.254",
		"203.0.113.4 silent.example unknown ", "203.0.113.5 silent.example unknown ",
		"203.0.113.4 wild.example broken 127.0.0.2", "example.com dbl.example listed 127.0.1.2"}
	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("the lookups are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, q := range m.zone.Queries() {
		if strings.HasPrefix(q.Name, "99.113.0.203") || strings.Contains(q.Name, "7.0.0.10.") {
			t.Errorf("%s was looked up, which is not a public source address of the installation", q.Name)
		}
	}
}

// Lookups are cached, a list that refuses gets one lookup a day, and a listing ends when the list removes it.
func TestCachesListings(t *testing.T) {
	t.Parallel()
	m := withLists(t)
	m.lookUp(t)
	before := len(m.zone.Queries())
	m.lookUp(t)
	if n := len(m.zone.Queries()) - before; n != 0 {
		t.Errorf("the second step made %d queries, want none", n)
	}
	m.zone.Remove("4.113.0.203.bl.example")
	dbtest.Exec(t, m.db, `UPDATE blocklist_lookups SET checked_at = checked_at - interval '7 hours'`)
	m.blocklists = m.blocklists[:3]
	before = len(m.zone.Queries())
	m.lookUp(t)
	for _, q := range m.zone.Queries()[before:] {
		if !strings.HasSuffix(strings.TrimSuffix(q.Name, "."), "4.113.0.203.bl.example") {
			t.Errorf("%s was looked up after seven hours, want the listing only", q.Name)
		}
	}
	summary, err := m.Summarize(t.Context(), m.ada, m.domain.ID)
	check(t, err)
	for _, l := range summary.Blocklists {
		if l.Status == "listed" || l.ListedSince != nil {
			t.Errorf("%s is still listed in %s", l.Subject, l.List)
		}
	}
	if other, err := m.Summarize(t.Context(), m.eve, m.other.ID); err != nil || len(other.Blocklists) != 0 {
		t.Errorf("eve's domain has the lookups %v (%v), want none", other.Blocklists, err)
	}
}

// A list that refuses, with more subjects than a step looks up, does not keep the other lists from being asked.
func TestRefusingListDelaysNoOther(t *testing.T) {
	t.Parallel()
	m := newMailer(t)
	m.blocklists = []blocklist{newBlocklist("a.example"), newBlocklist("b.example")}
	var addrs []string
	for i := range 2 * blocklistBatch {
		addrs = append(addrs, fmt.Sprintf("203.0.113.%d", i))
		m.zone.Add(t, fmt.Sprintf("%d.113.0.203.a.example. 0 IN A 127.255.255.254", i))
	}
	for range 2 {
		check(t, m.lookUpListings(t.Context(), addrs, nil))
	}
	for list, want := range map[string]int{"a.example": 1, "b.example": blocklistBatch} {
		if got := dbtest.Count(t, m.db, `SELECT count(*) FROM blocklist_lookups WHERE list = $1`, list); got != want {
			t.Errorf("%s got %d lookups in two steps, want %d", list, got, want)
		}
	}
}

// The query of a list contains the reversed bytes of an IPv4 address and the reversed half bytes of an IPv6 address.
func TestBlocklistQueries(t *testing.T) {
	t.Parallel()
	for subject, want := range map[string]string{
		"203.0.113.4": "4.113.0.203.bl.example", "example.com": "example.com.bl.example",
		"2001:db8::5": "5" + strings.Repeat(".0", 23) + ".8.b.d.0.1.0.0.2.bl.example",
	} {
		if got := newBlocklist("bl.example").query(subject); got != want {
			t.Errorf("%s is looked up as %s, want %s", subject, got, want)
		}
	}
	if got := newBlocklist("k3y.zen.dq.spamhaus.net"); got.domains || got.page != "" {
		t.Errorf("an unknown list is %+v", got)
	}
	if got := newBlocklist("multi.surbl.org"); !got.domains || got.page == "" {
		t.Errorf("SURBL is %+v, want a list of domains with a page", got)
	}
	for text, valid := range map[string]bool{"none": true, "a.example,domain:b.example": true, "a_b": false, "http://a.example": false} {
		if _, err := parseZones(text); (err == nil) != valid {
			t.Errorf("the setting %q: %v", text, err)
		}
	}
}

// The requirements on source addresses, TLS and one-click unsubscribe follow from DNS and the newest emails.
func TestJudgesSending(t *testing.T) {
	t.Parallel()
	m := newMailer(t)
	state := func(code string) string {
		t.Helper()
		summary, err := m.Summarize(t.Context(), m.ada, m.domain.ID)
		check(t, err)
		for _, r := range summary.Requirements {
			if r.Code == code {
				return string(r.State) + ": " + r.Found
			}
		}
		return ""
	}
	want := func(what, code, want string) {
		t.Helper()
		if got := state(code); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s is %q, want %q", what, code, got, want)
		}
	}
	for _, code := range []string{"ptr", "tls", "unsubscribe"} {
		want("no mail", code, "unknown")
	}
	for range 4 { // the second and fourth have one-click unsubscribe
		m.answer(t, "email.delivered", "bob@gmail.com", "", "")
	}
	dbtest.Exec(t, m.db, `UPDATE attempts SET outcome = 'delivered', remote_addr = '192.0.2.99:25', remote_host = 'mx.google.com', tls = 'TLS1.3', local_addr = '192.0.2.25:4'`)
	want("before the lookup", "ptr", "unknown")
	check(t, m.LookUpSources(t.Context()))
	want("a verified name", "ptr", "met: The reverse name of the source address resolves to it.")
	want("TLS", "tls", "met: 100.00 % of the newest 4 deliveries used TLS, and 4 of 4 to Gmail.")
	want("few recipients", "unsubscribe", "met: 2 of the newest 4 emails have one-click unsubscribe.")

	dbtest.Exec(t, m.db, `UPDATE attempts SET local_addr = '203.0.113.99:4', tls = '' WHERE id = (SELECT max(id) FROM attempts)`)
	check(t, m.LookUpSources(t.Context()))
	want("a name that resolves to another address", "ptr",
		"broken: 1 of 2 source addresses have no reverse name that resolves to them: 203.0.113.99.")
	want("a delivery without TLS", "tls", "broken: 75.00 %")
	dbtest.Exec(t, m.db, `UPDATE attempts SET remote_host = 'mx.notgoogle.com' WHERE tls = ''`)
	want("to another host without TLS", "tls", "met: 75.00 %")
	dbtest.Exec(t, m.db, `UPDATE attempts SET remote_addr = '127.0.0.1:25'`)
	want("to this machine", "tls", "unknown")

	m.count(t, "email.sent", "gmail.com", m.now.Add(-time.Hour), 4500)
	want("close to a bulk sender", "unsubscribe", "close")
	m.count(t, "email.sent", "googlemail.com", m.now.Add(-time.Hour), 500)
	want("a bulk sender, in part without", "unsubscribe", "close")
	dbtest.Exec(t, m.db, `UPDATE emails SET unsubscribe = false`)
	want("a bulk sender without", "unsubscribe", "broken")
	dbtest.Exec(t, m.db, `UPDATE emails SET headers = '[{"name": "List-Unsubscribe-Post", "value": "List-Unsubscribe=One-Click"}]'`)
	want("a bulk sender with own header fields", "unsubscribe", "met: 4 of the newest 4")
}

// A source address whose name DNS does not answer for is not reported as one without a name.
func TestUnansweredReverseNameIsUnknown(t *testing.T) {
	t.Parallel()
	m := newMailer(t)
	m.answer(t, "email.delivered", "bob@gmail.com", "", "")
	dbtest.Exec(t, m.db, `UPDATE attempts SET local_addr = '203.0.113.7:4'`)
	m.zone.Fault("7.113.0.203.in-addr.arpa", dnsxtest.ServFail)
	check(t, m.LookUpSources(t.Context()))
	summary, err := m.Summarize(t.Context(), m.ada, m.domain.ID)
	check(t, err)
	for _, r := range summary.Requirements {
		if r.Code == "ptr" && r.State != StateUnknown {
			t.Errorf("the requirement is %+v, want unknown", r)
		}
	}
}

// The hints name the domain, and count complaints by provider.
func TestFeedbackLoops(t *testing.T) {
	t.Parallel()
	m := newMailer(t)
	m.count(t, "email.complained", "yahoo.fr", m.now.Add(-time.Hour), 3)
	summary, err := m.Summarize(t.Context(), m.ada, m.domain.ID)
	check(t, err)
	for i, want := range []FeedbackLoop{{Provider: gmail}, {Provider: yahoo, Complaints: 3}, {Provider: microsoft}} {
		got := summary.FeedbackLoops[i]
		if got.Provider != want.Provider || got.Complaints != want.Complaints || got.Fix == "" || !strings.HasPrefix(got.Page, "https://") {
			t.Errorf("the loop %d is %+v, want %+v with a fix and a page", i, got, want)
		}
	}
}

// Development looks up nothing, and the default lists are the two that are free to use without registration.
func TestDefaultBlocklists(t *testing.T) {
	t.Parallel()
	if got := Blocklists.Get(setting.Values{Mode: setting.Dev}); len(got) != 0 {
		t.Errorf("in development, the lists are %q, want none", got)
	}
	if got := Blocklists.Get(setting.Values{Mode: setting.Serve}); !slices.Equal(got, []string{"bl.spamcop.net", "psbl.surriel.com"}) {
		t.Errorf("the default lists are %q", got)
	}
}
