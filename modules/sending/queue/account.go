package queue

import (
	"context"

	"github.com/postrider/postrider/runtime/base/fault"
)

// Operation is what an account does to its part of the queue.
type Operation string

// The operations, see the methods of Service with these names. Hold and Release differ
// from them: an account neither takes over nor releases what the operator holds.
const (
	Retry   Operation = "retry"
	Hold    Operation = "hold"
	Release Operation = "release"
	Drop    Operation = "drop"
)

// AccountChange is an operation of an account. Its selection has to name something
// of the account's, or All of it; the selection's own account is overruled.
type AccountChange struct {
	Operation Operation
	Selection Selection
	Reason    string // of a drop
	DryRun    bool
}

// Validate reports what is wrong.
func (c AccountChange) Validate() fault.Fields {
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
func (s *Service) ChangeQueueOf(ctx context.Context, accountID string, c AccountChange) (Result, error) {
	if accountID == "" { // would be everybody's
		return Result{}, fault.Missing("account", accountID)
	}
	if err := c.Validate().Err(); err != nil {
		return Result{}, err
	}
	c.Selection.AccountID, c.Selection.All = accountID, false
	for _, id := range c.Selection.IDs {
		recipient, _ := s.pages.Reveal(listOf(accountID), id) // 0 is nobody's, like every id that is unknown
		c.Selection.RecipientIDs = append(c.Selection.RecipientIDs, recipient)
	}
	c.Selection.IDs = nil
	change := Change{Selection: c.Selection, DryRun: c.DryRun}
	switch c.Operation {
	case Hold:
		return s.change(ctx, "hold", change, s.update(holdForAccountSQL))
	case Release:
		return s.change(ctx, "release", change, s.update(releaseForAccountSQL))
	case Drop:
		return s.Drop(ctx, change, c.Reason)
	default:
		return s.Retry(ctx, change)
	}
}
