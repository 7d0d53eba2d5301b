// Package trust ends sessions, links and pending changes when a user's credentials change.
//
// Sessions, mailed links and pending changes are only as trustworthy as the credentials with which they were
// created. A change of a password, an email, a second factor, a passkey or a provider therefore ends all of
// them, except the session that makes the change. The user gets an email, and the audit log of each of their
// teams gets an entry.
package trust

import (
	"context"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/alerts"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/runtime/storage/db"
)

// CredentialChange is a change of a user's credentials.
type CredentialChange struct {
	UserID      string
	Email       string         // the user's address before the change, which gets the email
	OtherEmail  string         // another email whose links end; optional
	KeepSession string         // id of the session that stays open; optional
	Kind        alerts.Kind    // kind of the email
	Action      string         // in the audit log
	Target      string         // in the audit log; empty: the user
	Details     map[string]any // in the audit log; never a secret
}

// RecordChange ends the user's sessions, links and pending changes, queues the email and writes the audit log, in
// the transaction of the change. The caller has locked the user with [Lock].
func RecordChange(ctx context.Context, tx *ent.Tx, c CredentialChange) error {
	if err := EndSessions(ctx, tx, c.UserID, c.KeepSession, c.Email, c.OtherEmail); err != nil {
		return err
	}
	names := map[string]string{}
	if c.OtherEmail != "" {
		names["email"] = c.OtherEmail
	}
	if err := alerts.Add(ctx, tx, alerts.Alert{UserID: c.UserID, Email: c.Email, Kind: c.Kind,
		Names: names}); err != nil {
		return err
	}
	target := c.Target
	if target == "" {
		target = c.UserID
	}
	return audit.WriteForMember(ctx, tx, c.UserID,
		audit.Entry{Actor: audit.Actor{Kind: audit.ByUser, ID: c.UserID, Name: c.Email}, Action: c.Action,
			Target: target, Changes: c.Details})
}

const endSQL = `
WITH ended AS (UPDATE sessions SET revoked_at = now() WHERE user_id = $1 AND id <> $2 AND revoked_at IS NULL),
     begun AS (DELETE FROM second_factors WHERE id = $1 AND active_at IS NULL)
DELETE FROM sign_in_links WHERE NOT again AND (user_id = $1 OR email <> '' AND email IN ($3, $4))`

// EndSessions ends the sessions of a user except keep, the links to their emails, and an inactive second factor.
func EndSessions(ctx context.Context, tx *ent.Tx, userID, keep, email, also string) error {
	_, err := db.Exec(ctx, tx, endSQL, userID, keep, email, also)
	return err
}

// LockUser locks a user until the transaction ends. Code that changes credentials or uses a link calls it first,
// so that the second of two concurrent changes sees the effects of the first.
func LockUser(ctx context.Context, tx *ent.Tx, userID string) error {
	_, err := tx.ExecContext(ctx, `SELECT FROM users WHERE id = $1 FOR UPDATE`, userID)
	return err
}
