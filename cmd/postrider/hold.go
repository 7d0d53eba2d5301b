package main

import (
	"errors"
	"time"

	"github.com/postrider/postrider/cmd/postrider/shown"
	"github.com/postrider/postrider/modules/sending/queue"
	"github.com/postrider/postrider/runtime/work/node"
)

type holdCommand struct {
	Show    holdShowCommand    `cmd:"" help:"Print the hold and the held work as JSON."`
	Set     holdSetCommand     `cmd:"" help:"Set the hold. Processes stop claiming work within seconds."`
	Release holdReleaseCommand `cmd:"" help:"Release the hold. Waiting mail is sent within seconds."`
	Drop    holdDropCommand    `cmd:"" help:"Drop mail and webhooks that were due before a time. Works only while delivery is held."`
}

// countWaiting counts the work that is due before a time.
func (of services) countWaiting(s *session, before time.Time) (shown.Waiting, error) {
	mail, err := of.queue().CountWaiting(s.ctx, before)
	if err != nil {
		return shown.Waiting{}, err
	}
	hooks, err := of.webhooks()
	if err != nil {
		return shown.Waiting{}, err
	}
	told, err := hooks.CountDue(s.ctx, before)
	return shown.Waiting{Recipients: mail.Recipients, Scheduled: mail.Scheduled, Webhooks: told}, err
}

// printHold prints the current hold.
func (of services) printHold(s *session) error {
	found, err := node.ReadHold(s.ctx, of.store.DB.SQL)
	if err != nil {
		return err
	}
	var view shown.Hold
	if found != nil {
		since := found.Since.UTC()
		view.Held, view.Since, view.Reason = true, &since, found.Reason
	}
	now := time.Now()
	if view.Waiting, err = of.countWaiting(s, now.AddDate(100, 0, 0)); err != nil {
		return err
	}
	if view.DueNow, err = of.countWaiting(s, now); err != nil {
		return err
	}
	return s.print(view)
}

type holdShowCommand struct{ toolSettings }

func (c *holdShowCommand) Run(s *session) error {
	return c.withStore(s, func(of services) error { return of.printHold(s) })
}

type holdSetCommand struct {
	toolSettings

	Reason string `help:"Reason for the hold." placeholder:"TEXT" required:""`
}

func (c *holdSetCommand) Run(s *session) error {
	return c.withStore(s, func(of services) error {
		if err := node.SetHold(s.ctx, of.store.DB.SQL, c.Reason); err != nil {
			return err
		}
		return of.printHold(s)
	})
}

type holdReleaseCommand struct{ toolSettings }

var errNotHeld = errors.New("the installation is not held")

func (c *holdReleaseCommand) Run(s *session) error {
	return c.withStore(s, func(of services) error {
		held, err := node.ReleaseHold(s.ctx, of.store.DB.SQL)
		if err == nil && !held {
			err = errNotHeld
		}
		if err != nil {
			return err
		}
		return of.printHold(s)
	})
}

type holdDropCommand struct {
	toolSettings

	DueBefore time.Time `help:"Time of the failure: drop mail and webhooks that were due before it." name:"due-before" placeholder:"2026-01-31T12:00:00Z" required:""`
	Reason    string    `default:"the installation was restored from a backup; this was probably sent before" help:"Reason, which senders see in email.failed." placeholder:"TEXT"`
	DryRun    bool      `help:"Change nothing; print how much would be dropped." name:"dry-run"`
}

func (c *holdDropCommand) Run(s *session) error {
	return c.withStore(s, func(of services) error {
		found, err := node.ReadHold(s.ctx, of.store.DB.SQL)
		if err == nil && found == nil {
			err = errNotHeld
		}
		if err != nil {
			return err
		}
		dropped, err := of.countWaiting(s, c.DueBefore)
		if err == nil && !c.DryRun {
			dropped, err = c.dropWaiting(s, of)
		}
		if err != nil {
			return err
		}
		return s.print(struct {
			shown.Waiting
			DryRun bool `json:"dry_run"`
		}{dropped, c.DryRun})
	})
}

// dropWaiting drops the selected work. It counts recipients of scheduled emails as scheduled.
func (c *holdDropCommand) dropWaiting(s *session, of services) (dropped shown.Waiting, err error) {
	mail := of.queue()
	queued, err := mail.Drop(s.ctx,
		queue.Operation{Selection: queue.Selection{All: true, DueBefore: c.DueBefore, Begun: true}}, c.Reason)
	if err != nil {
		return dropped, err
	}
	dropped.Recipients = queued.Changed
	if dropped.Scheduled, err = mail.DropScheduled(s.ctx, c.DueBefore, c.Reason); err != nil {
		return dropped, err
	}
	hooks, err := of.webhooks()
	if err != nil {
		return dropped, err
	}
	dropped.Webhooks, err = hooks.DropDue(s.ctx, c.DueBefore, c.Reason)
	return dropped, err
}
