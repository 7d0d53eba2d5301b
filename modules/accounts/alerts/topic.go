package alerts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Topic is a group of alerts about a team's mail that each member can switch off.
type Topic string

// The topics.
const (
	Webhooks Topic = "webhooks" // an endpoint was disabled
	Domains  Topic = "domains"  // a domain lost its verification
	Rates    Topic = "rates"    // a bounce or complaint rate exceeds a limit
	// Deliverability: a mailbox provider started to refuse or defer the mail of a domain.
	Deliverability Topic = "deliverability"
	Usage          Topic = "usage" // usage approaches or reaches a cap; the billing module sends these
)

// Topics lists the topics.
func Topics() []Topic { return []Topic{Webhooks, Domains, Rates, Deliverability, Usage} }

// Needs returns the operation that a member's role must allow to get alerts of the topic. Only members who can fix the
// problem get them.
func (t Topic) Needs() rights.Operation {
	if t == Usage {
		return rights.Billing
	}
	return rights.Write
}

// roles lists the roles that get alerts of the topic.
func (t Topic) roles() (names []string) {
	for _, r := range rights.Roles() {
		if r.Allows(t.Needs()) {
			names = append(names, string(r))
		}
	}
	return names
}

// Preferences states which topics a member of a team gets by mail. Missing topics do not change.
type Preferences map[Topic]bool

const mutedSQL = `SELECT coalesce(muted_alerts, '[]')::text FROM memberships WHERE account_id = $1 AND user_id = $2`

// ReadPreferences returns the preferences of a member for all topics, and nil if the user is not a member.
func ReadPreferences(ctx context.Context, on db.Execer, accountID, userID string) (Preferences, error) {
	var muted []Topic
	_, err := db.One(ctx, on, func(*struct{}) []any { return []any{db.ScanJSON(&muted)} }, mutedSQL, accountID, userID)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil //nolint:nilnil // no preferences
	case err != nil:
		return nil, fmt.Errorf("alert preferences: %w", err)
	}
	p := Preferences{}
	for _, t := range Topics() {
		p[t] = !slices.Contains(muted, t)
	}
	return p, nil
}

const muteSQL = `
UPDATE memberships SET muted_alerts = (SELECT nullif(coalesce(jsonb_agg(t ORDER BY t), '[]'), '[]') FROM (
	SELECT jsonb_array_elements_text(coalesce(muted_alerts, '[]')) EXCEPT SELECT unnest($3::text[]) UNION SELECT unnest($4::text[])) l (t))
WHERE account_id = $1 AND user_id = $2`

// SetPreferences changes the preferences of a member. It does nothing if the user is not a member. The preferences
// belong to the membership and end with it.
func SetPreferences(ctx context.Context, on db.Execer, accountID, userID string, p Preferences) error {
	var wantedTopics, mutedTopics []string
	for t, wanted := range p {
		if wanted {
			wantedTopics = append(wantedTopics, string(t))
		} else {
			mutedTopics = append(mutedTopics, string(t))
		}
	}
	if _, err := db.Exec(ctx, on, muteSQL, accountID, userID, db.Array(wantedTopics), db.Array(mutedTopics)); err != nil {
		return fmt.Errorf("alert preferences: %w", err)
	}
	return nil
}
