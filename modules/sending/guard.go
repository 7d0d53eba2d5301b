package sending

import (
	"context"
	"errors"
	"fmt"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/storage/db"
)

// ErrNotHeld reports that the guard of a message refused to let it be stored.
var ErrNotHeld = errors.New("the guard of the message no longer holds")

// Guard decides whether messages are stored, and records that decision in the same transaction. The message and
// its sender's record of it are thus one commit.
type Guard interface {
	// Hold is called once for all messages of a transaction that share this guard, after caps and idempotency
	// keys and before the messages are stored. For each message, it returns whether to store it. An error
	// aborts the transaction, and messages may be tried again.
	Hold(ctx context.Context, tx db.Execer, list []GuardedMessage) ([]bool, error)
}

// MessageGuard is a message's guard and the guard's reference to the message.
type MessageGuard struct {
	Guard        Guard
	Subject      any    // passed to Hold
	AutomationID string // stored with the email
	RunID        string
}

// GuardedMessage is a message that is about to be stored.
type GuardedMessage struct {
	Subject any
	Receipt Receipt
}

// setGuard assigns a guard to a message.
func (a *acceptance) setGuard(g *MessageGuard) {
	if a.guard = g; g != nil {
		a.email.automationID, a.email.runID = g.AutomationID, g.RunID
	}
}

// askGuards calls the guards of the messages that would be stored. Messages whose guard refuses get ErrNotHeld,
// and their caps are refunded.
func (w *writer) askGuards(ctx context.Context, tx db.Execer, batch []*submission, errs []error) error {
	var guards []Guard
	positions := map[Guard][]int{}
	for i, sub := range batch {
		if errs[i] != nil || len(sub.items) != 1 || sub.items[0].guard == nil {
			continue
		}
		g := sub.items[0].guard.Guard
		if positions[g] == nil {
			guards = append(guards, g)
		}
		positions[g] = append(positions[g], i)
	}
	var back []accounts.EmailUsage
	for _, g := range guards {
		list := make([]GuardedMessage, 0, len(positions[g]))
		for _, i := range positions[g] {
			a := batch[i].items[0]
			list = append(list, GuardedMessage{a.guard.Subject, a.receipt()})
		}
		held, err := g.Hold(ctx, tx, list)
		if err != nil {
			return fmt.Errorf("call a guard: %w", err)
		}
		for j, i := range positions[g] {
			if a := batch[i].items[0]; !held[j] {
				errs[i], a.err = ErrNotHeld, ErrNotHeld
				if a.countsAgainstCaps() {
					back = append(back, a.capUse())
				}
			}
		}
	}
	if len(back) == 0 {
		return nil
	}
	if err := w.quota.Refund(ctx, tx, back); err != nil {
		return fmt.Errorf("refund the caps: %w", err)
	}
	return nil
}
