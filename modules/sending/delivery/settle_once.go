package delivery

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/runtime/bus"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/event"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
)

// Most attempts deliver a message with one recipient. What follows from that is known
// without looking at the email, so that case has one statement instead of a
// transaction of seven round trips. It does what settle does, under the same fence.
var settleOnceSQL = `
WITH done AS (
	SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[])
		AS v (id, fence, code, phase, enhanced_code, reply, remote_host, remote_addr, tls, tls_policy, local_addr, fact_id)
), tried AS (
	UPDATE attempts a SET finished_at = clock_timestamp(), outcome = 'delivered', phase = v.phase, code = NULLIF(v.code, 0), enhanced_code = NULLIF(v.enhanced_code, ''),
		reply = v.reply, remote_host = v.remote_host, remote_addr = v.remote_addr, tls = v.tls, tls_policy = v.tls_policy, local_addr = v.local_addr
	FROM done v WHERE a.recipient_id = v.id AND a.fence = v.fence
), settled AS (
	UPDATE recipients r SET state = 'delivered', fence = r.fence + 1, code = NULLIF(v.code, 0), enhanced_code = NULLIF(v.enhanced_code, ''),
		diagnostic = NULLIF(v.reply, ''), remote_mta = NULLIF(v.remote_host, ''), due_at = NULL, settled_at = now()
	FROM done v WHERE r.id = v.id AND r.fence = v.fence AND r.due_at IS NOT NULL
	RETURNING r.email_id, v.fact_id
), told AS (
	UPDATE emails e SET status = CASE WHEN e.status = 'sent' THEN 'delivered' ELSE e.status END, last_event = '` + string(event.EmailDelivered) + `',
		delivered_at = CASE WHEN e.status = 'sent' THEN now() ELSE e.delivered_at END
	FROM settled s WHERE e.id = s.email_id
), ` + bus.InsertSQL(13, `f.id IN (SELECT fact_id FROM settled)`, `m.fact_id IN (SELECT fact_id FROM settled)`) + `
SELECT count(*) FROM settled`

// plain tells whether an attempt needs no more than that.
func (f *finished) plain() bool {
	m := f.job.message
	return f.out.Kind == smtpclient.Delivered && m != nil && m.lonely && f.job.via == ""
}

// settlePlain stores attempts that all are plain, and gives the facts to wake for.
func (s *settler) settlePlain(ctx context.Context, batch []*finished, now time.Time) ([]event.Fact, error) {
	// As everybody does who changes several emails: in the order of their ids.
	slices.SortFunc(batch, func(a, b *finished) int { return strings.Compare(a.job.emailID, b.job.emailID) })
	n := len(batch)
	ids, fences, codes := make([]int64, n), make([]int64, n), make([]int64, n)
	text := make([][]string, 9)
	facts := make([]event.Fact, 0, n)
	for i, f := range batch {
		data := f.job.message.payload(string(email.StatusDelivered))
		f.verdict.describe(&data, f.job, f.out, now)
		fact := event.New(f.job.accountID, event.EmailDelivered, now.UTC(), data)
		facts = append(facts, fact)
		ids[i], fences[i], codes[i] = f.job.recipientID, f.job.fence, int64(f.out.Code)
		for column, value := range [9]string{string(f.out.Phase), f.out.EnhancedCode, f.out.Diagnostic(), f.out.RemoteHost, f.out.RemoteAddr, f.out.TLS,
			string(f.out.TLSPolicy), f.out.LocalAddr, fact.ID} {
			text[column] = append(text[column], value)
		}
	}
	published, err := s.bus.InsertArgs(facts...)
	if err != nil {
		return nil, err
	}
	args := []any{db.Array(ids), db.Array(fences), db.Array(codes)}
	for _, column := range text {
		args = append(args, db.Array(column))
	}
	if _, err := db.All(ctx, s.db.Prepared, db.Value[int], settleOnceSQL, append(args, published...)...); err != nil {
		return nil, fmt.Errorf("store deliveries: %w", err)
	}
	return facts, nil
}
