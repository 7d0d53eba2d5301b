package domains

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Receiver is the account and domain that receive mail for an address.
type Receiver struct {
	AccountID string
	DomainID  string
	Domain    string // A-labels
}

// receipt is a cached result for a name; without DomainID, the name does not receive mail.
type receipt struct {
	receiver Receiver
	policy   domain.MtaSts // mode of its MTA-STS policy
}

// ttl returns how long the result is cached. Unknown names are cached only briefly; this still bounds the
// cost of guessing names.
func (r receipt) ttl() time.Duration {
	if r.receiver.DomainID == "" {
		return refusalTTL
	}
	return identityTTL
}

// Receiver returns the account that receives mail for the address: the one that has verified exactly this
// domain, with inbound enabled. Error: NotFound. The result may lag up to identityTTL after a change by
// another process.
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
		whereOwned()).Only(ctx)
	switch {
	case ent.IsNotFound(err):
	case err != nil:
		return receipt{}, err
	default:
		answer = receipt{Receiver{AccountID: *row.AccountID, DomainID: row.ID, Domain: row.Name}, row.MtaSts}
	}
	return answer, nil
}

// postmasterSQL finds the account that receives mail for the postmaster of the installation. $1 contains the name of
// its host and its parents. The sandbox domain has no account, so it is the domain of operators without one of
// their own.
const postmasterSQL = `
WITH operated AS (SELECT m.account_id AS id FROM memberships m JOIN users u ON u.id = m.user_id
		WHERE m.role = 'owner' AND u.operator AND u.disabled_at IS NULL),
	owned AS MATERIALIZED (SELECT id, name, account_id, inbound_enabled AS receives, name = ANY($1) AS hosts,
		account_id IN (SELECT id FROM operated) AS operators
		FROM domains WHERE account_id IS NOT NULL AND status IN ('verified', 'temporary_failure')),
	ranked AS (SELECT account_id, id, name, CASE WHEN receives AND hosts THEN 1 WHEN receives AND operators THEN 2
			WHEN operators THEN 3
			WHEN receives AND (SELECT count(DISTINCT account_id) FROM owned WHERE receives) = 1 THEN 5 END AS rank
			FROM owned
		UNION ALL SELECT (SELECT min(id) FROM operated), id, name, 4 FROM domains
			WHERE account_id IS NULL AND EXISTS (SELECT FROM operated))
SELECT account_id, id, name FROM ranked WHERE rank IS NOT NULL
ORDER BY rank, CASE rank WHEN 1 THEN -length(name) END, id LIMIT 1`

// Postmaster returns the account and domain that receive mail for the postmaster of the installation, as addressed by
// RCPT TO:<postmaster> (RFC 5321 section 4.5.1): the receiving domain of the host, or the nearest one above it;
// otherwise the oldest receiving domain of an account that an operator owns; otherwise such an account without one,
// under its oldest verified domain or the sandbox domain; otherwise, without operators, the only account that receives
// mail. Other accounts do not get mail about an installation that is not theirs. Error: NotFound.
func (l *lookups) Postmaster(ctx context.Context, host string) (Receiver, error) {
	found, err := l.receivers.Get(ctx, postmasterKey+host, func(ctx context.Context, _ string) (receipt, error) {
		var above []string
		for name, more := host, true; more; _, name, more = strings.Cut(name, ".") {
			above = append(above, name)
		}
		receiver, err := db.One(ctx, l.db.SQL,
			func(r *Receiver) []any { return []any{&r.AccountID, &r.DomainID, &r.Domain} },
			postmasterSQL, db.Array(above))
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		return receipt{receiver: receiver}, err
	})
	if err != nil {
		return Receiver{}, fmt.Errorf("postmaster: %w", err)
	}
	if found.receiver.DomainID == "" {
		return Receiver{}, fault.NoSuch("receiving domain of the postmaster at", host)
	}
	return found.receiver, nil
}

const postmasterKey = "postmaster@"
