package domains

import (
	"context"
	"fmt"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/mail/address"
)

// Receiver is who gets mail for an address.
type Receiver struct {
	AccountID string
	DomainID  string
	Domain    string // A-labels
}

// receipt is what the database said of a name; no DomainID: nobody receives there.
type receipt struct {
	receiver Receiver
	askedAt  time.Time
}

// Receiver tells who gets mail for the address: the account that has its domain
// verified, by exact name, and switched inbound on. Error: NotFound. The answer
// may be identityTTL behind a change made by another process.
func (l *lookups) Receiver(ctx context.Context, rcpt address.Address) (Receiver, error) {
	found, err := l.receivers.Get(ctx, rcpt.Domain, otter.LoaderFunc[string, receipt](l.loadReceiver))
	if err != nil {
		return Receiver{}, fmt.Errorf("receiver: %w", err)
	}
	if found.receiver.DomainID == "" {
		return Receiver{}, fault.Missing("receiving domain", address.ReadableDomain(rcpt.Domain))
	}
	return found.receiver, nil
}

func (l *lookups) loadReceiver(ctx context.Context, name string) (receipt, error) {
	// Others wait for this answer, so it must not end with the first caller.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookupTimeout)
	defer cancel()
	answer := receipt{askedAt: time.Now()}
	row, err := l.db.Ent.Domain.Query().Where(domain.Name(name), domain.AccountIDNotNil(), domain.InboundEnabled(true), owned()).Only(ctx)
	switch {
	case ent.IsNotFound(err):
	case err != nil:
		return receipt{}, err
	default:
		answer.receiver = Receiver{AccountID: *row.AccountID, DomainID: row.ID, Domain: row.Name}
	}
	return answer, nil
}

// newReceivers keeps answers as identities are kept; that a name is unknown is
// kept for a moment only, which bounds what guessing names costs.
func newReceivers() (*otter.Cache[string, receipt], error) {
	return otter.New(&otter.Options[string, receipt]{
		MaximumSize: 50_000,
		ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[string, receipt]) time.Duration {
			keep := identityTTL
			if e.Value.receiver.DomainID == "" {
				keep = refusalTTL
			}
			return max(keep-time.Since(e.Value.askedAt), time.Nanosecond)
		}),
	})
}
