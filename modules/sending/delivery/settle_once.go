package delivery

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/modules/sending/lifecycle"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/batch"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

// plainRows contains the columns of plain finished deliveries.
var plainRows = batch.New("v",
	batch.Text("email_id", func(f *finishedJob) string { return f.job.emailID }),
	batch.Int("id", func(f *finishedJob) int64 { return f.job.recipientID }),
	batch.Int("fence", func(f *finishedJob) int64 { return f.job.fence }),
	batch.Int("code", func(f *finishedJob) int { return f.out.Code }),
	batch.Text("phase", func(f *finishedJob) smtpclient.Phase { return f.out.Phase }),
	batch.Text("enhanced_code", func(f *finishedJob) string { return f.out.EnhancedCode }),
	batch.Text("reply", func(f *finishedJob) string { return f.out.Diagnostic() }),
	batch.Text("remote_host", func(f *finishedJob) string { return f.out.RemoteHost }),
	batch.Text("remote_addr", func(f *finishedJob) string { return f.out.RemoteAddr }),
	batch.Text("tls", func(f *finishedJob) string { return f.out.TLS }),
	batch.Text("tls_policy", func(f *finishedJob) smtpclient.TLSPolicy { return f.out.TLSPolicy }),
	batch.Text("local_addr", func(f *finishedJob) string { return f.out.LocalAddr }),
	batch.Text("fact_id", func(f *finishedJob) string { return f.factID }),
)

// Most attempts deliver a message with one recipient. Its result is known without reading the email, so this
// case takes one statement instead of a transaction of seven round trips. It does what settle does, under the
// same fence.
var settleOnceSQL = db.Compile(`
WITH done AS (
	SELECT * FROM ` + plainRows.Source() + `
), tried AS (
	UPDATE attempts a SET finished_at = clock_timestamp(), outcome = 'delivered', phase = v.phase, code = NULLIF(v.code, 0), enhanced_code = NULLIF(v.enhanced_code, ''),
		reply = v.reply, remote_host = v.remote_host, remote_addr = v.remote_addr, tls = v.tls, tls_policy = v.tls_policy, local_addr = v.local_addr
	FROM done v WHERE a.email_id BETWEEN v.email_id AND v.email_id AND a.recipient_id = v.id AND a.fence = v.fence
), settled AS (
	UPDATE recipients r SET state = 'delivered', fence = r.fence + 1, code = NULLIF(v.code, 0), enhanced_code = NULLIF(v.enhanced_code, ''),
		diagnostic = NULLIF(v.reply, ''), remote_mta = NULLIF(v.remote_host, ''), due_at = NULL, settled_at = now()
	FROM done v WHERE ` + lifecycle.RecipientSQL + ` AND r.fence = v.fence AND r.due_at IS NOT NULL
	RETURNING r.email_id, v.fact_id
), told AS (
	UPDATE emails e SET status = CASE WHEN e.status = 'sent' THEN 'delivered' ELSE e.status END, last_event = '` + string(event.EmailDelivered) + `',
		delivered_at = CASE WHEN e.status = 'sent' THEN now() ELSE e.delivered_at END
	FROM settled s WHERE e.id = s.email_id
), ` + bus.PublishSQL(`fact.id IN (SELECT fact_id FROM settled)`, `message.fact_id IN (SELECT fact_id FROM settled)`) + `
SELECT count(*) FROM settled`)

// isPlain reports whether settlePlain can store the delivery.
func (f *finishedJob) isPlain() bool {
	m := f.job.message
	return f.out.Kind == smtpclient.Delivered && m != nil && m.OneRecipient && f.job.via == ""
}

// settlePlain stores plain deliveries and returns the facts to wake consumers for.
func (s *settler) settlePlain(ctx context.Context, list []*finishedJob, now time.Time) ([]event.Fact, error) {
	// Lock emails in id order, as every multi-email update does.
	slices.SortFunc(list, func(a, b *finishedJob) int { return strings.Compare(a.job.emailID, b.job.emailID) })
	facts := make([]event.Fact, 0, len(list))
	for _, f := range list {
		data := f.job.message.Payload(string(email.StatusDelivered))
		f.verdict.describe(&data, f.job, f.out, now)
		fact := event.New(f.job.accountID, event.EmailDelivered, now.UTC(), data)
		facts = append(facts, fact)
		f.factID = fact.ID
	}
	published, err := s.bus.PublishArgs(facts...)
	if err != nil {
		return nil, err
	}
	args := settleOnceSQL.Args(append([]db.Argument{plainRows.Rows(list)}, published...)...)
	if _, err := db.All(ctx, s.db.Prepared, db.Value[int], settleOnceSQL.Text, args...); err != nil {
		return nil, fmt.Errorf("store deliveries: %w", err)
	}
	return facts, nil
}
