package sending

import (
	"context"

	"github.com/postrider/postrider/runtime/fault"
)

// QueueOperation is what an account does to its part of the queue.
type QueueOperation string

// The operations, see the methods of Queue with these names. Hold and Release differ
// from them: an account neither takes over nor releases what the operator holds.
const (
	Retry   QueueOperation = "retry"
	Hold    QueueOperation = "hold"
	Release QueueOperation = "release"
	Drop    QueueOperation = "drop"
)

// AccountQueueChange is an operation of an account. Its selection has to name something
// of the account's, or All of it; the selection's own account is overruled.
type AccountQueueChange struct {
	Operation QueueOperation
	Selection Selection
	Reason    string // of a drop
	DryRun    bool
}

// Validate reports what is wrong.
func (c AccountQueueChange) Validate() fault.Fields {
	c.Selection.AccountID = ""
	wrong := fault.Fields{}
	if given := c.Selection.Validate(); len(given) > 0 {
		wrong = given
		if wrong["selection"] != "" {
			wrong["selection"] = "give recipients, an email or a destination, or all"
		}
	}
	switch c.Operation {
	case Retry, Hold, Release:
	case Drop:
		if err := validateReason(c.Reason); err != nil {
			for field, problem := range fault.From(err).Fields {
				wrong.Add(field, "%s", problem)
			}
		}
	default:
		wrong.Add("operation", "must be retry, hold, release or drop")
	}
	return wrong
}

// ChangeQueueOf does it. What another account has, matches nothing.
func (s *Service) ChangeQueueOf(ctx context.Context, accountID string, c AccountQueueChange) (QueueResult, error) {
	if accountID == "" { // would be everybody's
		return QueueResult{}, fault.Missing("account", accountID)
	}
	if err := c.Validate().Err(); err != nil {
		return QueueResult{}, err
	}
	c.Selection.AccountID, c.Selection.All = accountID, false
	q, change := s.Queue(), QueueChange{Selection: c.Selection, DryRun: c.DryRun}
	switch c.Operation {
	case Hold:
		return q.change(ctx, "hold", change, q.update(holdForAccountSQL))
	case Release:
		return q.change(ctx, "release", change, q.update(releaseForAccountSQL))
	case Drop:
		return q.Drop(ctx, change, c.Reason)
	default:
		return q.Retry(ctx, change)
	}
}
