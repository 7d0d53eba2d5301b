package tracking

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/engagement"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/batch"
	"github.com/postrider/postrider/runtime/work/event"
)

// maxEngagements is the maximum number of recorded engagements per email. Processes that record concurrently
// may exceed it by a batch.
const maxEngagements = 1000

// recordSQL stores the hits of existing emails that are below the limit, and returns their indexes. It locks
// emails in id order, as every multi-email update does.
var recordSQL = db.Compile(`
WITH hit AS (
	SELECT h.*, row_number() OVER (PARTITION BY h.email_id ORDER BY h.n) AS nth FROM ` + hitRows.NumberedSource("n") + `
), known AS (
	SELECT e.id, e.account_id FROM emails e WHERE e.id = ANY (@h.email_id) ORDER BY e.id FOR UPDATE OF e
), admitted AS (
	SELECT h.* FROM hit h JOIN known k ON k.id = h.email_id AND k.account_id = h.account_id
	 WHERE h.nth <= @most - (SELECT count(*) FROM (SELECT FROM engagements g WHERE g.email_id = k.id LIMIT @most) recorded)
), stored AS (
	INSERT INTO engagements (` + hitRows.Columns() + `)
	SELECT ` + hitRows.Values() + ` FROM admitted h ORDER BY n
)
SELECT n FROM admitted ORDER BY n`)

var hitRows = batch.New("h",
	batch.Text("account_id", func(h agedHit) string { return h.mark.AccountID }),
	batch.Text("email_id", func(h agedHit) string { return h.mark.EmailID }),
	batch.Text("kind", func(h agedHit) TokenKind { return h.mark.Kind }),
	batch.Text("url", func(h agedHit) string { return h.mark.Target }).OrNull(),
	batch.Text("ip", func(h agedHit) string { return h.ip }),
	batch.Text("user_agent", func(h agedHit) string { return h.agent }),
	batch.Text("machine", func(h agedHit) string { return h.machine }),
	batch.Float("age", func(h agedHit) float64 { return h.age.Seconds() }).SourceOnly(),
	batch.ComputedColumn[agedHit]("created_at", "now() - make_interval(secs => h.age)"),
)

// agedHit is a hit with its age, because the database clock computes created_at.
type agedHit struct {
	hit

	age time.Duration
}

// storeHits stores hits and announces them in one transaction.
func (s *Service) storeHits(ctx context.Context, hits []hit) error {
	announced := 0
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		admitted, err := insertHits(ctx, tx, hits, time.Now())
		if err != nil || len(admitted) == 0 || s.announcer == nil {
			return err
		}
		announced, err = s.announcer.Announce(ctx, tx, admitted)
		return err
	})
	if err != nil {
		return fmt.Errorf("record opens and clicks: %w", err)
	}
	if announced > 0 {
		s.bus.Wake()
	}
	return nil
}

func insertHits(ctx context.Context, tx *ent.Tx, hits []hit, now time.Time) (admitted []Announcement, err error) {
	rows := make([]agedHit, len(hits))
	for i, h := range hits {
		rows[i] = agedHit{h, max(now.Sub(h.at), 0)}
	}
	numbers, err := db.All(ctx, tx, db.Value[int], recordSQL.Text,
		recordSQL.Args(hitRows.Rows(rows), db.Arg("most", maxEngagements))...)
	for _, n := range numbers {
		admitted = append(admitted, hits[n-1].toAnnouncement())
	}
	return admitted, err
}

// toAnnouncement returns the hit as an announcement.
func (h hit) toAnnouncement() Announcement {
	a := Announcement{AccountID: h.mark.AccountID, EmailID: h.mark.EmailID, Type: event.EmailOpened}
	a.Fill = func(e *event.Email) { e.Open = &event.Open{IP: h.ip, UserAgent: h.agent, Machine: h.machine != ""} }
	if h.mark.Kind == Click {
		a.Type = event.EmailClicked
		a.Fill = func(e *event.Email) {
			e.Click = &event.Click{URL: h.mark.Target, IP: h.ip, UserAgent: h.agent, Machine: h.machine != ""}
		}
	}
	return a
}

// DeleteFor deletes the engagements of emails and returns how many there were.
func (s *Service) DeleteFor(ctx context.Context, accountID string, emailIDs []string) (int, error) {
	count, err := s.db.Ent.Engagement.Delete().
		Where(engagement.AccountID(accountID), engagement.EmailIDIn(emailIDs...)).Exec(ctx)
	if err != nil {
		return count, fmt.Errorf("delete opens and clicks: %w", err)
	}
	return count, nil
}
