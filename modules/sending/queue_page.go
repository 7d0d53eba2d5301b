package sending

import (
	"context"
	"fmt"
	"strconv"

	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/page"
)

// QueuePage is one page of an account's part of the queue, the oldest first.
type QueuePage struct {
	Recipients []Queued
	HasMore    bool
	NextCursor string // empty on the last page
}

// QueueOf gives one page of what the account has in the queue; the selection's own
// account is overruled. Error: Invalid naming `limit` or `cursor`.
func (s *Service) QueueOf(ctx context.Context, accountID string, of Selection, r page.Request) (QueuePage, error) {
	if accountID == "" { // would be everybody's
		return QueuePage{}, fault.Missing("account", accountID)
	}
	list := page.List{Name: "queue", AccountID: accountID}
	limit, cursor, err := s.pages.Open(list, r)
	if err != nil {
		return QueuePage{}, err
	}
	var after int64
	if cursor != "" {
		if after, err = strconv.ParseInt(cursor, 10, 64); err != nil {
			return QueuePage{}, fmt.Errorf("cursor of the queue: %w", err)
		}
	}
	of.AccountID = accountID
	rows, err := s.Queue().List(ctx, of, after, limit+1)
	if err != nil {
		return QueuePage{}, err
	}
	out := QueuePage{Recipients: rows}
	if len(rows) > limit {
		out.Recipients, out.HasMore = rows[:limit], true
		out.NextCursor = s.pages.Encode(list, strconv.FormatInt(rows[limit-1].RecipientID, 10))
	}
	return out, nil
}

// BacklogOf gives what the account has in the queue by destination, most first, at most
// page.MaxLimit of them.
func (s *Service) BacklogOf(ctx context.Context, accountID string, of Selection) ([]Backlog, error) {
	if accountID == "" { // would be everybody's
		return nil, fault.Missing("account", accountID)
	}
	of.AccountID = accountID
	return s.Queue().Summary(ctx, of, page.MaxLimit)
}
