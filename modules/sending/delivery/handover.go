package delivery

import (
	"context"
	"slices"

	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/modules/sending/compose"
	"github.com/postrider/postrider/modules/sending/handover"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
)

// A new recipient needs no separate claim: the transaction that stores it can store it as claimed (package
// handover). The decision is that of judgeRow, made before the recipient is stored: this process has the way
// out, the lane has room, and no recipient waits for it. In addition, the worker must have a free place, and
// the way out must not be counted, because that takes a statement in the transaction.

// offered is a recipient that is claimed once it is stored.
type offered struct {
	handover.Recipient

	way    smtpclient.Way
	ticket ticket
}

// Offer decides which recipients this process claims, and reserves a place and a connection for each. The caller ends
// the offer. nil: it claims none.
func (s *Service) Offer(ctx context.Context, list []handover.Recipient) *handover.Offer {
	if s.idle || len(list) == 0 {
		return nil
	}
	places := s.worker.Reserve(len(list))
	if places == nil {
		s.claimer.unseen.addAll()
		return nil
	}
	given, refused := s.claimer.judgeOffer(ctx, list, places.Places())
	claims := make([]*handover.Claim, len(list))
	for i, o := range given {
		if o.ticket != nil {
			claims[i] = &handover.Claim{EmailID: o.Email.ID, Address: o.Address, Way: o.way.Label,
				Ahead: o.ticket.IsAhead(), Node: s.claimer.node.ID(), Lease: claimLease}
		}
	}
	return handover.NewOffer(claims, func(stored []handover.Stored, doubtful bool) {
		s.claimer.unseen.add(refused)
		places.Begin(s.claimer.beginOffered(given, stored))
		if doubtful {
			s.claimer.abandoned.add(claims)
			s.worker.Nudge()
		}
	})
}

// judgeOffer decides on each recipient, with at most limit claims. An entry without a ticket is not claimed; refused
// are the lanes of these.
func (c *claimer) judgeOffer(ctx context.Context, list []handover.Recipient, limit int) (given []offered,
	refused []string) {
	given = make([]offered, len(list))
	questions := make([]outbound.Question, len(list))
	for i, r := range list {
		given[i].Recipient = r
		questions[i] = outbound.Question{AccountID: r.Email.AccountID, DomainID: r.Email.DomainID,
			Destination: r.Destination}
	}
	ways, err := c.ways.Choose(ctx, questions)
	if err != nil {
		c.unseen.addAll()
		return given, nil // the next claim reports the error
	}
	labels := make([]string, len(ways))
	suspended := map[string]bool{}
	for i := range given {
		o := &given[i]
		o.way, labels[i] = ways[i], ways[i].Label
		if limit > 0 && c.mayOffer(ctx, o, suspended) {
			if ticket, ok := c.lanes.Reserve(o.way.Label, o.Destination); ok {
				o.ticket = ticket
				limit--
				continue
			}
		}
		refused = append(refused, laneLabel(o.way.Label, o.Destination))
	}
	c.ways.Return(labels) // none of those claimed is counted, and the others are chosen again
	return given, refused
}

// mayOffer reports whether a recipient may be claimed if its lane has room. suspended caches the states of accounts.
func (c *claimer) mayOffer(ctx context.Context, o *offered, suspended map[string]bool) bool {
	label := laneLabel(o.way.Label, o.Destination)
	if c.ways.RoutingOf(o.way.Label) != outbound.Open || c.ways.IsCounted(o.way.Label) || c.unseen.contains(label) ||
		c.parking.contains(label) {
		return false
	}
	off, known := suspended[o.Email.AccountID]
	if !known {
		var err error
		off, err = c.isSuspended(ctx, o.Email.AccountID)
		off = off || err != nil
		suspended[o.Email.AccountID] = off
	}
	return !off
}

// beginOffered returns the deliveries of the recipients that were stored as claimed, and releases the connections of
// the others.
func (c *claimer) beginOffered(given []offered, stored []handover.Stored) []Job {
	jobs := make([]Job, 0, len(stored))
	messages := map[string]*compose.StoredEmail{}
	for _, o := range given {
		if o.ticket == nil {
			continue
		}
		at := slices.IndexFunc(stored, func(s handover.Stored) bool {
			return s.EmailID == o.Email.ID && s.Address == o.Address
		})
		if at < 0 {
			o.ticket.End()
			continue
		}
		message := messages[o.Email.ID]
		if message == nil {
			message = compose.NewEmail(o.Email)
			messages[o.Email.ID] = message
		}
		jobs = append(jobs, Job{recipientID: stored[at].ID, fence: 1, emailID: o.Email.ID,
			accountID: o.Email.AccountID, address: o.Address, attempt: 1, noticeDue: true, message: message,
			destination: o.Destination, way: o.way, ticket: o.ticket, ahead: o.ticket.IsAhead(), due: stored[at].Due})
	}
	if slices.ContainsFunc(jobs, func(d Job) bool { return d.ahead }) {
		c.begun.storeInitialState()
	}
	return jobs
}
