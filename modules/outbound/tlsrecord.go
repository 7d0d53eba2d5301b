package outbound

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/batch"
)

// TLSRecorder counts sessions with mail hosts in memory and stores the sums periodically. A killed process
// loses the sums that it has not stored. Sums stored after midnight count for the new day.
type TLSRecorder struct {
	db    *db.DB
	every time.Duration

	mutex  sync.Mutex
	counts map[tlsCount]int64

	tasks *worker.Tasks
}

var _ smtpclient.TLSReports = (*TLSRecorder)(nil)

// maxTLSCounts bounds the memory: beyond it, sessions of further domains count under otherDomains until the
// next store.
const (
	maxTLSCounts = 10_000
	otherDomains = "other"
)

type tlsCount struct {
	domain, host, policy string
	testing              bool
	result               string
}

// NewTLSRecorder returns a new TLSRecorder. Start starts its background task. metrics may be nil.
func NewTLSRecorder(config Config, d *db.DB, log *slog.Logger, metrics *worker.Metrics) *TLSRecorder {
	return &TLSRecorder{db: d, tasks: worker.NewTasks(log, metrics), every: config.withDefaults().ReportEvery,
		counts: map[tlsCount]int64{}}
}

// Report counts one session.
func (r *TLSRecorder) Report(report smtpclient.TLSReport) {
	key := tlsCount{domain: report.Domain, host: report.Host,
		policy:  cmp.Or(string(report.Policy), string(smtpclient.PolicyOpportunistic)),
		testing: report.Testing, result: report.Result}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.add(key, 1)
}

func (r *TLSRecorder) add(key tlsCount, sessions int64) {
	if _, known := r.counts[key]; !known && len(r.counts) >= maxTLSCounts {
		key.domain, key.host = otherDomains, ""
	}
	r.counts[key] += sessions
}

// Start stores the sums in the background until Stop.
func (r *TLSRecorder) Start(context.Context) error {
	r.tasks.Start(worker.Every("counts of TLS sessions", r.every, r.store))
	return nil
}

// Stop stores the remaining sums.
func (r *TLSRecorder) Stop(ctx context.Context) error {
	r.tasks.Stop(ctx)
	return r.store(ctx)
}

// tlsSessions is a counter and its number of sessions.
type tlsSessions struct {
	tlsCount

	sessions int64
}

var tlsRows = batch.New("c",
	batch.ComputedColumn[tlsSessions]("day", `to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD')`),
	batch.Text("domain", func(c tlsSessions) string { return c.domain }),
	batch.Text("host", func(c tlsSessions) string { return c.host }),
	batch.Text("policy", func(c tlsSessions) string { return c.policy }),
	batch.Bool("testing", func(c tlsSessions) bool { return c.testing }),
	batch.Text("result", func(c tlsSessions) string { return c.result }),
	batch.Int("sessions", func(c tlsSessions) int64 { return c.sessions }),
)

// storeTLS locks the counters in the same order in every process, to prevent deadlocks.
var storeTLS = db.Compile(tlsRows.Insert("tls_report_counts") + `
ORDER BY c.domain, c.host, c.policy, c.testing, c.result
ON CONFLICT (day, domain, host, policy, testing, result) DO UPDATE SET sessions = tls_report_counts.sessions + EXCLUDED.sessions`)

func (r *TLSRecorder) store(ctx context.Context) error {
	r.mutex.Lock()
	counts := r.counts
	r.counts = map[tlsCount]int64{}
	r.mutex.Unlock()
	if len(counts) == 0 {
		return nil
	}
	rows := make([]tlsSessions, 0, len(counts))
	for key, n := range counts {
		rows = append(rows, tlsSessions{key, n})
	}
	_, err := r.db.SQL.ExecContext(ctx, storeTLS.Text, storeTLS.Args(tlsRows.Rows(rows))...)
	if err == nil {
		return nil
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for key, n := range counts {
		r.add(key, n)
	}
	return fmt.Errorf("store counts of TLS sessions: %w", err)
}
