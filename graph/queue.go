package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"github.com/postrider/postrider/graph/connection"
	"github.com/postrider/postrider/graph/generated"
	"github.com/postrider/postrider/graph/inquiry"
	"github.com/postrider/postrider/graph/limits"
	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/sending/queue"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

// queueCosts counts the queue by its length, and the domains as a page of the largest.
func queueCosts(c *generated.ComplexityRoot) {
	c.Query.Queue = func(child int, first *int, _ *string, last *int, _ *string, _ *model.QueueFilter) int {
		return times(connection.Size(first, last), child)
	}
	c.Query.QueueByDestination = func(child int, _ *model.QueueFilter) int { return times(page.MaxLimit, child) }
	change := func(child int, _ model.QueueSelection, _ bool) int { return changeCost + child }
	c.Mutation.RetryDelivery, c.Mutation.HoldDelivery, c.Mutation.ReleaseDelivery = change, change, change
	c.Mutation.DropDelivery = func(child int, of model.QueueSelection, _ string,
		dryRun bool) int {
		return change(child, of, dryRun)
	}
}

// changeCost limits a request to about ten changes, because each can take a long time.
const changeCost = limits.Complexity / 12

// maxRecipients limits the IDs of one change.
const maxRecipients = 1000

// changeQueue applies a change if the caller has the right to make changes.
func (r *Resolver) changeQueue(ctx context.Context, of model.QueueSelection,
	c queue.AccountChange) (*queue.Result, error) {
	caller, err := inquiry.Authorize(ctx, rights.Write)
	if err != nil {
		return nil, err
	}
	if c.Selection, err = parseSelection(of); err != nil {
		return nil, err
	}
	var note inquiry.AuditNote
	if !c.DryRun {
		if note, err = r.noteQueueChange(ctx, caller.AccountID, c); err != nil {
			return nil, err
		}
	}
	result, err := r.parts.Queue.ChangeQueueOf(ctx, caller.AccountID, c)
	if err != nil {
		return nil, err
	}
	if field := graphql.GetRootFieldContext(ctx); field != nil && !c.DryRun {
		note.Changes["recipients"] = result.Changed
		inquiry.OriginOf(ctx).Note(field.Field.Alias, note)
	}
	return &result, nil
}

// queueMoves are the states of recipients before and after a change, as the audit log shows them.
var queueMoves = map[queue.Command]map[string]any{
	queue.Hold:    {"from": "queued", "to": "held"},
	queue.Release: {"from": "held", "to": "queued"},
	queue.Drop:    {"from": "queued", "to": "failed"},
}

// noteQueueChange returns what the audit log says about a change: the email, its subject or its only recipient, and the
// change of state. The change can remove the recipient from the queue, so it is read before.
func (r *Resolver) noteQueueChange(ctx context.Context, accountID string,
	c queue.AccountChange) (inquiry.AuditNote, error) {
	note := inquiry.AuditNote{Target: c.Selection.EmailID, Changes: map[string]any{}}
	if move := queueMoves[c.Operation]; move != nil {
		note.Changes["state"] = move
	} else {
		note.Changes["due"] = "now"
	}
	for name, value := range map[string]string{"destination": c.Selection.Destination, "reason": c.Reason} {
		if value != "" {
			note.Changes[name] = value
		}
	}
	switch {
	case len(c.Selection.IDs) == 1:
		found, err := r.parts.Queue.QueueOf(ctx, accountID, c.Selection, page.Request{Limit: 1})
		if err != nil {
			return note, err
		}
		for _, recipient := range found.Items {
			note.Target, note.Changes["name"] = recipient.EmailID, recipient.Address
		}
	case note.Target != "" && r.parts.Emails != nil:
		found, err := r.parts.Emails.GetMany(ctx, accountID, note.Target)
		if err != nil {
			return note, err
		}
		for _, email := range found {
			note.Changes["name"] = email.Subject
		}
	}
	return note, nil
}

// parseSelection reads a selection. An empty list, ID or domain is refused: treating it as omitted would widen
// the selection.
func parseSelection(of model.QueueSelection) (queue.Selection, error) {
	s, wrong := queue.Selection{EmailID: stringOrEmpty(of.Email), Destination: stringOrEmpty(of.Destination),
		All: of.All},
		fault.Fields{}
	if of.Email != nil && *of.Email == "" {
		wrong.Add("selection.email", "is empty")
	}
	if of.Destination != nil && *of.Destination == "" {
		wrong.Add("selection.destination", "is empty")
	}
	if of.Recipients != nil && (len(of.Recipients) == 0 || len(of.Recipients) > maxRecipients) {
		wrong.Add("selection.recipients", "must be 1 to %d ids", maxRecipients)
	}
	s.IDs = of.Recipients
	return s, wrong.Err()
}

func queueSelection(in *model.QueueFilter) queue.Selection {
	if in == nil {
		return queue.Selection{}
	}
	return queue.Selection{Destination: stringOrEmpty(in.Destination), EmailID: stringOrEmpty(in.Email),
		State: orNone(in.State)}
}

func orNone(s *queue.State) queue.State {
	if s == nil {
		return ""
	}
	return *s
}

// queuePage connects recipients that were loaded together with their emails.
func (r *Resolver) queuePage(ctx context.Context, accountID string, rows []queue.Queued) []*model.QueuedRecipient {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.EmailID
	}
	emails := r.emailsOf(ctx, accountID, ids)
	return connection.ConvertList(rows, func(q queue.Queued) *model.QueuedRecipient {
		return &model.QueuedRecipient{ID: q.ID, EmailID: q.EmailID, Address: q.Address, Destination: q.Destination,
			State: q.State, Running: q.Running,
			Attempts: q.Attempts, NextAttemptAt: q.NextAttempt, QueuedAt: q.QueuedAt,
			Diagnostic: nilIfEmpty(q.Diagnostic),
			Emails:     emails}
	})
}

func toBacklog(found []queue.Backlog) []*model.QueueBacklog {
	out := make([]*model.QueueBacklog, len(found))
	for i, b := range found {
		out[i] = &model.QueueBacklog{Destination: b.Destination, Total: b.Total(), Due: b.Due, Running: b.Running,
			Parked: b.Parked, Deferred: b.Deferred, Held: b.Held,
			OldestAgeSeconds: int(b.Oldest.Seconds()), Diagnostic: nilIfEmpty(b.Diagnostic)}
	}
	return out
}
