package queue

import (
	"context"

	"github.com/postrider/postrider/runtime/base/fault"
)

// Command is what an account can do to its part of the queue.
type Command string

// The operations correspond to the methods of Service with these names. Hold and Release differ: an account
// neither takes over nor releases recipients that the operator holds.
const (
	Retry   Command = "retry"
	Hold    Command = "hold"
	Release Command = "release"
	Drop    Command = "drop"
)

// AccountChange is an operation of an account. Its selection must name some of the account's recipients, or
// set All. The selection's AccountID is ignored.
type AccountChange struct {
	Operation Command
	Selection Selection
	Reason    string // reason for a drop
	DryRun    bool
}

// Validate returns the invalid fields.
func (c AccountChange) Validate() fault.Fields {
	c.Selection.AccountID = ""
	wrong := fault.Fields{}
	if given := c.Selection.Validate(); len(given) > 0 {
		wrong = given
		if wrong["selection"] != "" {
			wrong["selection"] = "requires recipients, an email, a destination or all"
		}
	}
	switch c.Operation {
	case Retry, Hold, Release:
	case Drop:
		if err := validateReason(c.Reason); err != nil {
			for field, problem := range fault.Classify(err).Fields {
				wrong.Add(field, "%s", problem)
			}
		}
	default:
		wrong.Add("operation", "must be retry, hold, release or drop")
	}
	return wrong
}

// ChangeQueueOf applies the change. Recipients of other accounts match nothing.
func (s *Service) ChangeQueueOf(ctx context.Context, accountID string, c AccountChange) (Result, error) {
	if accountID == "" { // would match all accounts
		return Result{}, fault.NoSuch("account", accountID)
	}
	if err := c.Validate().Err(); err != nil {
		return Result{}, err
	}
	c.Selection.AccountID, c.Selection.All = accountID, false
	for _, id := range c.Selection.IDs {
		recipient, _ := s.pages.Reveal(listOf(accountID), id) // 0, as for an unknown id, matches no recipient
		c.Selection.RecipientIDs = append(c.Selection.RecipientIDs, recipient)
	}
	c.Selection.IDs = nil
	change := Operation{Selection: c.Selection, DryRun: c.DryRun}
	switch c.Operation {
	case Hold:
		return s.applyChange(ctx, "hold", change, s.updateStep(holdForAccountSQL))
	case Release:
		return s.applyChange(ctx, "release", change, s.updateStep(releaseForAccountSQL))
	case Drop:
		return s.Drop(ctx, change, c.Reason)
	default:
		return s.Retry(ctx, change)
	}
}
