package sendingtest

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Fakes fakes the modules that sending depends on. Its fields configure their results.
type Fakes struct {
	Owner     accounts.Account
	Sender    domains.SigningIdentity
	SenderErr error

	OwnerErr error

	mu         sync.Mutex
	Suppressed map[string]string // reasons keyed by address
	Rendered   templates.Rendered
	// TemplateRef is that of the last render.
	TemplateRef templates.Ref
	// Templates renders templates in place of Rendered and RenderErr; nil: there are none.
	Templates  *templates.Service
	RenderErr  error
	Fallback   bool
	Left       int           // messages left in the caps; negative: unlimited
	ResetIn    time.Duration // time until the caps reset; 0: unknown
	Refunded   int
	Back       []accounts.EmailUsage // refunded uses
	Moved      []accounts.EmailUsage // pairs of the old and the new time
	BlockedErr error                 // error that FindBlocks returns once

	BlockedMost int // addresses that FindBlocks answers before its deadline; 0: all
}

func (n *Fakes) Account(context.Context, string) (accounts.Account, error) {
	return n.Owner, n.OwnerErr
}

func (n *Fakes) Identity(context.Context, string, address.Address) (domains.SigningIdentity, error) {
	return n.Sender, n.SenderErr
}

func (n *Fakes) FindBlocks(_ context.Context, _ db.Execer,
	list []suppression.MessageRecipient) ([]suppression.Block, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.BlockedErr; err != nil {
		n.BlockedErr = nil
		return nil, err
	}
	if n.BlockedMost > 0 && len(list) > n.BlockedMost {
		return nil, fault.DatabaseUnavailable(context.DeadlineExceeded)
	}
	blocks := make([]suppression.Block, len(list))
	for i, a := range list {
		blocks[i].Reason = n.Suppressed[a.Email]
	}
	return blocks, nil
}

func (n *Fakes) BlockingSQL() string {
	return `SELECT 1 FROM unnest(@blocked.asked::text[]) AS a WHERE a = ANY(@blocked.known::text[])`
}

func (n *Fakes) BlockingArg(list []suppression.MessageRecipient) db.Argument {
	n.mu.Lock()
	defer n.mu.Unlock()
	asked := make([]string, 0, len(list))
	for _, a := range list {
		asked = append(asked, a.Email)
	}
	return db.Group([]string{"blocked.asked", "blocked.known"},
		[]any{db.Array(asked), db.Array(slices.Collect(maps.Keys(n.Suppressed)))})
}

func (n *Fakes) Choose(_ context.Context, questions []outbound.Question) ([]smtpclient.Way, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	ways := make([]smtpclient.Way, len(questions))
	for i, q := range questions {
		ways[i].Label = q.Via
	}
	return ways, nil
}

func (n *Fakes) Count(context.Context, db.Execer, []string) error { return nil }

func (n *Fakes) IsCounted(string) bool { return false }

func (n *Fakes) Return([]string) {}

func (n *Fakes) RoutingOf(string) outbound.Routing { return outbound.Open }

// GainedWays never signals, because there is no other process.
func (n *Fakes) GainedWays() <-chan struct{} { return nil }

func (n *Fakes) HasFallback(string, string) bool { return n.Fallback }

func (n *Fakes) Link(u suppression.Unsubscribe) string {
	return "https://mail.example.com/u/" + u.AccountID + "." + u.EmailID + "." + u.Email + "." +
		suppression.CategoryKey(u.Category)
}

func (n *Fakes) Render(ctx context.Context, accountID string, ref templates.Ref,
	variables map[string]any) (templates.Rendered, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.Templates != nil {
		return n.Templates.Render(ctx, accountID, ref, variables)
	}
	n.TemplateRef = ref
	return n.Rendered, n.RenderErr
}

// ErrCap is the error of the accounts module for a reached cap.
var ErrCap = &fault.Error{Kind: fault.Limit, Code: fault.CodePlanLimit, Message: "that is all for today",
	UpgradeURL: accounts.UpgradeURL}

func (n *Fakes) Consume(ctx context.Context, tx db.Execer, uses []accounts.EmailUsage) ([]error, error) {
	// Serialize like the real counters: the second transaction waits for the first.
	if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock(1)`); err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	errs := make([]error, len(uses))
	for i := range uses {
		switch {
		case n.Left == 0:
			errs[i] = ErrCap
			if n.ResetIn > 0 {
				errs[i] = &fault.Error{Kind: ErrCap.Kind, Code: ErrCap.Code, Message: ErrCap.Message,
					RetryAfter: n.ResetIn}
			}
		case n.Left > 0:
			n.Left--
		}
	}
	return errs, nil
}

func (n *Fakes) Refund(_ context.Context, _ db.Execer, uses []accounts.EmailUsage) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.Refunded += len(uses)
	n.Back = append(n.Back, uses...)
	return nil
}

// KeepUsage does nothing.
func (*Fakes) KeepUsage(context.Context, db.Execer, string, ...string) error { return nil }

// Move records the move, or fails if the caps are used up.
func (n *Fakes) Move(_ context.Context, _ db.Execer, accountID string, from, to time.Time) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.Left == 0 {
		return ErrCap
	}
	n.Moved = append(n.Moved, accounts.EmailUsage{AccountID: accountID, Due: from},
		accounts.EmailUsage{AccountID: accountID, Due: to})
	return nil
}

func (n *Fakes) IsCapped(context.Context, string) (bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.Left >= 0, nil
}
