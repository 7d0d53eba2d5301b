// Package trust ends what people began under credentials that have changed since.
//
// Sessions, links that wait in mailboxes and changes that were begun are only as good as the credentials of
// their time. So a change of a password, an address, a second factor, a passkey or a provider ends all of
// them, but for the session that makes the change. The person is told by mail, and the change is in the
// audit log of each of their teams.
package trust

import (
	"context"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/alerts"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Change is a change of how a person signs in.
type Change struct {
	UserID string
	Email  string         // of the person before the change; the mail goes there
	Also   string         // another address whose links end; empty: none
	Keep   string         // id of the session that goes on; empty: none does
	Kind   alerts.Kind    // of the mail
	Action string         // in the audit log
	Target string         // in the audit log; empty: the person
	Says   map[string]any // in the audit log; never a secret
}

// Changed ends what was begun before the change, queues the mail about it and writes the audit log, in the
// transaction of the change. The caller has locked the user with [Lock].
func Changed(ctx context.Context, tx *ent.Tx, c Change) error {
	if err := End(ctx, tx, c.UserID, c.Keep, c.Email, c.Also); err != nil {
		return err
	}
	names := map[string]string{}
	if c.Also != "" {
		names["email"] = c.Also
	}
	if err := alerts.Add(ctx, tx, alerts.Alert{UserID: c.UserID, Email: c.Email, Kind: c.Kind, Names: names}); err != nil {
		return err
	}
	target := c.Target
	if target == "" {
		target = c.UserID
	}
	return audit.WriteForMember(ctx, tx, c.UserID, audit.Entry{Actor: audit.Actor{Kind: audit.ByUser, ID: c.UserID, Name: c.Email}, Action: c.Action, Target: target, Changes: c.Says})
}

const endSQL = `
WITH ended AS (UPDATE sessions SET revoked_at = now() WHERE user_id = $1 AND id <> $2 AND revoked_at IS NULL),
     begun AS (DELETE FROM second_factors WHERE id = $1 AND active_at IS NULL)
DELETE FROM sign_in_links WHERE NOT again AND (user_id = $1 OR email <> '' AND email IN ($3, $4))`

// End ends the sessions of a person but one ("": all), the links to their addresses, and what they have
// begun to set up.
func End(ctx context.Context, tx *ent.Tx, userID, keep, email, also string) error {
	_, err := db.Exec(ctx, tx, endSQL, userID, keep, email, also)
	return err
}

// Lock locks a person until the transaction ends. Whoever changes how they sign in, or uses a link of
// theirs, does so first: so of two at the same time the second one sees what the first has ended.
func Lock(ctx context.Context, tx *ent.Tx, userID string) error {
	_, err := tx.ExecContext(ctx, `SELECT FROM users WHERE id = $1 FOR UPDATE`, userID)
	return err
}
