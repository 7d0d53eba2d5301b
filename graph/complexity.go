package graph

import (
	"github.com/postrider/postrider/graph/connection"
	"github.com/postrider/postrider/graph/generated"
	"github.com/postrider/postrider/graph/model"
)

// A field costs 1, and a list its expected length times the cost of an entry. With these values and
// limits.Complexity, a page of 25 emails can select everything, and a page of 100 everything but bodies and
// events. A page of 100 with bodies, of up to 10 MB each, is refused.
const (
	fewPerEmail = 4   // recipients, attempts, events, files
	bodyCost    = 120 // html, text
	recordCount = 6   // DNS records of a domain
	keyCount    = 2   // keys of a domain
	lookCost    = 5   // one index range for each domain
	countCost   = 3   // a count for each email or domain, by one statement for the page
	checksAtOne = 30  // checks of a domain, which are small, at the cost of one
	visitsAtOne = 10  // opens and clicks of an email likewise; most have fewer
)

func costs() generated.ComplexityRoot {
	var c generated.ComplexityRoot
	pageCost := func(child int, first *int, _ *string, last *int, _ *string) int {
		return times(connection.Size(first, last), child)
	}
	few := func(child int) int { return times(fewPerEmail, child) }
	body := func(int) int { return bodyCost }

	c.Query.Emails = func(child int, first *int, after *string, last *int, before *string, _ *model.EmailFilter) int {
		return pageCost(child, first, after, last, before)
	}
	c.Query.Members, c.Query.Invitations, c.Query.ScheduledEmails = pageCost, pageCost, pageCost
	c.Query.Domains = func(child int, first *int, after *string, last *int, before *string, _ *model.DomainFilter) int {
		return pageCost(child, first, after, last, before)
	}
	operatorCosts(&c)
	requestCosts(&c)
	suppressionCosts(&c)
	statisticsCosts(&c)
	deliverabilityCosts(&c)
	nodeCosts(&c)
	linkCosts(&c)
	healthCosts(&c)
	queueCosts(&c)
	mutationCosts(&c)
	webhookCosts(&c)
	receivedCosts(&c)
	automationCosts(&c)
	c.Query.Events = func(child int, first *int, _ *string, _ []string) int {
		return times(connection.Size(first, nil), child)
	}
	c.Query.APIKeys = func(child int, first *int, after *string, last *int, before *string, _ *model.APIKeyFilter) int {
		return pageCost(child, first, after, last, before)
	}
	c.Query.SMTPCredentials = func(child int, first *int, after *string, last *int, before *string,
		_ *model.SMTPCredentialFilter) int {
		return pageCost(child, first, after, last, before)
	}
	c.Account.Usage = func(child int) int { return lookCost + child }
	c.Query.Templates = func(child int, first *int, after *string, last *int, before *string,
		_ *model.TemplateFilter) int {
		return pageCost(child, first, after, last, before)
	}
	c.Template.HTML = body
	c.Template.Text = body
	c.Template.Translations = func(child int) int { return 4*bodyCost + child }
	c.Template.Versions = func(child int, first *int, after *string, last *int, before *string) int {
		return lookCost + pageCost(child, first, after, last, before)
	}
	c.Email.Recipients = few
	c.Email.Attempts = few
	c.Email.Timeline = few
	c.Email.Engagement = func(child int) int { return countCost + child }
	c.Email.Engagements = func(child int, first *int) int {
		return lookCost + times((connection.Size(first, nil)+visitsAtOne-1)/visitsAtOne, child)
	}
	c.EmailContent.Attachments = few
	c.EmailContent.HTML = body
	c.EmailContent.Text = body
	c.EmailContent.Raw = body
	c.Domain.Records = func(child int) int { return times(recordCount, child) }
	c.Domain.DKIMKeys = func(child int) int { return times(keyCount, child) }
	c.Domain.Health = func(child int, first *int) int {
		return countCost + times((connection.Size(first, nil)+checksAtOne-1)/checksAtOne, child)
	}
	c.Domain.SendingCounts = func(int, *int) int { return countCost }
	return c
}

// times multiplies two costs. It stops growing far above the limit, so that it cannot overflow.
func times(n, child int) int { return 1 + n*min(child, 1<<30) }
