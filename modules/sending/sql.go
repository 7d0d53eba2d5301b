package sending

import (
	"context"
	"time"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/ent/recipient"
	"github.com/postrider/postrider/modules/sending/handover"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/batch"
)

// The hot path in hand-written SQL over the tables of ent/schema: one statement with constant text for any
// number of rows.

// keptBody returns a body if the message is stored with it, otherwise "".
func (a *acceptance) keptBody(body string) string {
	if a.withoutBody() {
		return ""
	}
	return body
}

// addressed is a recipient of an accepted email.
type addressed struct {
	recipientRow
	status email.Status // status of its email
}

// lease returns the lease under which the recipient is stored as claimed, or 0.
func (r addressed) lease() time.Duration {
	if r.claim == nil || r.status != email.StatusSent {
		return 0
	}
	return r.claim.Lease
}

// addressedRows contains the columns of recipients. A recipient is due immediately if its email is sent, unless
// it is stored as claimed. It is settled if the email will not be sent.
var addressedRows = batch.New("r",
	batch.Text("email_id", func(r addressed) string { return r.emailID }),
	batch.Text("account_id", func(r addressed) string { return r.accountID }),
	batch.Text("kind", func(r addressed) recipient.Kind { return r.kind }),
	batch.Text("address", func(r addressed) string { return r.address }),
	batch.Text("destination", func(r addressed) string { return r.destination }),
	batch.Text("state", func(r addressed) recipient.State { return r.state }),
	batch.Text("diagnostic", func(r addressed) string { return r.diagnostic }).OrNull(),
	batch.Text("email_status", func(r addressed) email.Status { return r.status }).SourceOnly(),
	batch.Int("lease", func(r addressed) int64 { return r.lease().Microseconds() }).SourceOnly(),
	batch.ComputedColumn[addressed]("due_at",
		`CASE WHEN r.email_status = 'sent' THEN now() + r.lease * interval '1 microsecond' END`),
	batch.ComputedColumn[addressed]("fence", `(r.lease > 0)::int`),
	batch.ComputedColumn[addressed]("attempts", `(r.lease > 0)::int`),
	batch.ComputedColumn[addressed]("settled_at", `CASE WHEN r.email_status = 'failed' THEN now() END`),
)

// insertSQL stores emails, their recipients, and the attempts of those that are stored as claimed, in one round trip.
// It returns the claimed recipients. The foreign key is checked at the end of the statement.
var insertSQL = db.Compile(`WITH stored AS (` + emailRows.Insert("emails") + `),
addressed AS (` + addressedRows.Insert("recipients") + ` RETURNING ` + handover.StoredColumns + `),
opened AS (` + handover.OpenSQL("addressed") + `)
` + handover.FoundSQL("addressed"))

func insertEmails(ctx context.Context, tx db.Execer, accepted []*acceptance) ([]handover.Stored, error) {
	return db.All(ctx, tx, handover.ScanStored, insertSQL.Text, insertSQL.Args(insertArgs(accepted)...)...)
}

// insertArgs returns the rows of emailRows and addressedRows, and the claims.
func insertArgs(accepted []*acceptance) []db.Argument {
	recipients := make([]addressed, 0, len(accepted))
	var claims []*handover.Claim
	for _, a := range accepted {
		a.search = a.searchText()
		for _, r := range a.recipients {
			row := addressed{r, a.email.status}
			recipients = append(recipients, row)
			if row.lease() > 0 {
				claims = append(claims, r.claim)
			}
		}
	}
	return []db.Argument{emailRows.Rows(accepted), addressedRows.Rows(recipients), handover.Rows(claims)}
}

func orZero(at *time.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return *at
}

// sentAt returns when the email was handed over to delivery, or zero if it was not.
func (r emailRow) sentAt() time.Time {
	if r.status == email.StatusSent {
		return r.createdAt
	}
	return time.Time{}
}

// releaseAt returns when the email must be released, or zero if it is not scheduled.
func (r emailRow) releaseAt() time.Time {
	if r.status == email.StatusScheduled {
		return orZero(r.scheduledAt)
	}
	return time.Time{}
}

const insertAttachmentSQL = `
INSERT INTO attachments (email_id, account_id, position, name, content_type, content_id, size, data)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`

func insertAttachments(ctx context.Context, tx db.Execer, a *acceptance) error {
	if a.withoutBody() {
		return nil
	}
	for i, f := range a.files {
		if _, err := tx.ExecContext(ctx, insertAttachmentSQL,
			a.email.id, a.email.accountID, i, f.Name, f.ContentType, f.ContentID, len(f.Data), f.Data); err != nil {
			return err
		}
	}
	return nil
}
