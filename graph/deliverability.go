package graph

import (
	"github.com/postrider/postrider/graph/generated"
	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/deliverability"
)

// deliverabilityCost is the price of a domain's deliverability. The reports about the domains of a page are read by
// nine statements; only the statistics of three periods and a DNS lookup are per domain.
const deliverabilityCost = 4

func deliverabilityCosts(c *generated.ComplexityRoot) {
	c.Domain.Deliverability = func(int) int { return deliverabilityCost }
}

func toDeliverability(s deliverability.Summary) *model.DomainDeliverability {
	out := &model.DomainDeliverability{Since: s.Since, Until: s.Until, Grade: s.Grade.Grade, Reasons: s.Grade.Reasons,
		Totals: s.Totals, Receivers: s.Receivers, Placement: s.Placement, Reporting: s.Reporting, TLS: s.TLS,
		Degradations: s.Degradations, Blocklists: s.Blocklists, FeedbackLoops: s.FeedbackLoops, BIMI: s.BIMI,
		Advice: model.DMARCAdvice{Advice: s.Advice, Verdict: string(s.Advice.Verdict), Policy: nilIfEmpty(s.Advice.Policy),
			Record: nilIfEmpty(s.Advice.Record)}}
	for _, r := range s.Requirements {
		out.Requirements = append(out.Requirements, model.DomainRequirement{Requirement: r, State: string(r.State),
			Fix: nilIfEmpty(r.Fix)})
	}
	for _, source := range s.Sources {
		out.Sources = append(out.Sources, model.DMARCSource{Source: source, Name: nilIfEmpty(source.Name),
			Service: nilIfEmpty(source.Service)})
	}
	return out
}
