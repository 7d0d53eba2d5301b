package deliverability

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/tlsreport"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// googleReport returns a report in the shape of Google: one MTA-STS policy with a list of hosts.
func googleReport(domain string, day time.Time, succeeded, expired, noTLS int64) string {
	return fmt.Sprintf(`{"organization-name":"Google Inc.","date-range":{"start-datetime":%q,"end-datetime":%q},
"contact-info":"smtp-tls-reporting@google.com","report-id":%q,"policies":[{"policy":{"policy-type":"sts",
"policy-string":["version: STSv1","mode: testing","mx: in.mail.example.org","max_age: 86400"],"policy-domain":%q,
"mx-host":["in.mail.example.org"]},"summary":{"total-successful-session-count":%d,"total-failure-session-count":%d},
"failure-details":[{"result-type":"certificate-expired","sending-mta-ip":"2001:db8::1","failed-session-count":%d},
{"result-type":"starttls-not-supported","receiving-ip":"192.0.2.7","failed-session-count":%d}]}]}`,
		day.Format(time.RFC3339), day.Add(24*time.Hour-time.Second).Format(time.RFC3339),
		day.Format(time.RFC3339)+"_"+domain, domain, succeeded, expired+noTLS, expired, noTLS)
}

// microsoftReport returns a report in the shape of Microsoft: two policies, a host as text, and a total of failures
// that the details do not explain completely.
func microsoftReport(domain string, day time.Time, succeeded, expired, invalid, rest int64) string {
	return fmt.Sprintf(`{"organization-name":"Microsoft Corporation","date-range":{"start-datetime":%q,"end-datetime":%q},
"contact-info":"tlsrpt-noreply@microsoft.com","report-id":"%d+%s","policies":[
{"policy":{"policy-type":"tlsa","policy-string":["3 1 1 01ab"],"policy-domain":%[4]q,"mx-host":"in.mail.example.org"},
"summary":{"total-successful-session-count":%d,"total-failure-session-count":%d},"failure-details":[
{"result-type":"tlsa-invalid","failed-session-count":%d}]},
{"policy":{"policy-type":"sts","policy-string":[],"policy-domain":%[4]q},"summary":{
"total-successful-session-count":0,"total-failure-session-count":%[8]d},
"failure-details":[{"result-type":"certificate-expired","failed-session-count":%[8]d}]}]}`,
		day.Format("2006-01-02T15:04:05+00:00"), day.AddDate(0, 0, 1).Format("2006-01-02T15:04:05+00:00"), day.Unix(), domain,
		succeeded, invalid+rest, invalid, expired)
}

// sumTLS adds up reports from their JSON, independently of the parser and of the database.
func sumTLS(t *testing.T, reports []string) (sessions TLSSessions, failures map[string]int64) {
	t.Helper()
	failures = map[string]int64{}
	for _, text := range reports {
		var whole map[string]any
		check(t, json.Unmarshal([]byte(text), &whole))
		for _, p := range whole["policies"].([]any) {
			policy, summary := p.(map[string]any), p.(map[string]any)["summary"].(map[string]any)
			kind := policy["policy"].(map[string]any)["policy-type"].(string)
			failed := int64(summary["total-failure-session-count"].(float64))
			sessions.Succeeded += int64(summary["total-successful-session-count"].(float64))
			sessions.Failed += failed
			for _, d := range policy["failure-details"].([]any) {
				n := int64(d.(map[string]any)["failed-session-count"].(float64))
				failures[kind+" "+d.(map[string]any)["result-type"].(string)] += n
				failed -= n
			}
			failures[kind+" unspecified"] += failed
		}
	}
	maps.DeleteFunc(failures, func(_ string, n int64) bool { return n == 0 })
	return sessions, failures
}

// Thirty days of TLS reports of two senders have exactly the sums of the reports, even if every report arrives twice,
// plain and compressed.
func TestTLSSummaryHasSumsOfReports(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	address := w.addresses.Address(w.domain.ID)
	byReceiver, byDay := map[string][]string{}, map[string][]string{}
	for day := range 30 {
		at, n := w.ago(t, day), int64(day)
		for receiver, report := range map[string]string{
			"receiver.example": googleReport("example.com", at, 1000+n, n%3, n%2),
			"second.example":   microsoftReport("example.com", at, 50*n, n%4, n%5, n%6),
		} {
			byReceiver[receiver] = append(byReceiver[receiver], report)
			byDay[at.Format(time.DateOnly)] = append(byDay[at.Format(time.DateOnly)], report)
			check(t, w.sendAs(t, "application/tlsrpt+gzip", delivery{address, receiver, gzipped(t, report)}))
			check(t, w.sendAs(t, "application/tlsrpt+json", delivery{address, receiver, []byte(report)}))
			check(t, w.sendAs(t, "application/octet-stream", delivery{address, receiver, gzipped(t, report)}))
		}
	}
	got, err := w.Summarize(t.Context(), w.ada, w.domain.ID)
	check(t, err)
	sessions, failures := sumTLS(t, slices.Concat(slices.Collect(maps.Values(byReceiver))...))
	if got.TLS.Reports != 60 || got.TLS.LastReportAt == nil || got.TLS.TLSSessions != sessions || got.Totals != (Share{}) {
		t.Errorf("got %+v of %d reports, want %+v of 60", got.TLS.TLSSessions, got.TLS.Reports, sessions)
	}
	found := map[string]int64{}
	for _, f := range got.TLS.Failures {
		found[f.Policy+" "+f.Type] = f.Sessions
		if f.Reason == "" || f.Fix == "" || strings.Contains(f.Fix, "$") {
			t.Errorf("%s has the reason %q and the fix %q", f.Type, f.Reason, f.Fix)
		}
	}
	if !maps.Equal(found, failures) || len(failures) != 4 {
		t.Errorf("the failures are %v, want %v", found, failures)
	}
	for _, day := range got.TLS.Days {
		if want, _ := sumTLS(t, byDay[day.Day]); day.TLSSessions != want {
			t.Errorf("%s has %+v, want %+v", day.Day, day.TLSSessions, want)
		}
	}
	for i, name := range []string{"Google Inc.", "Microsoft Corporation"} {
		receiver := []string{"receiver.example", "second.example"}[i]
		want, _ := sumTLS(t, byReceiver[receiver])
		if len(got.TLS.Days) != 30 || len(got.TLS.Receivers) != 2 ||
			got.TLS.Receivers[i] != (TLSReceiver{receiver, name, want}) {
			t.Fatalf("the receivers of %d days are %+v, want %s with %+v", len(got.TLS.Days), got.TLS.Receivers, receiver, want)
		}
	}
	if got, err := w.Summarize(t.Context(), w.eve, w.other.ID); err != nil || len(got.TLS.Days) != 0 || got.TLS.Reports != 0 {
		t.Errorf("the other domain has %+v, error %v", got.TLS, err)
	}
	if _, err := w.Summarize(t.Context(), w.eve, w.domain.ID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("another account got the error %v, want NotFound", err)
	}
}

// Refused TLS reports are counted by reason and change nothing else.
func TestRefusedTLSReportsOnlyCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	address := w.addresses.Address(w.domain.ID)
	genuine := googleReport("example.com", w.ago(t, 1), 1, 1, 1)
	var policies strings.Builder
	for range tlsreport.MaxPolicies {
		policies.WriteString(`{"policy":{"policy-type":"sts","policy-domain":"example.com"},` +
			`"summary":{"total-successful-session-count":1,"total-failure-session-count":0}},`)
	}
	for reason, d := range map[string]delivery{
		"unauthenticated": {address, "stranger.example", gzipped(t, genuine)},
		"malformed":       {address, "receiver.example", []byte("<html></html>")},
		"other_domain":    {address, "receiver.example", []byte(googleReport("example.net", w.ago(t, 1), 1, 1, 1))},
		"period":          {address, "receiver.example", []byte(googleReport("example.com", w.ago(t, 61), 1, 1, 1))},
		"incomplete":      {address, "receiver.example", []byte("{}")},
		"invalid_value":   {address, "receiver.example", []byte(googleReport("example.com", w.ago(t, 1), -1, 1, 1))},
		"bad_archive":     {address, "receiver.example", gzipped(t, genuine)[:40]},
		"too_large":       {address, "receiver.example", gzipped(t, genuine+strings.Repeat(" ", tlsreport.MaxJSON))},
		"too_many_rows": {address, "receiver.example",
			[]byte(strings.Replace(genuine, `"policies":[`, `"policies":[`+policies.String(), 1))},
	} {
		wantReply(t, reason, w.sendAs(t, "application/tlsrpt+json", d), replyRefused)
	}
	want := "[{bad_archive 1} {incomplete 1} {invalid_value 1} {malformed 1} {other_domain 1} {period 1} {too_large 1} " +
		"{too_many_rows 1} {unauthenticated 1}]"
	if got := w.refusals(t); got != want || w.rows(t) != 0 {
		t.Errorf("got %s and %d rows, want %s and none", got, w.rows(t), want)
	}
}

// TLS reports have the limits and the retention of DMARC reports, and are deleted with their domain.
func TestTLSLimitAndRetention(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	send := func(days int) error {
		return w.sendAs(t, "application/tlsrpt+json", delivery{w.addresses.Address(w.domain.ID), "receiver.example",
			[]byte(googleReport("example.com", w.ago(t, days), 1, 1, 0))})
	}
	dbtest.Exec(t, w.db, `INSERT INTO tls_reports (domain_id, digest, organization, receiver, report_id, begins_at, ends_at)
		SELECT $1, decode(md5(n::text), 'hex'), 'o', 'receiver.example', 'i', now(), now() FROM generate_series(2, $2) n`,
		w.domain.ID, maxReceiverPerDay)
	check(t, send(1))
	wantReply(t, "one report too many", send(2), replyRefused)
	if w.refusals(t) != "[{limit 1}]" {
		t.Errorf("the refusals are %s", w.refusals(t))
	}
	dbtest.Exec(t, w.db, `UPDATE tls_reports SET created_at = now() - $1 * interval '1 day'`, KeptDays+1)
	dbtest.Exec(t, w.db, `UPDATE tls_counts SET day = '2020-01-01' WHERE result = 'successful'`)
	deleted, err := w.sweep(t.Context())
	if err != nil || deleted != maxReceiverPerDay+1 || w.rows(t) != 2 {
		t.Errorf("the sweep deleted %d rows, error %v, and left %d", deleted, err, w.rows(t))
	}
	check(t, send(2))
	dbtest.Exec(t, w.db, `DELETE FROM domains WHERE id = $1`, w.domain.ID)
	if w.rows(t) != 0 {
		t.Errorf("%d rows outlive their domain", w.rows(t))
	}
}

// Every type of failure is explained.
func TestTLSFailuresAreExplained(t *testing.T) {
	t.Parallel()
	for _, kind := range append(slices.Clone(tlsreport.FailureTypes), tlsreport.Unspecified, tlsreport.Other) {
		reason, fix := explainTLSFailure(kind, "example.com")
		if reason == "" || fix == "" {
			t.Errorf("%s has the reason %q and the fix %q", kind, reason, fix)
		}
	}
	if _, fix := explainTLSFailure("sts-policy-invalid", "example.com"); !strings.Contains(fix, "https://mta-sts.example.com/") {
		t.Errorf("the fix is %q", fix)
	}
	if n := len(tlsExplanations); n != len(tlsreport.FailureTypes)+2 {
		t.Errorf("%d types are explained", n)
	}
}

// The newest name of an organization is shown, as text.
func TestTLSOrganizationIsText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	report := strings.Replace(googleReport("example.com", w.ago(t, 1), 3, 0, 0), "Google Inc.", `<b>\u202eX\r\n</b>`, 1)
	check(t, w.sendAs(t, "application/tlsrpt+json", delivery{w.addresses.Address(w.domain.ID), "receiver.example", []byte(report)}))
	name, err := db.One(t.Context(), w.db.SQL, db.Value[string], `SELECT organization FROM tls_reports`)
	if err != nil || name != "<b> X  </b>" {
		t.Errorf("the name is %q, error %v", name, err)
	}
}
