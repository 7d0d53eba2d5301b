package records

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/attachment"
	"github.com/postrider/postrider/ent/attempt"
	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/ent/recipient"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sending/lifecycle"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/search"
	"github.com/postrider/postrider/runtime/work/event"
)

// Erasure lists the emails that the erasure of a recipient changed.
type Erasure struct {
	Deleted  []string // emails with no other recipient, deleted
	Redacted []string // emails with other recipients, without the address and the body
}

// erasedAddress replaces an erased address in a list of recipients.
const (
	erasedAddress = erasedLocal + "@" + erasedDomain
	erasedLocal   = "erased"
	erasedDomain  = "erased.invalid"
)

const eraseBatch = 100

// Relayed messages that are still to be sent to others are rewritten in memory, one at a time.
const (
	eraseMemory   = 120 << 20
	erasePatience = 30 * time.Second
)

const mentioningSQL = `SELECT id FROM emails WHERE search @@ $1::tsquery AND account_id = $2 LIMIT $3`

// Erase deletes everything stored about an address as a recipient of the account's emails. Unsent mail to it
// is not sent; a running attempt may still deliver. Repeating it is safe, even after a failure partway through.
func (s *Service) Erase(ctx context.Context, accountID, addr string) (Erasure, error) {
	var total Erasure
	release, err := s.budget.AcquireWork(ctx, intake.Tenant{Account: accountID}, eraseMemory, erasePatience)
	if err != nil {
		return total, tooManyReads(ctx, err)
	}
	defer release()
	marks := search.AllMarks(accountID, []string{markTo + strings.ToLower(addr)})
	for {
		ids, err := db.All(ctx, s.db.SQL, db.Value[string], mentioningSQL, marks, accountID, eraseBatch)
		if err != nil {
			return total, fmt.Errorf("find emails of a recipient: %w", err)
		}
		if len(ids) == 0 {
			return total, nil
		}
		done, err := s.eraseFrom(ctx, accountID, addr, ids)
		if err != nil {
			return total, fmt.Errorf("erase a recipient: %w", err)
		}
		total.Deleted, total.Redacted = append(total.Deleted, done.Deleted...), append(total.Redacted, done.Redacted...)
	}
}

func (s *Service) eraseFrom(ctx context.Context, accountID, addr string, ids []string) (done Erasure, err error) {
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		rows, err := tx.Email.Query().Where(email.AccountID(accountID), email.IDIn(ids...)).
			WithRecipients().Order(email.ByID()).ForUpdate().Select(ListColumns...).All(ctx)
		if err != nil {
			return err
		}
		var back []accounts.EmailUsage // usage of scheduled emails
		for _, e := range rows {
			others := slices.DeleteFunc(slices.Clone(e.Edges.Recipients),
				func(r *ent.Recipient) bool { return strings.EqualFold(r.Address, addr) })
			if len(others) == 0 {
				done.Deleted = append(done.Deleted, e.ID)
				if e.ScheduledAt != nil && (e.Status == email.StatusScheduled || e.Status == email.StatusQueued) {
					back = append(back, accounts.EmailUsage{AccountID: accountID, Due: *e.ScheduledAt})
				}
				continue
			}
			done.Redacted = append(done.Redacted, e.ID)
			redact := func() error { return s.redactEmail(ctx, tx, e, others, addr) }
			if s.counts != nil {
				err = s.counts.PreserveCounts(ctx, tx, accountID, []string{e.ID}, redact)
			} else {
				err = redact()
			}
			if err != nil {
				return fmt.Errorf("redact email %s: %w", e.ID, err)
			}
		}
		if len(done.Deleted) == 0 {
			return nil
		}
		if err := s.usage.Refund(ctx, tx, back); err != nil {
			return err
		}
		return s.deleteLocked(ctx, tx, accountID, done.Deleted)
	})
	return done, err
}

// redactEmail removes one recipient from an email that has others. Its body is deleted as well, because it may
// contain anything about the recipient.
func (s *Service) redactEmail(ctx context.Context, tx *ent.Tx, e *ent.Email, others []*ent.Recipient,
	addr string) error {
	var gone []int64
	for _, r := range e.Edges.Recipients {
		if strings.EqualFold(r.Address, addr) {
			gone = append(gone, r.ID)
		}
	}
	if _, err := tx.Attempt.Delete().Where(attempt.EmailID(e.ID), attempt.RecipientIDIn(gone...)).
		Exec(ctx); err != nil {
		return err
	}
	if _, err := tx.Recipient.Delete().Where(recipient.EmailID(e.ID), recipient.IDIn(gone...)).Exec(ctx); err != nil {
		return err
	}
	without := newRedaction(e, others, addr)
	if err := s.redactRelayed(ctx, tx, &without, addr); err != nil {
		return err
	}
	if !without.keepBody {
		if err := s.forgetObjects(ctx, tx, e.AccountID, e.ID); err != nil {
			return err
		}
	}
	if err := s.storeRedacted(ctx, tx, without); err != nil {
		return err
	}
	if !without.keepBody {
		if _, err := tx.Attachment.Delete().Where(attachment.EmailID(e.ID)).Exec(ctx); err != nil {
			return err
		}
	}
	return s.bus.Rewrite(ctx, tx, e.AccountID, []string{e.ID},
		func(f event.Fact) (json.RawMessage, error) { return redactFact(f, addr) })
}

// redaction is an email without one of its recipients.
type redaction struct {
	email       *ent.Email
	to, cc, bcc []string
	status      email.Status
	reason      string // reason for a bounce, unless it contains the address
	keepBody    bool   // still to be sent to the others
	mime        []byte // if it is a relayed message still to be sent: without the address in its header
	search      SearchText
	erased      string
}

func newRedaction(e *ent.Email, others []*ent.Recipient, addr string) redaction {
	r := redaction{email: e, to: redactList(e.To, addr), cc: redactList(e.Cc, addr), bcc: redactList(e.Bcc, addr),
		status: e.Status, erased: addr}
	counts, addresses := lifecycle.RecipientCounts{}, make([]string, 0, len(others))
	for _, o := range others {
		counts[o.State]++
		addresses = append(addresses, o.Address)
	}
	if next := counts.OverallStatus(); e.Status == email.StatusSent && lifecycle.MayBecome(e.Status, next) {
		r.status = next // the removed recipient was the last open one
	}
	if e.BounceReason != nil && !strings.Contains(strings.ToLower(*e.BounceReason), strings.ToLower(addr)) {
		r.reason = *e.BounceReason
	}
	r.keepBody = r.status == email.StatusScheduled || r.status == email.StatusQueued || r.status == email.StatusSent
	r.search = SearchTextOf(e.AccountID, e.FromAddress, e.Subject, slices.Concat([]string{e.From}, r.to, r.cc, r.bcc),
		addresses, e.Tags)
	return r
}

const headersWithoutSQL = `(SELECT coalesce(jsonb_agg(h ORDER BY n), '[]') FROM jsonb_array_elements(e.headers) WITH ORDINALITY AS l(h, n)
	WHERE strpos(lower(h->>'value'), lower(@erased)) = 0)`

var redactSQL = db.Compile(`
UPDATE emails e SET "to" = to_jsonb(@to::text[]), cc = to_jsonb(@cc::text[]), bcc = to_jsonb(@bcc::text[]), status = @status::text, uncommon = NULLIF(@uncommon, ''), bounce_reason = NULLIF(@reason, ''),
	delivered_at = CASE WHEN @status::text = 'delivered' THEN coalesce(e.delivered_at, now()) ELSE e.delivered_at END,
	bounced_at = CASE WHEN @status::text = 'bounced' THEN coalesce(e.bounced_at, now()) ELSE e.bounced_at END,
	mime = CASE WHEN @keep_body THEN coalesce(@mime, e.mime) END, html = CASE WHEN @keep_body THEN e.html END, text = CASE WHEN @keep_body THEN e.text END,
	body_key = CASE WHEN @keep_body THEN e.body_key END, body_size = CASE WHEN @keep_body THEN e.body_size END, body_snippet = CASE WHEN @keep_body THEN e.body_snippet END, headers = CASE WHEN @keep_body THEN ` + headersWithoutSQL + ` ELSE '[]' END,
	body_purged_at = CASE WHEN @keep_body THEN e.body_purged_at ELSE coalesce(e.body_purged_at, now()) END, search = ` + search.DocumentSQL + `
FROM (SELECT @words::text AS words, @marks::text AS marks) v WHERE e.id = @id`)

func (s *Service) storeRedacted(ctx context.Context, tx *ent.Tx, r redaction) error {
	_, err := tx.ExecContext(ctx, redactSQL.Text, redactSQL.Args(db.Arg("id", r.email.ID), db.Arg("to", db.Array(r.to)),
		db.Arg("cc", db.Array(r.cc)), db.Arg("bcc", db.Array(r.bcc)),
		db.Arg("status", string(r.status)), db.Arg("uncommon", lifecycle.UncommonValue(r.status)),
		db.Arg("reason", r.reason), db.Arg("keep_body", r.keepBody),
		db.Arg("words", r.search.Words), db.Arg("marks", r.search.Marks), db.Arg("mime", r.mime),
		db.Arg("erased", r.erased))...)
	return err
}

// redactList replaces the address with the placeholder.
func redactList(list []string, addr string) []string {
	out := make([]string, 0, len(list))
	for _, text := range list {
		if a, err := address.Parse(text); err == nil && strings.EqualFold(a.AddrSpec(), addr) {
			text = erasedAddress
		}
		out = append(out, text)
	}
	return out
}

// redactFact drops facts about the address alone, and removes the address from others.
func redactFact(f event.Fact, addr string) (json.RawMessage, error) {
	if !strings.HasPrefix(string(f.Type), "email.") {
		return nil, nil // contact.unsubscribed of the email is about one person
	}
	var data event.Email
	if err := json.Unmarshal(f.Data, &data); err != nil {
		return nil, err
	}
	if strings.EqualFold(data.Recipient, addr) {
		return nil, nil
	}
	data.To, data.CC = redactList(data.To, addr), redactList(data.CC, addr)
	data.SuppressedRecipients = redactList(data.SuppressedRecipients, addr)
	if data.Tags == nil {
		data.Tags = []shape.Tag{}
	}
	return json.Marshal(data)
}
