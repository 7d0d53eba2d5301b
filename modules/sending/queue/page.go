package queue

import (
	"context"

	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/page"
)

// QueueOf returns one page of what the account has in the queue, the oldest first; the
// selection's own account is overruled. Error: Invalid naming `limit` or `cursor`.
func (s *Service) QueueOf(ctx context.Context, accountID string, of Selection, r page.Request) (page.Page[Queued], error) {
	if accountID == "" { // would be everybody's
		return page.Page[Queued]{}, fault.Missing("account", accountID)
	}
	list := listOf(accountID)
	limit, cursor, err := s.pages.Open(list, r)
	if err != nil {
		return page.Page[Queued]{}, err
	}
	var after int64
	if cursor != "" {
		after, _ = s.pages.Reveal(list, cursor) // Open has judged it
	}
	of.AccountID = accountID
	rows, err := s.List(ctx, of, after, limit+1)
	if err != nil {
		return page.Page[Queued]{}, err
	}
	for i := range rows {
		rows[i].ID = s.pages.Hide(list, rows[i].RecipientID)
	}
	return page.Of(s.pages, list, rows, limit, func(q Queued) string { return q.ID }), nil
}

func listOf(accountID string) page.List { return page.List{Name: "queue", AccountID: accountID} }

// BacklogOf gives what the account has in the queue by destination, most first, at most
// page.MaxLimit of them.
func (s *Service) BacklogOf(ctx context.Context, accountID string, of Selection) ([]Backlog, error) {
	if accountID == "" { // would be everybody's
		return nil, fault.Missing("account", accountID)
	}
	of.AccountID = accountID
	return s.Summary(ctx, of, page.MaxLimit)
}
