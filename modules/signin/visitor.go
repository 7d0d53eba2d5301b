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

// A cookie from before the password was changed says nothing.
const deviceHoldsSQL = `
SELECT EXISTS (SELECT FROM users u LEFT JOIN passwords p ON p.id = u.id
                WHERE u.email = $1 AND u.disabled_at IS NULL AND date_trunc('second', coalesce(p.changed_at, 'epoch')) <= $2)`

// visitor says where a request comes from for the person with an email: from a browser in which they have
// signed in before, or from a stranger's. Only a genuine cookie costs a question to the database, so
// emails that are known and others are alike.
func (s *Service) visitor(ctx context.Context, email string) (guessing.Visitor, error) {
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

// proven is whose turn it is for work that a link has authorized: strangers cannot make it happen.
var proven = limit.Caller{Name: "link", Known: true}

// judged lets somebody make an attempt, unless they have failed too often. An attempt that came to no
// judgement is not counted. email is whose lock is noted; empty: nobody's. Errors: Limit; Away; those of try.
func (s *Service) judged(ctx context.Context, attempt guessing.Attempt, email string, try func() error) error {
	last, err := s.guard.Begin(ctx, attempt)
	if err != nil {
		return err
	}
	failed := try()
	switch fault.KindOf(failed) {
	case fault.Unauthorized, fault.Invalid:
		if last && email != "" {
			return errors.Join(failed, s.noteLock(ctx, email))
		}
		return failed
	}
	if failed != nil {
		return errors.Join(failed, s.guard.Undo(context.WithoutCancel(ctx), attempt))
	}
	return s.guard.Succeeded(ctx, attempt)
}

// judgedByPassword is judged for an attempt that hashes. It waits for the hash before the attempt is counted:
// in a flood those who find no room cost nothing more.
func (s *Service) judgedByPassword(ctx context.Context, email string, try func(*passwords.Turn, guessing.Visitor) error) error {
	v, err := s.visitor(ctx, email)
	if err != nil {
		return err
	}
	attempt := s.guard.SignIn(email, v)
	if err := s.guard.Locked(attempt); err != nil {
		return err
	}
	return s.hasher.InTurn(ctx, v.Owner(), func(turn *passwords.Turn) error {
		return s.judged(ctx, attempt, email, func() error { return try(turn, v) })
	})
}

// judgedInSession is judgedByPassword for the caller's own password: strangers lock no session out.
func (s *Service) judgedInSession(ctx context.Context, c accounts.Caller, try func(*passwords.Turn) error) error {
	attempt := s.guard.Confirm(c.Person.SessionID)
	if err := s.guard.Locked(attempt); err != nil {
		return err
	}
	return s.hasher.InTurn(ctx, limit.Caller{Name: "session " + c.Person.SessionID, Known: true}, func(turn *passwords.Turn) error {
		return s.judged(ctx, attempt, c.Person.Email, func() error { return try(turn) })
	})
}

// noteLock queues a line of the audit log that attempts at an email are refused for a while. Who has the
// email is asked later: for one that nobody has the same is done, so that time does not tell who is known.
func (s *Service) noteLock(ctx context.Context, email string) error {
	s.post.log.WarnContext(loglimit.Collapse(ctx, "locked"), "sign-in attempts are refused for a while after wrong ones", "from", audit.OriginOf(ctx).IP())
	return fault.Wrap("note a lock", s.db.InTx(ctx, func(tx *ent.Tx) error {
		return alerts.Add(ctx, tx, alerts.Alert{Email: email, Kind: alerts.Locked})
	}))
}
