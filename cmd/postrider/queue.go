package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postrider/postrider/cmd/postrider/shown"
	"github.com/postrider/postrider/modules/sending/queue"
)

type queueCommand struct {
	List    queueListCommand    `cmd:"" help:"List queued recipients as JSON, oldest first."`
	Summary queueSummaryCommand `cmd:"" help:"Summarize the queue by destination as JSON, largest first."`
	Retry   queueRetryCommand   `cmd:"" help:"Retry recipients now, except running and held ones."`
	Hold    queueHoldCommand    `cmd:"" help:"Hold recipients. They still expire 72 hours after acceptance."`
	Release queueReleaseCommand `cmd:"" help:"Release held recipients."`
	Drop    queueDropCommand    `cmd:"" help:"Permanently fail recipients with a reason. Does not suppress addresses."`
}

// queueFilter selects recipients in the queue.
type queueFilter struct {
	Destination string  `help:"Only this recipient domain." placeholder:"DOMAIN"`
	Account     string  `help:"Only this account, by email or ID." placeholder:"EMAIL"`
	Email       string  `help:"Only this email." placeholder:"msg_…"`
	Recipient   []int64 `help:"Only these recipients, by the IDs that list shows." placeholder:"ID,..."`

	DueBefore time.Time `help:"Only if the next attempt is due before this time." name:"due-before" placeholder:"2026-01-31T12:00:00Z"`
}

// withQueue opens the queue of the installation and passes it to do, along with the selection of the filter.
func (f queueFilter) withQueue(s *session, of toolSettings, do func(*queue.Service, queue.Selection) error) error {
	return of.withStore(s, func(of services) error {
		selection := queue.Selection{Destination: f.Destination, EmailID: f.Email, RecipientIDs: f.Recipient,
			DueBefore: f.DueBefore}
		if f.Account != "" {
			service, err := of.accounts()
			if err != nil {
				return err
			}
			account, err := service.Find(s.ctx, f.Account)
			if err != nil {
				return err
			}
			selection.AccountID = account.ID
		}
		return do(of.queue(), selection)
	})
}

func (f queueFilter) isEmpty() bool {
	return f.Destination == "" && f.Account == "" && f.Email == "" && len(f.Recipient) == 0
}

type queueListCommand struct {
	toolSettings
	queueFilter

	State string `default:"" enum:",queued,deferred,parked,held" help:"Only recipients in this state (parked: waiting for capacity in a lane)."`
	After int64  `help:"Continue after this recipient." placeholder:"ID"`
	Limit int    `default:"100" help:"Maximum number of recipients."`
}

func (c *queueListCommand) Validate() error { return checkLimit(c.Limit, 10_000) }

func checkLimit(limit, most int) error {
	if limit < 1 || limit > most {
		return misusef("--limit: must be between 1 and %d", most)
	}
	return nil
}

func (c *queueListCommand) Run(s *session) error {
	return c.withQueue(s, c.toolSettings, func(q *queue.Service, selection queue.Selection) error {
		selection.State = queue.State(c.State)
		found, err := q.List(s.ctx, selection, c.After, c.Limit)
		if err != nil {
			return err
		}
		return s.print(map[string][]shown.Queued{"queue": shown.List(found, shown.QueuedOf)})
	})
}

type queueSummaryCommand struct {
	toolSettings
	queueFilter

	Limit int `default:"100" help:"Maximum number of destinations."`
}

func (c *queueSummaryCommand) Validate() error { return checkLimit(c.Limit, 10_000) }

func (c *queueSummaryCommand) Run(s *session) error {
	return c.withQueue(s, c.toolSettings, func(q *queue.Service, selection queue.Selection) error {
		found, err := q.Summary(s.ctx, selection, c.Limit)
		if err != nil {
			return err
		}
		return s.print(map[string][]shown.Backlog{"destinations": shown.List(found, shown.BacklogOf)})
	})
}

// queueChange has the flags of commands that change the queue.
type queueChange struct {
	toolSettings
	queueFilter

	All    bool `help:"Select the whole queue."`
	DryRun bool `help:"Change nothing; print how many recipients are selected." name:"dry-run"`
}

var errQueueSelection = errors.New(
	"specify at least one of --recipient, --email, --destination and --account, or --all")

func (c *queueChange) Validate() error {
	if c.All != c.isEmpty() {
		return errQueueSelection
	}
	return nil
}

// run makes the change and prints its result. Services notice newly due recipients within their poll interval of a
// second.
func (c *queueChange) run(s *session, operation string,
	do func(*queue.Service, context.Context, queue.Operation) (queue.Result, error)) error {
	return c.withQueue(s, c.toolSettings, func(q *queue.Service, selection queue.Selection) error {
		selection.All = c.All
		done, err := do(q, s.ctx, queue.Operation{Selection: selection, DryRun: c.DryRun,
			Progress: func(done, of int) {
				if of > done || done > 1000 { // a single step is not worth reporting
					fmt.Fprintf(s.log, "%s: %d of %d\n", operation, done, of)
				}
			}})
		if err != nil {
			return err
		}
		return s.print(struct {
			Matched int  `json:"matched"`
			Changed int  `json:"changed"`
			DryRun  bool `json:"dry_run"`
		}{done.Matched, done.Changed, c.DryRun})
	})
}

type queueRetryCommand struct{ queueChange }

func (c *queueRetryCommand) Run(s *session) error { return c.run(s, "retry", (*queue.Service).Retry) }

type queueHoldCommand struct{ queueChange }

func (c *queueHoldCommand) Run(s *session) error { return c.run(s, "hold", (*queue.Service).Hold) }

type queueReleaseCommand struct{ queueChange }

func (c *queueReleaseCommand) Run(s *session) error {
	return c.run(s, "release", (*queue.Service).Release)
}

type queueDropCommand struct {
	queueChange

	Reason string `help:"Reason, which the sender receives." placeholder:"TEXT" required:""`
}

func (c *queueDropCommand) Run(s *session) error {
	return c.run(s, "drop", func(q *queue.Service, ctx context.Context,
		change queue.Operation) (queue.Result, error) {
		return q.Drop(ctx, change, c.Reason)
	})
}
