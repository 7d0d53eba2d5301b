package domains

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/address"
)

// Receiver is the account and domain that receive mail for an address.
type Receiver struct {
	AccountID string
	DomainID  string
	Domain    string // A-labels
}

// receipt is a cached answer for a name; without DomainID, the name does not receive.
type receipt struct{ receiver Receiver }

// ttl returns how long the answer is cached. That a name is unknown is cached only briefly; this
// bounds the cost of guessing names.
func (r receipt) ttl() time.Duration {
	if r.receiver.DomainID == "" {
		return refusalTTL
	}
	return identityTTL
}

// Receiver returns the account that receives mail for the address: the one that has its domain verified, by exact
// name, with inbound enabled. Error: NotFound. The answer may lag up to identityTTL after a change made by another
// process.
func (l *lookups) Receiver(ctx context.Context, rcpt address.Address) (Receiver, error) {
	found, err := l.receivers.Get(ctx, rcpt.Domain, l.loadReceiver)
	if err != nil {
		return Receiver{}, fmt.Errorf("receiver: %w", err)
	}
	if found.receiver.DomainID == "" {
		return Receiver{}, fault.NoSuch("receiving domain", address.ReadableDomain(rcpt.Domain))
	}
	return found.receiver, nil
}

func (l *lookups) loadReceiver(ctx context.Context, name string) (receipt, error) {
	var answer receipt
	row, err := l.db.Ent.Domain.Query().Where(domain.Name(name), domain.AccountIDNotNil(), domain.InboundEnabled(true),
		isOwned()).Only(ctx)
	switch {
	case ent.IsNotFound(err):
	case err != nil:
		return receipt{}, err
	default:
		answer.receiver = Receiver{AccountID: *row.AccountID, DomainID: row.ID, Domain: row.Name}
	}
	return answer, nil
}
