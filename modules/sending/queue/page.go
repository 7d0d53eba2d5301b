package queue

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
)

// QueueOf returns one page of the account's recipients in the queue, oldest first. The selection's AccountID
// is ignored. Error: Invalid naming `limit` or `cursor`.
func (s *Service) QueueOf(ctx context.Context, accountID string, of Selection,
	r page.Request) (page.Page[Queued], error) {
	if accountID == "" { // would match all accounts
		return page.Page[Queued]{}, fault.NoSuch("account", accountID)
	}
	list := listOf(accountID)
	at, err := s.pages.Open(list, r)
	if err != nil {
		return page.Page[Queued]{}, err
	}
	var boundary int64
	if at.ID != "" {
		boundary, _ = s.pages.Reveal(list, at.ID) // Open has validated it
	} else if at.Back {
		boundary = math.MaxInt64
	}
	of.AccountID = accountID
	rows, err := s.listAround(ctx, of, boundary, at.Back, at.Rows())
	if err != nil {
		return page.Page[Queued]{}, err
	}
	for i := range rows {
		rows[i].ID = s.pages.Hide(list, rows[i].RecipientID)
	}
	return page.FromRows(s.pages, list, rows, at, func(q Queued) string { return q.ID }), nil
}

// CountOf counts the account's recipients of a selection in the queue, up to the limit most.
func (s *Service) CountOf(ctx context.Context, accountID string, of Selection, most int) (int, error) {
	if accountID == "" { // would match all accounts
		return 0, fault.NoSuch("account", accountID)
	}
	of.AccountID = accountID
	var query db.Query
	query.Text = `SELECT count(*) FROM (SELECT FROM ` + of.fromSQL(&query, `r.id`) + ` LIMIT ` + strconv.Itoa(most) + `) counted`
	found, err := db.One(ctx, s.db.SQL, db.Value[int], query.Text, query.Args...)
	if err != nil {
		return 0, fmt.Errorf("count queue: %w", err)
	}
	return found, nil
}

func listOf(accountID string) page.List { return page.List{Name: "queue", AccountID: accountID} }

// BacklogOf returns the account's backlog by destination, largest first, at most page.MaxLimit of them.
func (s *Service) BacklogOf(ctx context.Context, accountID string, of Selection) ([]Backlog, error) {
	if accountID == "" { // would match all accounts
		return nil, fault.NoSuch("account", accountID)
	}
	of.AccountID = accountID
	return s.Summary(ctx, of, page.MaxLimit)
}
