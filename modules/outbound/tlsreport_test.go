package outbound

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mjl-/mox/tlsrpt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

func recorder(t testing.TB, d *db.DB, every time.Duration) *TLSRecorder {
	t.Helper()
	r := NewTLSRecorder(Config{ReportEvery: every}, d, slog.New(slog.DiscardHandler), nil)
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func stop(t testing.TB, r *TLSRecorder) {
	t.Helper()
	if err := r.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

func stored(t testing.TB, d *db.DB) map[string]int64 {
	t.Helper()
	sums := map[string]int64{}
	for _, c := range d.Ent.TLSReportCount.Query().AllX(t.Context()) {
		sums[fmt.Sprintf("%s %s %s %v %s", c.Domain, c.Host, c.Policy, c.Testing, c.Result)] = c.Sessions
	}
	return sums
}

func TestTLSSessionsAreSummedAcrossProcesses(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	sessions := []smtpclient.TLSReport{
		{Domain: "example.net", Host: "mx.example.net", Policy: smtpclient.PolicySTS},
		{Domain: "example.net", Host: "mx.example.net", Policy: smtpclient.PolicySTS, Testing: true, Result: "certificate-expired"},
		{Domain: "example.org", Result: "sts-policy-fetch-error"},
	}
	var wait sync.WaitGroup
	for range 3 {
		r := recorder(t, d, time.Millisecond)
		wait.Go(func() {
			for i := range 300 {
				r.Report(sessions[i%3])
			}
			stop(t, r)
		})
	}
	wait.Wait()
	got := stored(t, d)
	for _, key := range []string{"example.net mx.example.net mta-sts false ",
		"example.net mx.example.net mta-sts true certificate-expired",
		"example.org  opportunistic false sts-policy-fetch-error"} {
		if got[key] != 300 {
			t.Errorf("got %[2]d sessions for %[1]q in %[3]v", key, got[key], got)
		}
	}
}

func TestTLSSessionMemoryIsBounded(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	r := recorder(t, d, time.Hour)
	for i := range maxTLSCounts + 500 {
		r.Report(smtpclient.TLSReport{Domain: fmt.Sprintf("d%d.example", i), Host: "mx.example",
			Policy: smtpclient.PolicyDANE})
	}
	r.Report(smtpclient.TLSReport{Domain: "d1.example", Host: "mx.example", Policy: smtpclient.PolicyDANE})
	stop(t, r)
	got := stored(t, d)
	if len(got) != maxTLSCounts+1 || got["other  dane false "] != 500 || got["d1.example mx.example dane false "] != 2 {
		t.Errorf("got %d counters and %d under other domains", len(got), got["other  dane false "])
	}
}

func TestTLSSessionsWaitForDatabase(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	r := recorder(t, d, time.Hour)
	r.Report(smtpclient.TLSReport{Domain: "example.net", Policy: smtpclient.PolicyOpportunistic})
	ended, end := context.WithCancel(t.Context())
	end()
	if err := r.store(ended); err == nil {
		t.Fatal("the sessions were stored without a database")
	}
	r.Report(smtpclient.TLSReport{Domain: "example.net", Policy: smtpclient.PolicyOpportunistic})
	stop(t, r)
	if got := stored(t, d); got["example.net  opportunistic false "] != 2 {
		t.Errorf("after a failed write, the stored sessions are %v, want both for example.net", got)
	}
}

func TestTLSReportsFollowRFC8460(t *testing.T) {
	t.Parallel()
	counter := func(domain, host, policy, result string, sessions int64) *ent.TLSReportCount {
		return &ent.TLSReportCount{Domain: domain, Host: host, Policy: policy, Result: result, Sessions: sessions}
	}
	reports := reportsOf(TLSReportQuery{Day: "2026-11-22", Organization: "mail.example.com",
		Contact: "postmaster@mail.example.com"}, []*ent.TLSReportCount{
		counter("example.net", "mx1.example.net", "dane", "", 5),
		counter("example.net", "mx1.example.net", "dane", "validation-failure", 2),
		counter("example.net", "", "mta-sts", "sts-policy-fetch-error", 1),
		counter("example.net", "mx2.example.net", "mta-sts", "", 7),
		counter("example.net", "mx2.example.net", "mta-sts", "certificate-expired", 3),
		counter("example.org", "mx.example.org", "opportunistic", "", 4),
		counter("example.org", "mx.example.org", "enforced", "", 1),
	})
	var out strings.Builder
	for _, r := range reports {
		text, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tlsrpt.Parse(strings.NewReader(string(text))); err != nil {
			t.Errorf("the report cannot be parsed: %v", err)
		}
		out.Write(append(text, '\n'))
	}
	expect.Golden(t, "tls_reports.json", out.String())
}

func TestTLSReportsByDayAndDomain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.exec(t, `INSERT INTO tls_report_counts (day, domain, host, policy, testing, result, sessions)
		SELECT to_char((now() AT TIME ZONE 'UTC') - interval '1 day' * back, 'YYYY-MM-DD'), domain, '', 'opportunistic', false, '', 10 + back
		  FROM generate_series(0, 70) back, unnest('{example.net,example.org,other}'::text[]) domain`)
	domains := func(q TLSReportQuery) (names []string) {
		t.Helper()
		reports, err := w.TLSReports(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range reports {
			names = append(names, fmt.Sprintf("%s %d", r.Policies[0].Policy.Domain,
				r.Policies[0].Summary.TotalSuccessfulSessionCount))
		}
		return names
	}
	if got := domains(TLSReportQuery{}); !slices.Equal(got, []string{"example.net 11", "example.org 11"}) {
		t.Errorf("the reports of yesterday are %v", got)
	}
	if got := domains(TLSReportQuery{Domain: "Example.ORG"}); !slices.Equal(got, []string{"example.org 11"}) {
		t.Errorf("the report of one domain is %v", got)
	}
	if got := domains(TLSReportQuery{Day: "2020-01-01"}); len(got) != 0 {
		t.Errorf("the reports of an old day are %v", got)
	}
	_, err := w.TLSReports(t.Context(), TLSReportQuery{Day: "yesterday", Domain: "x"})
	if refused := fault.Classify(err); refused.Fields["day"] == "" || refused.Fields["domain"] == "" {
		t.Errorf("an invalid day and domain returned %v, want errors for both fields", err)
	}
	// Old counters are deleted.
	w.exec(t,
		`INSERT INTO source_days (source_id, day, deliveries) VALUES ('src_x', '2020-01-01', 1), ('src_x', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD'), 1)`)
	if n, err := w.Sweep(t.Context()); n != 31 || err != nil {
		t.Errorf("Sweep returned %d, %v", n, err)
	}
	if n := w.db.Ent.TLSReportCount.Query().CountX(t.Context()); n != 61*3 {
		t.Errorf("%d counters remain", n)
	}
}
