package signin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/alerts"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/modules/signin/guessing"
	"github.com/postrider/postrider/modules/signin/passwords"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/limit"
	"github.com/postrider/postrider/runtime/base/loglimit"
	"github.com/postrider/postrider/runtime/storage/db"
)

// A device cookie from before the last password change is not valid.
const deviceHoldsSQL = `
SELECT EXISTS (SELECT FROM users u LEFT JOIN passwords p ON p.id = u.id
                WHERE u.email = $1 AND u.disabled_at IS NULL AND date_trunc('second', coalesce(p.changed_at, 'epoch')) <= $2)`

// identifyVisitor returns the origin of a request for the user with the email: the network, and the device if the
// user has signed in from this browser. Only a genuine cookie causes a query, so known and unknown emails
// take the same time.
func (s *Service) identifyVisitor(ctx context.Context, email string) (guessing.Visitor, error) {
	o := audit.OriginOf(ctx)
	v := guessing.Visitor{Addr: o.Addr}
	device, genuine := s.guard.devices.Find(o.Device, email, time.Now())
	if !genuine {
		return v, nil
	}
	holds, err := db.One(ctx, s.db.SQL, db.Value[bool], deviceHoldsSQL, email, device.At)
	if err != nil {
		return v, fault.OrUnavailable(fmt.Errorf("known device: %w", err))
	}
	if holds {
		v.Device = device.ID
	}
	return v, nil
}

// trustedCaller owns the queue slots of work that a link has authorized, which strangers cannot cause.
var trustedCaller = limit.Owner{Name: "link", Known: true}

// runAttempt runs an attempt, unless too many have failed. An attempt that is neither accepted nor rejected
// is not counted. If email is not empty, runAttempt logs its lockout. Errors: Limit; Unavailable; errors of
// try.
func (s *Service) runAttempt(ctx context.Context, attempt guessing.Attempt, email string, try func() error) error {
	last, err := s.guard.Begin(ctx, attempt)
	if err != nil {
		return err
	}
	failed := try()
	switch fault.KindOf(failed) {
	case fault.Unauthorized, fault.Invalid:
		if last && email != "" {
			return errors.Join(failed, s.queueLockAlert(ctx, email))
		}
		return failed
	}
	if failed != nil {
		return errors.Join(failed, s.guard.Undo(context.WithoutCancel(ctx), attempt))
	}
	return s.guard.Succeed(ctx, attempt)
}

// runPasswordAttempt is runAttempt for an attempt that hashes a password. It counts the attempt only once a hashing
// slot is free, so that attempts rejected during a flood do not reach the counters.
func (s *Service) runPasswordAttempt(ctx context.Context, email string,
	try func(*passwords.Slot, guessing.Visitor) error) error {
	v, err := s.identifyVisitor(ctx, email)
	if err != nil {
		return err
	}
	attempt := s.guard.SignIn(email, v)
	if err := s.guard.CheckLocked(attempt); err != nil {
		return err
	}
	return s.hasher.WithSlot(ctx, v.Owner(), func(turn *passwords.Slot) error {
		return s.runAttempt(ctx, attempt, email, func() error { return try(turn, v) })
	})
}

// runSessionAttempt is runPasswordAttempt for the caller's own password. Strangers cannot lock a session.
func (s *Service) runSessionAttempt(ctx context.Context, c accounts.Caller, try func(*passwords.Slot) error) error {
	attempt := s.guard.Confirm(c.Person.SessionID)
	if err := s.guard.CheckLocked(attempt); err != nil {
		return err
	}
	return s.hasher.WithSlot(ctx, limit.Owner{Name: "session " + c.Person.SessionID, Known: true},
		func(turn *passwords.Slot) error {
			return s.runAttempt(ctx, attempt, c.Person.Email, func() error { return try(turn) })
		})
}

// queueLockAlert queues an audit log entry about temporarily blocked sign-in attempts for an email. The user
// is looked up later, and unknown emails are treated the same, so response times do not reveal which are
// known.
func (s *Service) queueLockAlert(ctx context.Context, email string) error {
	s.post.log.WarnContext(loglimit.Collapse(ctx, "locked"), "sign-in attempts blocked temporarily after failures",
		"from", audit.OriginOf(ctx).IP())
	return fault.Wrap("queue lock alert", s.db.InTx(ctx, func(tx *ent.Tx) error {
		return alerts.Add(ctx, tx, alerts.Alert{Email: email, Kind: alerts.Locked})
	}))
}
