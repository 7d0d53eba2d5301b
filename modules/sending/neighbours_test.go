package sending

import (
	"context"
	"fmt"
	"github.com/lib/pq"
	"maps"
	"slices"
	"sync"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
)

// neighbours stand in for the modules that sending asks.
type neighbours struct {
	account  accounts.Account
	identity domains.Identity
	err      error

	accountErr error

	mu         sync.Mutex
	suppressed map[string]string // reason by address
	rendered   templates.Rendered
	renderErr  error
	fallback   bool
	left       int // messages that the caps leave room for; negative: no caps
	refunded   int
	consumeErr error // of Consume, once

	consumeMost int // uses that Consume has time for; 0: any number
}

func (n *neighbours) Account(context.Context, string) (accounts.Account, error) {
	return n.account, n.accountErr
}

func (n *neighbours) Identity(context.Context, string, address.Address) (domains.Identity, error) {
	return n.identity, n.err
}

func (n *neighbours) Blocked(_ context.Context, _ db.Execer, list []suppression.Address) ([]suppression.Block, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	blocks := make([]suppression.Block, len(list))
	for i, a := range list {
		blocks[i].Reason = n.suppressed[a.Email]
	}
	return blocks, nil
}

func (n *neighbours) BlockedSQL(first int) (string, int) {
	return fmt.Sprintf(`SELECT 1 FROM unnest($%d::text[]) AS a WHERE a = ANY($%d::text[])`, first, first+1), first + 2
}

func (n *neighbours) BlockedArgs(list []suppression.Address) []any {
	n.mu.Lock()
	defer n.mu.Unlock()
	asked := make([]string, 0, len(list))
	for _, a := range list {
		asked = append(asked, a.Email)
	}
	return []any{pq.Array(asked), pq.Array(slices.Collect(maps.Keys(n.suppressed)))}
}

func (n *neighbours) Choose(_ context.Context, questions []outbound.Question) ([]smtpclient.Way, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	ways := make([]smtpclient.Way, len(questions))
	for i, q := range questions {
		ways[i].Label = q.Via
	}
	return ways, nil
}

func (n *neighbours) Count(context.Context, db.Execer, []string) error { return nil }

func (n *neighbours) Return([]string) {}

func (n *neighbours) HasFallback(string, string) bool { return n.fallback }

func (n *neighbours) Link(u suppression.Unsubscribe) string {
	return "https://mail.example.com/u/" + u.AccountID + "." + u.EmailID + "." + u.Email + "." + suppression.CategoryKey(u.Category)
}

func (n *neighbours) Render(context.Context, string, templates.Ref, map[string]any) (templates.Rendered, error) {
	return n.rendered, n.renderErr
}

// errCap stands for the refusal of accounts.
var errCap = &fault.Error{Kind: fault.Limit, Code: fault.CodePlanLimit, Message: "that is all for today", UpgradeURL: accounts.UpgradeURL}

func (n *neighbours) Consume(ctx context.Context, tx db.Execer, uses []accounts.Use) ([]error, error) {
	// As the counters do: who comes second waits for the first one's transaction.
	if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock(1)`); err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.consumeErr; err != nil {
		n.consumeErr = nil
		return nil, err
	}
	if n.consumeMost > 0 && len(uses) > n.consumeMost {
		return nil, fault.Unavailable(context.DeadlineExceeded)
	}
	errs := make([]error, len(uses))
	for i := range uses {
		switch {
		case n.left == 0:
			errs[i] = errCap
		case n.left > 0:
			n.left--
		}
	}
	return errs, nil
}

func (n *neighbours) Refund(_ context.Context, _ db.Execer, uses []accounts.Use) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.refunded += len(uses)
	return nil
}

func (n *neighbours) Capped(context.Context, string) (bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.left >= 0, nil
}

func (n *neighbours) CheckCaps(context.Context, string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.left == 0 {
		return errCap
	}
	return nil
}
