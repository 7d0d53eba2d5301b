package deliverability

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/smtp"
	"net/textproto"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/mail/authn"
	"github.com/postrider/postrider/runtime/mail/dkim/dkimtest"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
	"github.com/postrider/postrider/runtime/mail/reportaddress"
	"github.com/postrider/postrider/runtime/mail/smtpserver"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/bus"
)

type world struct {
	*Service

	db       *db.DB
	zone     *dnsxtest.Server
	ada, eve string
	domain   *ent.Domain
	other    *ent.Domain
	listener string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	w := &world{db: dbtest.New(t), zone: dnsxtest.New(t,
		`receiver.example. TXT "v=spf1 ip4:127.0.0.1 -all"`, `_dmarc.receiver.example. TXT "v=DMARC1; p=none"`,
		`second.example. TXT "v=spf1 ip4:127.0.0.1 -all"`, `_dmarc.second.example. TXT "v=DMARC1; p=none"`,
		`stranger.example. TXT "v=spf1 -all"`, `_dmarc.stranger.example. TXT "v=DMARC1; p=none"`,
		`spf.mail.example.org. TXT "v=spf1 ip4:192.0.2.25 -all"`,
		`25.2.0.192.in-addr.arpa. PTR out.mail.example.org.`, `out.mail.example.org. A 192.0.2.25`,
		`7.100.51.198.in-addr.arpa. PTR o1.sendgrid.net.`, `o1.sendgrid.net. A 198.51.100.7`,
		`99.113.0.203.in-addr.arpa. PTR mail.google.com.`, `mail.google.com. A 192.0.2.99`)}
	resolver, err := dnsx.New(dnsx.Config{Server: w.zone.Addr(), Timeout: 5 * time.Second, Rounds: 1})
	check(t, err)
	cursors := page.NewCodec(make([]byte, 16))
	people, err := accounts.New(accounts.Params{Config: accounts.Config{CacheTTL: time.Millisecond}, DB: w.db,
		Cursors: cursors, Logger: quiet})
	check(t, err)
	t.Cleanup(func() { check(t, people.Stop(context.Background())) })
	box, err := secret.NewBox(secret.NewKey())
	check(t, err)
	names, err := domains.New(domains.Params{Config: domains.Config{BaseHost: "mail.example.org",
		SandboxDomain: "sandbox.mail.example.org", ReturnPathHost: "rp.mail.example.org",
		SPFInclude: "spf.mail.example.org"}, DB: w.db, Bus: bus.New(w.db, quiet, bus.Options{}), Accounts: people,
		Resolver: resolver, Box: box, NewKey: dkimtest.Key, Cursors: cursors, Logger: quiet})
	check(t, err)
	t.Cleanup(func() { check(t, names.Stop(context.Background())) })
	for email, id := range map[string]*string{"ada@example.com": &w.ada, "eve@example.net": &w.eve} {
		made, err := people.CreateAccount(t.Context(), accounts.NewAccount{Name: "Test", Email: email, Plan: accounts.PlanPro})
		check(t, err)
		*id = made.ID
	}
	w.domain, err = names.Add(t.Context(), w.ada, domains.NewDomain{Name: "example.com"})
	check(t, err)
	w.other, err = names.Add(t.Context(), w.eve, domains.NewDomain{Name: "example.net"})
	check(t, err)
	budget, err := intake.New(intake.Config{Dir: t.TempDir(), Logger: quiet})
	check(t, err)
	signer, err := reportaddress.New("rp.mail.example.org", box.DeriveEach("report addresses")...)
	check(t, err)
	w.Service, err = New(Params{Config: Config{Hostname: "mx.mail.example.org", SPFInclude: "spf.mail.example.org"}, DB: w.db,
		Addresses: signer, Verifier: authn.New(authn.Config{Resolver: resolver.SMTP()}), Domains: names, Resolver: resolver,
		Budget: budget, Logger: quiet})
	check(t, err)
	server, err := smtpserver.New(smtpserver.Config{Name: "inbound", Hostname: "mx.mail.example.org",
		Handler: w.ListenerHandler(), Logger: quiet, MaxMessageBytes: 4 * maxMessage})
	check(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	w.listener = listener.Addr().String()
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Stop(context.Background()) })
	return w
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// delivery is one message to a report address.
type delivery struct {
	to, from string
	file     []byte
}

// send delivers a message over SMTP from 127.0.0.1.
func (w *world) send(t *testing.T, d delivery) error {
	t.Helper()
	return w.sendAs(t, "application/gzip", d)
}

// sendAs delivers a message with a file of a media type.
func (w *world) sendAs(t *testing.T, kind string, d delivery) error {
	t.Helper()
	client, err := smtp.Dial(w.listener)
	check(t, err)
	defer client.Close()
	check(t, client.Hello("mta."+d.from))
	check(t, client.Mail("reports@"+d.from))
	if err := client.Rcpt(d.to); err != nil {
		return err
	}
	data, err := client.Data()
	check(t, err)
	_, err = data.Write([]byte("From: reports@" + d.from + "\r\nTo: " + d.to + "\r\nSubject: Report\r\n" +
		"MIME-Version: 1.0\r\nContent-Type: " + kind + "\r\nContent-Disposition: attachment; filename=r.xml.gz\r\n" +
		"Content-Transfer-Encoding: base64\r\n\r\n" + lines(base64.StdEncoding.EncodeToString(d.file))))
	check(t, err)
	return data.Close()
}

// wantReply fails unless err is the SMTP reply.
func wantReply(t *testing.T, what string, err error, want error) {
	t.Helper()
	var got *textproto.Error
	var reply *smtpserver.Reply
	if !errors.As(err, &got) || !errors.As(want, &reply) || got.Code != reply.Code || !strings.Contains(got.Msg, reply.Text) {
		t.Errorf("%s: the reply is %v, want %v", what, err, want)
	}
}

func lines(text string) string {
	var out strings.Builder
	for len(text) > 76 {
		out.WriteString(text[:76] + "\r\n")
		text = text[76:]
	}
	return out.String() + text + "\r\n"
}

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write([]byte(text))
	check(t, err)
	check(t, w.Close())
	return out.Bytes()
}

// sent is one record of a report.
type sent struct {
	source                       string
	count                        int64
	disposition, dkim, spf, auth string
}

func reportOf(domain, id string, begin time.Time, list ...sent) string {
	var out strings.Builder
	fmt.Fprintf(&out, `<feedback><report_metadata><org_name>Receiver &lt;b&gt;Inc&lt;/b&gt;</org_name><report_id>%s</report_id><date_range><begin>%d</begin><end>%d</end></date_range></report_metadata>`+
		`<policy_published><domain>%s</domain><p>none</p></policy_published>`, id, begin.Unix(), begin.Add(24*time.Hour-time.Second).Unix(), domain)
	for _, s := range list {
		fmt.Fprintf(&out, `<record><row><source_ip>%s</source_ip><count>%d</count><policy_evaluated><disposition>%s</disposition><dkim>%s</dkim><spf>%s</spf></policy_evaluated></row>`+
			`<auth_results><dkim><domain>x.example</domain><result>%s</result></dkim></auth_results></record>`, s.source, s.count, s.disposition, s.dkim, s.spf, s.auth)
	}
	return out.String() + "</feedback>"
}

// ago returns the start of the UTC day some days ago, by the clock of the database.
func (w *world) ago(t *testing.T, days int) time.Time {
	t.Helper()
	now, err := db.Now(t.Context(), w.db.SQL)
	check(t, err)
	return now.UTC().Truncate(24*time.Hour).AddDate(0, 0, -days)
}

func (w *world) refusals(t *testing.T) string {
	t.Helper()
	list, err := db.All(t.Context(), w.db.SQL, func(r *Refusal) []any { return []any{&r.Reason, &r.Messages} },
		`SELECT reason, sum(messages) FROM dmarc_refusals GROUP BY reason ORDER BY reason`)
	check(t, err)
	return fmt.Sprint(list)
}

func (w *world) rows(t *testing.T) int {
	t.Helper()
	n, err := db.One(t.Context(), w.db.SQL, db.Value[int], `SELECT (SELECT count(*) FROM dmarc_counts) + (SELECT count(*) FROM dmarc_reports) +
		(SELECT count(*) FROM tls_counts) + (SELECT count(*) FROM tls_reports)`)
	check(t, err)
	return n
}

// Thirty days of traffic from three sources, reported by two receivers, have exactly the sums of the reports, even if
// every report arrives twice.
func TestSummaryHasSumsOfReports(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	address := w.addresses.Address(w.domain.ID)
	var ours, service, forged int64
	for day := range 30 {
		for i, receiver := range []string{"receiver.example", "second.example"} {
			n := int64(day*7 + i*3)
			ours, service, forged = ours+100+n, service+n%4, forged+n%11
			report := gzipped(t, reportOf("example.com", fmt.Sprintf("day-%d", day), w.ago(t, day),
				sent{"192.0.2.25", 60, "none", "pass", "pass", "pass"}, sent{"192.0.2.25", 40 + n, "none", "pass", "fail", "pass"},
				sent{"198.51.100.7", n % 4, "none", "fail", "fail", "pass"},
				sent{"203.0.113.99", n % 11, "quarantine", "fail", "fail", "none"}))
			for range 2 {
				check(t, w.send(t, delivery{address, receiver, report}))
			}
		}
	}
	check(t, w.LookUpSources(t.Context()))
	got, err := w.Summarize(t.Context(), w.ada, w.domain.ID)
	check(t, err)
	want := Share{Messages: ours + service + forged, DMARC: ours, DKIM: ours, SPF: 60 * 60, Quarantined: forged}
	if got.Totals != want || got.Reporting.Reports != 60 || got.Reporting.LastReportAt == nil {
		t.Errorf("the totals are %+v of %d reports, want %+v of 60", got.Totals, got.Reporting.Reports, want)
	}
	for i, want := range []Source{
		{Address: "192.0.2.25", Name: "out.mail.example.org", Ours: true, Share: Share{Messages: ours, DMARC: ours, DKIM: ours, SPF: 3600}},
		// The reverse name of this address resolves to another one, so it is not shown.
		{Address: "203.0.113.99", Share: Share{Messages: forged, Quarantined: forged}},
		{Address: "198.51.100.7", Name: "o1.sendgrid.net", Service: "SendGrid", Share: Share{Messages: service}, AtRisk: service},
	} {
		if len(got.Sources) != 3 || got.Sources[i] != want {
			t.Fatalf("the sources are %+v, want %+v at %d", got.Sources, want, i)
		}
	}
	if len(got.Receivers) != 2 || got.Receivers[0].Messages+got.Receivers[1].Messages != want.Messages {
		t.Errorf("the receivers are %+v", got.Receivers)
	}
	if got.Advice.Days != 30 || got.Advice.AtRisk != service || got.Advice.Unknown != forged {
		t.Errorf("the advice is %+v", got.Advice)
	}
	if _, err := w.Summarize(t.Context(), w.eve, w.domain.ID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("another account got the error %v, want NotFound", err)
	}
	if got, err := w.Summarize(t.Context(), w.eve, w.other.ID); err != nil || got.Totals != (Share{}) || got.Reporting.Reports != 0 {
		t.Errorf("the other domain has %+v, error %v", got, err)
	}
}

// Refused messages are counted by reason and change nothing else.
func TestRefusedMessagesOnlyCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	address := w.addresses.Address(w.domain.ID)
	genuine := reportOf("example.com", "1", w.ago(t, 1), sent{"192.0.2.25", 1, "none", "pass", "pass", "pass"})
	before, err := w.domains.Get(t.Context(), w.ada, w.domain.ID)
	check(t, err)
	for reason, d := range map[string]delivery{
		"unauthenticated": {address, "stranger.example", gzipped(t, genuine)},
		"no_report":       {address, "receiver.example", []byte("hello")},
		"malformed":       {address, "receiver.example", []byte("<html></html>")},
		"doctype":         {address, "receiver.example", gzipped(t, `<!DOCTYPE f [<!ENTITY a "b">]>`+genuine)},
		"other_domain":    {address, "receiver.example", gzipped(t, reportOf("example.net", "1", w.ago(t, 1)))},
		"period":          {address, "receiver.example", gzipped(t, reportOf("example.com", "1", w.ago(t, 61)))},
		"too_large":       {address, "receiver.example", bytes.Repeat([]byte("<"), maxMessage)},
		"bad_archive":     {address, "receiver.example", gzipped(t, genuine)[:40]},
	} {
		wantReply(t, reason, w.send(t, d), replyRefused)
	}
	want := "[{bad_archive 1} {doctype 1} {malformed 1} {no_report 1} {other_domain 1} {period 1} {too_large 1} {unauthenticated 1}]"
	if got := w.refusals(t); got != want || w.rows(t) != 0 {
		t.Errorf("got %s and %d rows, want %s and none", got, w.rows(t), want)
	}
	for to, want := range map[string]error{
		strings.Replace(address, "dmarc+", "dmarc+x", 1):      replyUnknown,
		"someone@rp.mail.example.org":                         Elsewhere,
		w.addresses.Address("dom_01kf0m4w7he6x8q2v5b3n9c1ta"): replyUnknown,
	} {
		wantReply(t, to, w.send(t, delivery{to, "receiver.example", gzipped(t, genuine)}), want)
	}
	after, err := w.domains.Get(t.Context(), w.ada, w.domain.ID)
	check(t, err)
	if before.String() != after.String() {
		t.Errorf("the domain changed from %s to %s", before, after)
	}
}

// Concurrent copies of a report count once. The same id of another receiver is another report, so a stranger cannot
// displace the report of a genuine receiver.
func TestReportCountsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file := gzipped(t, reportOf("example.com", "1", w.ago(t, 1), sent{"192.0.2.25", 5, "none", "pass", "pass", "pass"}))
	var group sync.WaitGroup
	for i := range 12 {
		group.Go(func() {
			receiver := []string{"receiver.example", "second.example"}[i%2]
			if err := w.send(t, delivery{w.addresses.Address(w.domain.ID), receiver, file}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	got, err := w.Summarize(t.Context(), w.ada, w.domain.ID)
	if err != nil || got.Totals.Messages != 10 || got.Reporting.Reports != 2 {
		t.Errorf("got %+v of %d reports, error %v, want 10 messages of 2", got.Totals, got.Reporting.Reports, err)
	}
}

func TestLimitAndRetention(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dbtest.Exec(t, w.db, `INSERT INTO dmarc_reports (domain_id, digest, organization, receiver, report_id, policy, begins_at, ends_at, messages)
		SELECT $1, decode(md5(n::text), 'hex'), 'o', 'r', 'i', 'none', now(), now(), 0 FROM generate_series(1, $2) n`, w.domain.ID, maxReportsPerDay)
	report := gzipped(t, reportOf("example.com", "1", w.ago(t, 1), sent{"192.0.2.25", 1, "none", "pass", "pass", "pass"}))
	d := delivery{w.addresses.Address(w.domain.ID), "receiver.example", report}
	wantReply(t, "one report too many", w.send(t, d), replyRefused)
	if w.refusals(t) != "[{limit 1}]" || w.rows(t) != maxReportsPerDay {
		t.Errorf("the refusals are %s, with %d rows", w.refusals(t), w.rows(t))
	}
	dbtest.Exec(t, w.db, `UPDATE dmarc_reports SET created_at = now() - interval '2 days'`)
	check(t, w.send(t, d))
	dbtest.Exec(t, w.db, `UPDATE dmarc_reports SET created_at = now() - $1 * interval '1 day'`, KeptDays+1)
	dbtest.Exec(t, w.db, `UPDATE dmarc_counts SET day = '2020-01-01'`)
	deleted, err := w.sweep(t.Context())
	if err != nil || deleted != maxReportsPerDay+2 || w.rows(t) != 0 {
		t.Errorf("the sweep deleted %d rows, error %v, and left %d", deleted, err, w.rows(t))
	}
}

// A receiver that reaches its own limit does not keep others from reporting.
func TestLimitOfOneReceiver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	address, day := w.addresses.Address(w.domain.ID), w.ago(t, 1)
	send := func(receiver, id string) error {
		return w.send(t, delivery{address, receiver, gzipped(t, reportOf("example.com", id, day,
			sent{"192.0.2.25", 1, "none", "pass", "pass", "pass"}))})
	}
	dbtest.Exec(t, w.db, `INSERT INTO dmarc_reports (domain_id, digest, organization, receiver, report_id, policy, begins_at, ends_at, messages)
		SELECT $1, decode(md5(n::text), 'hex'), 'o', 'receiver.example', 'i', 'none', now(), now(), 0 FROM generate_series(2, $2) n`,
		w.domain.ID, maxReceiverPerDay)
	check(t, send("receiver.example", "last"))
	wantReply(t, "one report of a receiver too many", send("receiver.example", "more"), replyRefused)
	check(t, send("second.example", "more"))
	dbtest.Exec(t, w.db, `UPDATE dmarc_reports SET created_at = now() - interval '2 days'`)
	dbtest.Exec(t, w.db, `INSERT INTO dmarc_counts (domain_id, day, receiver, source, disposition, dkim, spf, signed, permitted)
		SELECT $1, '2026-01-01', 'receiver.example', n::text, 'none', true, true, true, true FROM generate_series(2, $2) n`,
		w.domain.ID, maxReceiverCounts)
	wantReply(t, "one row of a receiver too many", send("receiver.example", "rows"), replyRefused)
	check(t, send("second.example", "rows"))
	if w.refusals(t) != "[{limit 2}]" {
		t.Errorf("the refusals are %s, want two because of a limit", w.refusals(t))
	}
}

func TestAuthorizationRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if got := w.authorization(t.Context(), "example.com"); got.Status != "missing" ||
		got.Name != "example.com._report._dmarc.rp.mail.example.org" {
		t.Errorf("without the record, got %+v", got)
	}
	w.zone.Set(t, "example.net._report._dmarc.rp.mail.example.org", `example.net._report._dmarc.rp.mail.example.org. 300 IN TXT "v=DMARC1;"`)
	if got := w.authorization(t.Context(), "example.net"); got.Status != "verified" {
		t.Errorf("with the record, got %+v", got)
	}
}
