package graph

import (
	"strconv"

	"github.com/postrider/postrider/graph/generated"
	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/runtime/page"
)

// queueCosts counts the queue by its length, and the domains as a page of the largest.
func queueCosts(c *generated.ComplexityRoot) {
	c.Query.Queue = func(child int, first *int, _ *string, _ *model.QueueFilter) int { return times(pageSize(first), child) }
	c.Query.QueueByDestination = func(child int, _ *model.QueueFilter) int { return times(page.MaxLimit, child) }
}

func queueSelection(in *model.QueueFilter) sending.Selection {
	if in == nil {
		return sending.Selection{}
	}
	return sending.Selection{Destination: given(in.Destination), EmailID: given(in.Email), State: orNone(in.State)}
}

func orNone(s *sending.QueueState) sending.QueueState {
	if s == nil {
		return ""
	}
	return *s
}

func toQueue(found sending.QueuePage) *model.QueueConnection {
	out := &model.QueueConnection{Nodes: make([]*model.QueuedRecipient, len(found.Recipients)),
		PageInfo: &model.PageInfo{HasNextPage: found.HasMore, EndCursor: filled(found.NextCursor)}}
	for i, r := range found.Recipients {
		out.Nodes[i] = &model.QueuedRecipient{ID: strconv.FormatInt(r.RecipientID, 10), EmailID: r.EmailID, Address: r.Address, Destination: r.Destination,
			State: r.State, Running: r.Running, Attempts: r.Attempts, NextAttemptAt: r.NextAttempt, QueuedAt: r.QueuedAt, Diagnostic: filled(r.Diagnostic)}
	}
	return out
}

func toBacklog(found []sending.Backlog) []*model.QueueBacklog {
	out := make([]*model.QueueBacklog, len(found))
	for i, b := range found {
		out[i] = &model.QueueBacklog{Destination: b.Destination, Total: b.Total(), Due: b.Due, Running: b.Running, Parked: b.Parked, Deferred: b.Deferred, Held: b.Held,
			OldestAgeSeconds: int(b.Oldest.Seconds()), Diagnostic: filled(b.Diagnostic)}
	}
	return out
}
