// Package alerts queues emails that notify people of changes to their credentials and to their membership of
// a team, and of problems with the team's mail.
//
// An alert is a row that is written in the transaction of the change, so no alert is lost or sent for a
// change that was rolled back. Alerts about a team's mail are derived from events (consumer.go) and belong to a
// topic that each member can switch off (topic.go). The signin module sends the emails. A person gets at most
// five emails of each kind per day, and of a team's kinds five per team. Further security alerts are recorded
// only in the audit log.
package alerts

import (
	"context"
	"encoding/json"
	"maps"
	"net/netip"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Kind is the kind of an alert.
type Kind string

// The kinds.
const (
	EmailChanged        Kind = "email_changed"
	PasswordChanged     Kind = "password_changed"
	SecondFactorAdded   Kind = "second_factor_added"
	SecondFactorRemoved Kind = "second_factor_removed"
	PasskeyAdded        Kind = "passkey_added"
	PasskeyRemoved      Kind = "passkey_removed"
	ProviderLinked      Kind = "provider_linked"
	ProviderUnlinked    Kind = "provider_unlinked"
	NewDevice           Kind = "new_device"
	RoleChanged         Kind = "role_changed"
	MemberRemoved       Kind = "member_removed"

	EndpointFailing Kind = "endpoint_failing"
	EndpointGone    Kind = "endpoint_gone"
	DomainBroken    Kind = "domain_broken"
	DomainFailed    Kind = "domain_failed"
	DomainLost      Kind = "domain_lost"
	BounceRate      Kind = "bounce_rate"
	ComplaintRate   Kind = "complaint_rate"
	MailRefused     Kind = "mail_refused"
	MailDeferred    Kind = "mail_deferred"

	// Locked has no email, because strangers can cause it. It is recorded only in the audit log.
	Locked Kind = "locked"
)

// Kinds lists the kinds that have an email.
func Kinds() []Kind {
	return []Kind{EmailChanged, PasswordChanged, SecondFactorAdded, SecondFactorRemoved, PasskeyAdded, PasskeyRemoved,
		ProviderLinked, ProviderUnlinked, NewDevice, RoleChanged, MemberRemoved,
		EndpointFailing, EndpointGone, DomainBroken, DomainFailed, DomainLost, BounceRate, ComplaintRate,
		MailRefused, MailDeferred}
}

// Channel is the notification channel for new alerts.
const Channel = "security_alerts"

// Alert is one notification to a person.
type Alert struct {
	UserID string // if empty, the user with the email, if there is one
	Email  string // recipient: the person's address before the change, so that an email change notifies the old address
	Kind   Kind
	Names  map[string]string // template values for the kind: email, team, role, before
}

const addSQL = `
INSERT INTO security_alerts (user_id, email, kind, names, due_at, attempts, created_at)
SELECT nullif($1::text, ''), $2::text, $3::text, $4::jsonb, now(), 0, now()
 WHERE NOT EXISTS (SELECT FROM security_alerts WHERE user_id = $1 AND email = $2 AND kind = $3 AND names = $4::jsonb AND due_at IS NOT NULL)`

// Add queues an alert in the transaction of the change. An identical alert that is still queued is not
// repeated.
func Add(ctx context.Context, tx *ent.Tx, a Alert) error {
	names := map[string]string{}
	maps.Copy(names, a.Names)
	if o := audit.OriginOf(ctx); a.Kind != RoleChanged && a.Kind != MemberRemoved {
		names["ip"], names["browser"], names["time"] = o.IP(), describeBrowser(o.Agent), time.Now().UTC().
			Format(timeFormat)
	}
	encoded, err := json.Marshal(names)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, addSQL, a.UserID, a.Email, string(a.Kind), string(encoded)); err != nil {
		return err
	}
	return db.Notify(ctx, tx, Channel)
}

const timeFormat = "2006-01-02 15:04"

// ClaimedAlert is an alert whose email is due, claimed until Until.
type ClaimedAlert struct {
	Alert

	ID             int64
	Until          time.Time
	Attempts       int
	OverDailyLimit bool // the person already received the daily maximum of the kind
	role           rights.Role
}

// IsWanted reports whether the alert still concerns the person. An alert of a team does not after the member has
// left, lost the role or switched off the topic.
func (d ClaimedAlert) IsWanted() bool {
	topic, ofTeam := d.Names["topic"]
	return !ofTeam || d.role.Allows(Topic(topic).Needs())
}

const mailsADay = 5 // limit for one kind and one person

const takeSQL = `
UPDATE security_alerts a SET attempts = attempts + 1, due_at = now() + least(interval '30 seconds' * power(2, attempts), interval '1 hour')
 WHERE a.id IN (SELECT id FROM security_alerts WHERE due_at <= now() ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED)
RETURNING a.id, coalesce(a.user_id, ''), a.email, a.kind, a.names::text, a.attempts, a.due_at,
	(SELECT count(*) FROM security_alerts b WHERE b.user_id = a.user_id AND b.kind = a.kind AND b.mailed_at > now() - interval '1 day'
		AND coalesce(b.names->>'account', '') = coalesce(a.names->>'account', '')) >= $2,
	coalesce((SELECT m.role FROM memberships m WHERE m.account_id = a.names->>'account' AND m.user_id = a.user_id
		AND NOT coalesce(m.muted_alerts ? (a.names->>'topic'), false)), '')`

// Claim claims alerts whose emails are due. An alert that is not settled is claimed again, with a growing
// delay.
func Claim(ctx context.Context, on db.Execer, limit int) ([]ClaimedAlert, error) {
	return db.All(ctx, on, func(d *ClaimedAlert) []any {
		return []any{&d.ID, &d.UserID, &d.Email, &d.Kind, db.ScanJSON(&d.Names), &d.Attempts, &d.Until,
			&d.OverDailyLimit, &d.role}
	}, takeSQL, limit, mailsADay)
}

// MarkMailed settles an alert in the transaction that stores its email. It returns false if another process has
// settled it.
func MarkMailed(ctx context.Context, tx db.Execer, d ClaimedAlert) (bool, error) {
	n, err := db.Exec(ctx, tx, `UPDATE security_alerts SET due_at = NULL, mailed_at = now() WHERE id = $1 AND due_at = $2`, d.ID, d.Until)
	return n > 0, err
}

// GiveUp stops the attempts to send an alert.
func GiveUp(ctx context.Context, on db.Execer, d ClaimedAlert) error {
	_, err := db.Exec(ctx, on, `UPDATE security_alerts SET due_at = NULL WHERE id = $1 AND due_at = $2`, d.ID, d.Until)
	return err
}

const lockedSQL = `
SELECT u.id FROM users u
 WHERE u.email = $1 AND NOT EXISTS (SELECT FROM security_alerts b WHERE b.user_id = u.id AND b.kind = 'locked' AND b.mailed_at > now() - interval '1 hour')
   FOR UPDATE`

// SettleLock records a lockout in the audit log of the teams of the user with the email, at most once an
// hour. If no user has the email, it deletes the alert.
func SettleLock(ctx context.Context, tx *ent.Tx, d ClaimedAlert) error {
	who, err := db.All(ctx, tx, db.Value[string], lockedSQL, d.Email)
	if err != nil {
		return err
	}
	if len(who) == 0 {
		_, err := db.Exec(ctx, tx, `DELETE FROM security_alerts WHERE id = $1`, d.ID)
		return err
	}
	n, err := db.Exec(ctx, tx, `UPDATE security_alerts SET due_at = NULL, mailed_at = now(), user_id = $3 WHERE id = $1 AND due_at = $2`, d.ID, d.Until, who[0])
	if err != nil || n == 0 {
		return err
	}
	if addr, err := netip.ParseAddr(d.Names["ip"]); err == nil {
		ctx = audit.WithOrigin(ctx, audit.Origin{Addr: addr})
	}
	return audit.WriteForMember(ctx, tx, who[0], audit.Entry{Actor: audit.Actor{Kind: audit.BySystem},
		Action: "user.locked", Target: who[0], Changes: map[string]any{"email": d.Email}})
}

const sweepSQL = `
DELETE FROM security_alerts WHERE id IN (SELECT id FROM security_alerts WHERE created_at < now() - interval '30 days' ORDER BY created_at LIMIT 1000 FOR UPDATE SKIP LOCKED)`

// Sweep deletes alerts older than 30 days.
func Sweep(ctx context.Context, on db.Execer) (int64, error) {
	n, err := db.Exec(ctx, on, sweepSQL)
	return int64(n), err
}
