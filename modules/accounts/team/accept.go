package team

import (
	"context"
	"time"

	entsql "entgo.io/ent/dialect/sql"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/invitation"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
)

// OpenInvitation finds the invitation with a token and locks it until the transaction ends, so that it can be
// accepted only once. It locks the account first, as every change of invitations does. Error: NotFound for a
// token that is wrong, used or expired.
func OpenInvitation(ctx context.Context, tx *ent.Tx, token string) (*ent.Invitation, error) {
	if _, err := db.Exec(ctx, tx,
		`SELECT FROM accounts WHERE id = (SELECT account_id FROM invitations WHERE token_hash = $1) FOR UPDATE`, secret.HashToken(token)); err != nil {
		return nil, err
	}
	found, err := tx.Invitation.Query().
		Where(invitation.TokenHash(secret.HashToken(token)), invitation.AcceptedAtIsNil(), invitation.RevokedAtIsNil()).
		ForUpdate().Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, fault.NoSuch("invitation", "the link is wrong, was used, or has expired")
	case err != nil:
		return nil, err
	}
	now, err := db.Now(ctx, tx)
	if err != nil {
		return nil, err
	}
	if !now.Before(found.ExpiresAt) {
		return nil, fault.NoSuch("invitation", "the link has expired: ask for another")
	}
	return found, nil
}

// Accept makes a user a member through an invitation returned by OpenInvitation.
func Accept(ctx context.Context, tx *ent.Tx, open *ent.Invitation, who *ent.User) error {
	if err := tx.Invitation.UpdateOneID(open.ID).SetAcceptedAt(time.Now()).ClearTokenHash().ClearDueAt().
		Exec(ctx); err != nil {
		return err
	}
	if err := Join(ctx, tx, open.AccountID, who.ID, rights.Role(open.Role)); err != nil {
		return err
	}
	return audit.Write(ctx, tx, audit.Entry{AccountID: open.AccountID,
		Actor:  audit.Actor{Kind: audit.ByUser, ID: who.ID, Name: who.Email},
		Action: "invitation.accepted", Target: open.ID,
		Changes: map[string]any{"email": open.Email, "role": open.Role}})
}

// Due is an invitation whose email is due, leased until Until.
type Due struct {
	ID          string
	Email       string
	AccountName string
	Inviter     string // name or email; may be empty
	Role        rights.Role
	Until       time.Time
	Attempts    int
}

const takeDueSQL = `
UPDATE invitations i SET attempts = attempts + 1, due_at = now() + least(interval '30 seconds' * power(2, attempts), interval '1 hour')
  FROM accounts a
 WHERE a.id = i.account_id AND i.id IN (
	SELECT id FROM invitations WHERE due_at <= now() ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED)
RETURNING i.id, i.email, a.name, i.role, i.due_at, i.attempts,
	coalesce((SELECT coalesce(nullif(u.name, ''), u.email) FROM users u WHERE u.id = i.invited_by), '')`

// TakeDue leases invitations whose emails are due. An invitation that is not settled by Mailed is leased
// again, each time after a longer delay.
func (s *Service) TakeDue(ctx context.Context, limit int) ([]Due, error) {
	return db.All(ctx, s.db.SQL, func(d *Due) []any {
		return []any{&d.ID, &d.Email, &d.AccountName, &d.Role, &d.Until, &d.Attempts, &d.Inviter}
	}, takeDueSQL, limit)
}

const mailedSQL = `
UPDATE invitations SET token_hash = $3, due_at = NULL
 WHERE id = $1 AND due_at = $2 AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at > now()`

// SetInvitationToken sets the token of an invitation, in the transaction that stores its email. It returns false if the
// invitation no longer needs an email, or another process has leased it.
func SetInvitationToken(ctx context.Context, tx db.Execer, d Due, hash []byte) (bool, error) {
	n, err := db.Exec(ctx, tx, mailedSQL, d.ID, d.Until, hash)
	return n > 0, err
}

// GiveUp stops the attempts to send an invitation's email. A member can send it again.
func (s *Service) GiveUp(ctx context.Context, d Due) error {
	_, err := db.Exec(ctx, s.db.SQL, `UPDATE invitations SET due_at = NULL WHERE id = $1 AND due_at = $2`, d.ID, d.Until)
	return err
}

const sweepSQL = `
DELETE FROM invitations WHERE id IN (SELECT id FROM invitations WHERE expires_at < now() - interval '90 days' LIMIT 1000 FOR UPDATE SKIP LOCKED)`

// sweep deletes invitations that ended long ago; the audit log keeps their outcome.
func (s *Service) sweep(ctx context.Context) (int64, error) {
	n, err := db.Exec(ctx, s.db.SQL, sweepSQL)
	return int64(n), err
}

// OpenInvitationsTo lists the invitations to an address that can be accepted, and locks them until the
// transaction ends. The caller must have verified that the address belongs to the user.
func OpenInvitationsTo(ctx context.Context, tx *ent.Tx, email string) ([]*ent.Invitation, error) {
	if _, err := db.Exec(ctx, tx,
		`SELECT FROM accounts WHERE id IN (SELECT account_id FROM invitations WHERE email = $1 AND accepted_at IS NULL AND revoked_at IS NULL) ORDER BY id FOR UPDATE`, email); err != nil {
		return nil, err
	}
	return tx.Invitation.Query().Where(invitation.Email(email), invitation.AcceptedAtIsNil(),
		invitation.RevokedAtIsNil(), whereOpen()).
		Order(ent.Asc(invitation.FieldID)).ForUpdate().All(ctx)
}

// whereOpen selects invitations that have not expired by the clock of the database.
func whereOpen() func(*entsql.Selector) {
	return func(s *entsql.Selector) { s.Where(entsql.ExprP("expires_at > now()")) }
}
