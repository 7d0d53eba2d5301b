package graph

import (
	"context"
	"errors"
	"strings"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/graph/connection"
	"github.com/postrider/postrider/graph/generated"
	"github.com/postrider/postrider/graph/inquiry"
	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/inbound"
	"github.com/postrider/postrider/modules/inbound/addressrules"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Received reads received mail and the address rules of domains.
type Received interface {
	List(ctx context.Context, accountID string, q inbound.ListQuery) (page.Page[*ent.ReceivedEmail], error)
	Count(ctx context.Context, accountID string, f inbound.Filter, most int) (int, error)
	Get(ctx context.Context, accountID, emailID string) (*ent.ReceivedEmail, error)
	Open(ctx context.Context, e *ent.ReceivedEmail) (*inbound.Content, error)
	Rules(ctx context.Context, accountID, domainID string) (addressrules.Rules, error)
}

var _ Received = (*inbound.Service)(nil)

// receivedCosts counts a list by its length. Reading a content reads a whole message.
func receivedCosts(c *generated.ComplexityRoot) {
	c.Query.ReceivedEmails = func(child int, first *int, _ *string, last *int, _ *string,
		_ *model.ReceivedEmailFilter) int {
		return times(connection.Size(first, last), child)
	}
	c.ReceivedEmail.Content = func(child int) int { return bodyCost + child }
	c.ReceivedEmail.Attachments = func(child int) int { return times(fewPerEmail, child) }
	c.AddressRules.Rules = func(child int) int { return times(fewPerEmail, child) }
}

func receivedFilter(in *model.ReceivedEmailFilter) inbound.Filter {
	if in == nil {
		return inbound.Filter{}
	}
	f := inbound.Filter{To: stringOrEmpty(in.To), From: stringOrEmpty(in.From), Domain: stringOrEmpty(in.DomainID),
		Q: stringOrEmpty(in.Query)}
	f.Since, f.Until = timeRange(in.ReceivedAt)
	return f
}

func (r *Resolver) listReceived(ctx context.Context, accountID string, f inbound.Filter,
	p page.Request) (page.Page[*ent.ReceivedEmail], error) {
	return r.parts.Received.List(ctx, accountID, inbound.ListQuery{Page: p, Filter: f})
}

func toRules(r addressrules.Rules) *model.AddressRules {
	out := &model.AddressRules{Rules: []*model.AddressRule{}, CatchAll: r.CatchAll}
	for _, rule := range r.Rules {
		out.Rules = append(out.Rules, &model.AddressRule{Match: rule.Match,
			Action: model.AddressRuleAction(strings.ToUpper(rule.Action))})
	}
	return out
}

// receivedPage connects received emails that were loaded together with their related data.
func (r *Resolver) receivedPage(ctx context.Context, accountID string,
	rows []*ent.ReceivedEmail) []*model.ReceivedEmail {
	shared := &model.ReceivedPage{
		Domains: loadLinked(ctx, rights.Read, "Query.domains", func(e *ent.ReceivedEmail) string { return e.DomainID },
			rows, func(ids []string) (map[string]*model.Domain, error) {
				found, err := r.parts.Domains.GetMany(ctx, accountID, ids...)
				return byID(r.domainPage(ctx, accountID, found), func(d *model.Domain) string { return d.ID }), err
			}),
		Deliveries: loadLinked(ctx, rights.Read, "Query.webhookDeliveries",
			func(e *ent.ReceivedEmail) string { return e.ID }, rows,
			func(ids []string) (map[string][]*model.WebhookDelivery, error) {
				found, err := r.parts.Webhooks.DeliveriesOfSubjects(ctx, accountID, ids...)
				return r.deliveriesBy(ctx, accountID, found), err
			}),
	}
	return connection.ConvertList(rows, func(row *ent.ReceivedEmail) *model.ReceivedEmail {
		return &model.ReceivedEmail{ReceivedEmail: row, Page: shared}
	})
}

// receivedContent returns nil if the content was deleted by age.
func (r *Resolver) receivedContent(ctx context.Context, e *ent.ReceivedEmail) (*model.ReceivedContent, error) {
	content, err := r.parts.Received.Open(ctx, e)
	if errors.Is(err, inbound.ErrPurged) {
		return nil, nil //nolint:nilnil // null means none
	}
	if err != nil {
		return nil, err
	}
	defer content.Close()
	m, err := content.Message()
	if err != nil {
		return nil, err
	}
	if err := inquiry.Spend(ctx, len(m.HTML)+len(m.Text)); err != nil {
		return nil, err
	}
	out := &model.ReceivedContent{HTML: nilIfEmpty(m.HTML), Text: nilIfEmpty(m.Text), Headers: []*shape.Header{}}
	for _, f := range m.Header {
		out.Headers = append(out.Headers, &shape.Header{Name: f.Name, Value: f.Value})
	}
	return out, nil
}
