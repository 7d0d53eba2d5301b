package graph

import (
	"context"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/postrider/postrider/graph/generated"
	"github.com/postrider/postrider/graph/inquiry"
	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/statistics"
)

// Statistics counts the outcomes of mail.
type Statistics interface {
	Query(ctx context.Context, accountID string, q statistics.Question) (statistics.QueryResult, error)
	AskReceived(ctx context.Context, accountID string, q statistics.ReceivedQuestion) (statistics.ReceivedAnswer, error)
	QueryRuns(ctx context.Context, accountID string, q statistics.RunQuestion) (statistics.RunAnswer, error)
	Reasons(ctx context.Context, accountID string, r statistics.Range, f statistics.Filter,
		first int) ([]statistics.Reason, error)
}

var _ Statistics = (*statistics.Service)(nil)

// periodsAtOne is the number of periods, which are small, that cost one unit.
const periodsAtOne = 25

func statisticsCosts(c *generated.ComplexityRoot) {
	length := map[model.StatisticsInterval]time.Duration{model.StatisticsIntervalHour: time.Hour,
		model.StatisticsIntervalDay:  24 * time.Hour,
		model.StatisticsIntervalWeek: 7 * 24 * time.Hour, model.StatisticsIntervalMonth: 28 * 24 * time.Hour}
	series := func(child int, r model.TimeRange, interval model.StatisticsInterval) int {
		periods := 1 + int(max(min(r.Lt.Sub(r.Gte)/max(length[interval], time.Hour), maxPeriods), 0))
		return lookCost + times((periods+periodsAtOne-1)/periodsAtOne, child)
	}
	c.Query.EmailStatistics = func(child int, r model.TimeRange, interval model.StatisticsInterval, _ string,
		_ *model.StatisticsDimension, _ int, _ *model.StatisticsFilter, _ model.StatisticsMoment) int {
		return series(child, r, interval)
	}
	c.Query.WebhookStatistics = func(child int, r model.TimeRange, interval model.StatisticsInterval, _ string,
		_ *string) int {
		return healthCost + series(child, r, interval)
	}
	c.Query.AutomationStatistics = func(child int, r model.TimeRange, interval model.StatisticsInterval, _ string,
		_ *string, _ model.AutomationMoment) int {
		return series(child, r, interval)
	}
	c.Query.ReceivedStatistics = func(child int, r model.TimeRange, interval model.StatisticsInterval, _ string,
		_ *model.ReceivedDimension, _ int) int {
		return series(child, r, interval)
	}
	c.Query.TopBounceReasons = func(child int, _ model.TimeRange, _ *model.StatisticsFilter, first int) int {
		return lookCost + times(max(min(first, maxPeriods), 1), child)
	}
}

// maxPeriods is more than any response contains.
const maxPeriods = 10_000

func statisticsRange(r model.TimeRange) statistics.Range {
	return statistics.Range{Since: r.Gte, Until: r.Lt}
}

func statisticsFilter(f *model.StatisticsFilter) (out statistics.Filter) {
	if f == nil {
		return out
	}
	for to, given := range map[*string]*string{&out.DomainID: f.DomainID, &out.APIKeyID: f.APIKeyID,
		&out.TemplateID: f.TemplateID, &out.AutomationID: f.AutomationID,
		&out.RecipientDomain: f.RecipientDomain, &out.BounceClass: f.BounceClass} {
		if given != nil {
			*to = *given
		}
	}
	if f.Tag != nil {
		out.Tag = f.Tag.Name + "=" + f.Tag.Value
	}
	return out
}

// asksLatency reports whether the resolved field selects delivery latency, which takes a statement.
func asksLatency(ctx context.Context) bool {
	return inquiry.SelectsField(graphql.GetFieldContext(ctx).Field.Selections,
		func(typeName, field string) bool { return typeName == "EmailFigures" && field == "latency" })
}

func toStatistics(a statistics.QueryResult) *model.EmailStatistics {
	out := &model.EmailStatistics{AsOf: a.AsOf, Totals: toFigures(a.Totals), Buckets: toBuckets(a.Buckets),
		Groups: make([]*model.EmailGroup, len(a.Groups))}
	for i, g := range a.Groups {
		out.Groups[i] = toGroup(g)
	}
	if a.Other != nil {
		out.Other = toGroup(*a.Other)
		out.Other.Label = "other"
	}
	return out
}

func toGroup(g statistics.Group) *model.EmailGroup {
	return &model.EmailGroup{Key: g.Key, Label: g.Label, Totals: toFigures(g.Totals), Buckets: toBuckets(g.Buckets)}
}

func toBuckets(list []statistics.Bucket) []*model.EmailBucket {
	out := make([]*model.EmailBucket, len(list))
	for i, b := range list {
		out[i] = &model.EmailBucket{Start: b.Start, Figures: toFigures(b.Figures)}
	}
	return out
}

func toFigures(f statistics.Figures) *model.EmailFigures {
	rate := func(n, of int64) *model.Rate { return &model.Rate{Numerator: int(n), Denominator: int(of)} }
	out := &model.EmailFigures{Accepted: int(f.Accepted), Recipients: int(f.Recipients), Delivered: int(f.Delivered),
		Delayed: int(f.Delayed), Bounced: int(f.Bounced),
		Failed: int(f.Failed), Complained: int(f.Complained), Opened: int(f.Opened), Clicked: int(f.Clicked),
		Unsubscribed: int(f.Unsubscribed), Suppressed: int(f.Suppressed),
		DeliveryRate: rate(f.Delivered, f.Recipients), BounceRate: rate(f.Bounced, f.Recipients),
		ComplaintRate: rate(f.Complained, f.Delivered),
		OpenRate:      rate(f.Opened, f.Delivered), ClickRate: rate(f.Clicked, f.Delivered)}
	if half, made := f.LatencyWithin(0.5); made {
		most, _ := f.LatencyWithin(0.95)
		out.Latency = &model.Latency{P50: half.Seconds(), P95: most.Seconds()}
	}
	return out
}

func toRunStatistics(a statistics.RunAnswer) *model.AutomationStatistics {
	out := &model.AutomationStatistics{AsOf: a.AsOf, Totals: toRunFigures(a.Totals),
		Buckets: make([]*model.AutomationBucket, len(a.Buckets))}
	for i, b := range a.Buckets {
		out.Buckets[i] = &model.AutomationBucket{Start: b.Start, Figures: toRunFigures(b.Figures)}
	}
	return out
}

func toRunFigures(f statistics.RunFigures) *model.AutomationFigures {
	return &model.AutomationFigures{Started: int(f.Started), WithGoal: int(f.WithGoal), Completed: int(f.Completed),
		Failed: int(f.Failed), Cancelled: int(f.Cancelled), Converted: int(f.Converted),
		ConversionRate: &model.Rate{Numerator: int(f.Converted), Denominator: int(f.WithGoal)}}
}

// dimension returns an empty string if there is no dimension.
func dimension(d *model.StatisticsDimension) statistics.Dimension {
	if d == nil {
		return ""
	}
	return statistics.Dimension(strings.ToLower(string(*d)))
}

// toReasons converts bounce reasons; their emails are loaded together when selected.
func (r *Resolver) toReasons(ctx context.Context, accountID string,
	list []statistics.Reason) ([]*model.BounceReason, error) {
	out, ids := make([]*model.BounceReason, len(list)), make([]string, len(list))
	for i, reason := range list {
		ids[i] = reason.EmailID
		out[i] = &model.BounceReason{BounceClass: reason.Class, EnhancedCode: reason.EnhancedCode, Host: reason.Host,
			Count:   int(reason.Recipients),
			Example: &model.BounceExample{Diagnostic: reason.Diagnostic, EmailID: reason.EmailID}}
	}
	wanted := inquiry.SelectsField(graphql.GetFieldContext(ctx).Field.Selections,
		func(typeName, field string) bool { return typeName == "BounceExample" && field == "email" })
	if !wanted || len(ids) == 0 {
		return out, nil
	}
	rows, err := r.parts.Emails.GetMany(ctx, accountID, ids...)
	if err != nil {
		return nil, err
	}
	known := map[string]*model.Email{}
	for _, email := range r.emailPage(ctx, accountID, rows) {
		known[email.ID] = email
	}
	for i, id := range ids {
		out[i].Example.Email = known[id]
	}
	return out, nil
}

func toReceivedStatistics(a statistics.ReceivedAnswer) *model.ReceivedStatistics {
	out := &model.ReceivedStatistics{AsOf: a.AsOf, Totals: toReceivedFigures(a.Totals),
		Buckets: toReceivedBuckets(a.Buckets), Groups: make([]*model.ReceivedGroup, len(a.Groups))}
	for i, g := range a.Groups {
		out.Groups[i] = toReceivedGroup(g)
	}
	if a.Other != nil {
		out.Other = toReceivedGroup(*a.Other)
		out.Other.Label = "other"
	}
	return out
}

func toReceivedGroup(g statistics.ReceivedGroup) *model.ReceivedGroup {
	return &model.ReceivedGroup{Key: g.Key, Label: g.Label, Totals: toReceivedFigures(g.Totals),
		Buckets: toReceivedBuckets(g.Buckets)}
}

func toReceivedBuckets(list []statistics.ReceivedBucket) []*model.ReceivedBucket {
	out := make([]*model.ReceivedBucket, len(list))
	for i, b := range list {
		out[i] = &model.ReceivedBucket{Start: b.Start, Figures: toReceivedFigures(b.Figures)}
	}
	return out
}

func toReceivedFigures(f statistics.ReceivedFigures) *model.ReceivedFigures {
	return &model.ReceivedFigures{Received: int(f.Received), Ham: int(f.Ham), Spam: int(f.Spam),
		Unknown: int(f.Unknown), Octets: float64(f.Octets)}
}
