package statistics

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/automations"
	"github.com/postrider/postrider/modules/statistics"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/wire"
	restautomations "github.com/postrider/postrider/rest/automations"
	resttemplates "github.com/postrider/postrider/rest/templates"
	"github.com/postrider/postrider/runtime/base/fault"
)

// Service counts the outcomes of mail and of runs.
type Service interface {
	Query(ctx context.Context, accountID string, q statistics.Question) (statistics.QueryResult, error)
	QueryRuns(ctx context.Context, accountID string, q statistics.RunQuestion) (statistics.RunAnswer, error)
}

// Automations finds automations.
type Automations interface {
	Get(ctx context.Context, accountID, automationID string) (*ent.Automation, error)
}

// Templates finds templates by ID or alias.
type Templates interface {
	Get(ctx context.Context, accountID, idOrAlias string) (templates.Template, error)
}

var (
	_ Service     = (*statistics.Service)(nil)
	_ Automations = (*automations.Service)(nil)
	_ Templates   = (*templates.Service)(nil)
)

// defaultDays is the length of the time range that ends now, in days.
const defaultDays = 30

type query struct {
	api.Item

	Since    string `query:"since" doc:"Start of the time range, which is extended to whole periods. RFC 3339 with Z or an offset. Defaults to 30 days before until." example:"2026-01-15T00:00:00Z"`
	Until    string `query:"until" doc:"End of the time range, exclusive. RFC 3339 with Z or an offset. Defaults to now." example:"2026-01-16T00:00:00Z"`
	Interval string `query:"interval" enum:"hour,day,week,month" doc:"Length of the periods. Defaults to day."`
	Timezone string `query:"timezone" doc:"Time zone of the periods: an IANA name. Defaults to UTC." example:"Europe/Vienna"`
	PlacedBy string `query:"placed_by" enum:"event,start" doc:"The period that a result counts in: the one in which it happened (event, the default), or the one in which its run started or its email was handed over for delivery (start)."`
}

// period is the time range and the resolution of a query.
type period struct {
	statistics.Range

	interval statistics.Interval
	timezone string
	byStart  bool
}

// toPeriod returns the period, or an error with every invalid parameter.
func (q *query) toPeriod(now time.Time) (period, error) {
	wrong := fault.Fields{}
	since, until := api.QueryTime(wrong, "since", q.Since), api.QueryTime(wrong, "until", q.Until)
	if until == nil {
		until = &now
	}
	if since == nil {
		start := until.AddDate(0, 0, -defaultDays)
		since = &start
	}
	p := period{Range: statistics.Range{Since: *since, Until: *until}, interval: statistics.Day, timezone: "UTC",
		byStart: q.PlacedBy == "start"}
	if q.Interval != "" {
		p.interval = statistics.Interval(q.Interval)
	}
	if q.Timezone != "" {
		p.timezone = q.Timezone
	}
	switch {
	case len(wrong) > 0:
	case !since.Before(*until):
		wrong.Add("until", "must be after since")
	case since.Year() < firstYear:
		wrong.Add("since", "must be %d or later", firstYear)
	case until.Year() > lastYear:
		wrong.Add("until", "must be %d or earlier", lastYear)
	}
	return p, wrong.Err()
}

// The years that can be queried.
const (
	firstYear = 2021
	lastYear  = 9998
)

// nameParameters renames the fields of an error after the parameters of the operations.
func nameParameters(err error) error {
	var invalid *fault.Error
	if !errors.As(err, &invalid) || invalid.Fields["range"] == "" {
		return err
	}
	wrong := fault.Fields{}
	for field, reason := range invalid.Fields {
		if field == "range" {
			field, reason = "since", "is too early: the response would have more than 10,000 periods"
		}
		wrong.Add(field, "%s", reason)
	}
	return wrong.Err()
}

type edge struct {
	service     Service
	automations Automations
	templates   Templates
	now         func() time.Time
}

// AutomationRoutes returns the routes of the statistics of automations.
func AutomationRoutes(service Service, of Automations) api.Routes {
	return api.NewRoutes("automation statistics", func(a *api.API) {
		e := &edge{service: service, automations: of, now: time.Now}
		api.Handle(a.Tag(restautomations.Tag, ""), api.Operation{
			Method: http.MethodGet, Path: "/automations/{id}/statistics", ID: "getAutomationStatistics",
			Needs:   rights.Read,
			Summary: "Retrieve the statistics of an automation",
			Description: "Returns the numbers of runs and of the emails that its steps sent, in total and by period. " +
				"They are up to date and kept for 25 months.",
			Example: map[string]any{"statistics": exampleStatistics(exampleAutomation())},
			Of:      restautomations.OfAutomation, Problems: []int{http.StatusNotFound},
		}, e.getAutomationStatistics)
	})
}

// TemplateRoutes returns the routes of the statistics of templates.
func TemplateRoutes(service Service, of Templates) api.Routes {
	return api.NewRoutes("template statistics", func(a *api.API) {
		e := &edge{service: service, templates: of, now: time.Now}
		api.Handle(a.Tag(resttemplates.Tag, ""), api.Operation{
			Method: http.MethodGet, Path: "/templates/{id}/statistics", ID: "getTemplateStatistics",
			Needs:   rights.Read,
			Summary: "Retrieve the statistics of a template",
			Description: "Returns the outcomes of the emails that were sent with the template, in total and by " +
				"period. They are up to date and kept for 25 months.",
			Example: map[string]any{"statistics": exampleStatistics(exampleEmails())},
			Of:      resttemplates.OfTemplate, Problems: []int{http.StatusNotFound},
		}, e.getTemplateStatistics)
	})
}

func (e *edge) getAutomationStatistics(ctx context.Context, c *api.Call,
	in *query) (automationStatisticsAnswer, error) {
	p, err := in.toPeriod(e.now())
	if err != nil {
		return automationStatisticsAnswer{}, err
	}
	a, err := e.automations.Get(ctx, c.AccountID, in.ID)
	if err != nil {
		return automationStatisticsAnswer{}, err
	}
	runs, err := e.service.QueryRuns(ctx, c.AccountID, statistics.RunQuestion{Range: p.Range, Interval: p.interval,
		Timezone: p.timezone, AutomationID: a.ID, ByStart: p.byStart})
	if err != nil {
		return automationStatisticsAnswer{}, nameParameters(err)
	}
	emails, err := e.service.Query(ctx, c.AccountID, p.question(statistics.Filter{AutomationID: a.ID}))
	if err != nil {
		return automationStatisticsAnswer{}, nameParameters(err)
	}
	return automationStatisticsAnswer{newAutomationStatistics(runs, emails)}, nil
}

func (e *edge) getTemplateStatistics(ctx context.Context, c *api.Call, in *query) (templateStatisticsAnswer, error) {
	p, err := in.toPeriod(e.now())
	if err != nil {
		return templateStatisticsAnswer{}, err
	}
	t, err := e.templates.Get(ctx, c.AccountID, in.ID)
	if err != nil {
		return templateStatisticsAnswer{}, err
	}
	emails, err := e.service.Query(ctx, c.AccountID, p.question(statistics.Filter{TemplateID: t.ID}))
	if err != nil {
		return templateStatisticsAnswer{}, nameParameters(err)
	}
	return templateStatisticsAnswer{newTemplateStatistics(emails)}, nil
}

// question returns the query about mail.
func (p period) question(f statistics.Filter) statistics.Question {
	return statistics.Question{Range: p.Range, Interval: p.interval, Timezone: p.timezone, Filter: f,
		ByEmail: p.byStart}
}

type automationStatisticsAnswer struct {
	Statistics automationStatistics `json:"statistics" doc:"The statistics of the automation."`
}

type automationStatistics struct {
	AsOf    wire.Time                    `json:"as_of" doc:"Every event before this time is counted."`
	Totals  automationStatisticsFigures  `json:"totals" doc:"Totals of the whole time range."`
	Buckets []automationStatisticsBucket `json:"buckets" nullable:"false" doc:"The periods, oldest first, including empty ones."`
}

type automationStatisticsBucket struct {
	Start   wire.Time                   `json:"start" doc:"When the period starts."`
	Figures automationStatisticsFigures `json:"figures" doc:"The figures of the period."`
}

type automationStatisticsFigures struct {
	Runs   automationRunFigures `json:"runs" doc:"Numbers of runs."`
	Emails emailFigures         `json:"emails" doc:"Outcomes of the emails that the steps sent."`
}

type automationRunFigures struct {
	Started   int64 `json:"started" doc:"Runs that were started."`
	WithGoal  int64 `json:"with_goal" doc:"Started runs whose version has a goal. The conversion rate is converted divided by with_goal."`
	Completed int64 `json:"completed" doc:"Runs that reached the end. A run that fails, is retried and completes counts in failed and in completed."`
	Failed    int64 `json:"failed" doc:"Runs that failed."`
	Cancelled int64 `json:"cancelled" doc:"Runs that were cancelled."`
	Converted int64 `json:"converted" doc:"Runs whose person had the event of the goal in time."`
}

type templateStatisticsAnswer struct {
	Statistics templateStatistics `json:"statistics" doc:"The statistics of the template."`
}

type templateStatistics struct {
	AsOf    wire.Time                  `json:"as_of" doc:"Every event before this time is counted."`
	Totals  emailFigures               `json:"totals" doc:"Totals of the whole time range."`
	Buckets []templateStatisticsBucket `json:"buckets" nullable:"false" doc:"The periods, oldest first, including empty ones."`
}

type templateStatisticsBucket struct {
	Start   wire.Time    `json:"start" doc:"When the period starts."`
	Figures emailFigures `json:"figures" doc:"The figures of the period."`
}

type emailFigures struct {
	Accepted     int64 `json:"accepted" doc:"Emails handed over for delivery."`
	Recipients   int64 `json:"recipients" doc:"Recipients of these emails."`
	Delivered    int64 `json:"delivered" doc:"Recipients whose server accepted the message."`
	Delayed      int64 `json:"delayed" doc:"Recipients whose delivery needed another attempt."`
	Bounced      int64 `json:"bounced" doc:"Recipients that do not exist or were refused."`
	Failed       int64 `json:"failed" doc:"Recipients whose message could not be delivered for another reason."`
	Complained   int64 `json:"complained" doc:"Recipients who marked the message as spam."`
	Opened       int64 `json:"opened" doc:"Emails that a person opened, if open tracking is on."`
	Clicked      int64 `json:"clicked" doc:"Emails with a link that a person followed, if click tracking is on."`
	Unsubscribed int64 `json:"unsubscribed" doc:"Recipients who unsubscribed."`
	Suppressed   int64 `json:"suppressed" doc:"Emails that were blocked because a recipient is on the suppression list."`
}

func newEmailFigures(f statistics.Figures) emailFigures {
	return emailFigures{f.Accepted, f.Recipients, f.Delivered, f.Delayed, f.Bounced, f.Failed, f.Complained, f.Opened,
		f.Clicked, f.Unsubscribed, f.Suppressed}
}

func newAutomationFigures(runs statistics.RunFigures, emails statistics.Figures) automationStatisticsFigures {
	return automationStatisticsFigures{automationRunFigures(runs), newEmailFigures(emails)}
}

// newAutomationStatistics combines the answers about runs and emails, which have the same periods.
func newAutomationStatistics(runs statistics.RunAnswer, emails statistics.QueryResult) automationStatistics {
	asOf := runs.AsOf
	if emails.AsOf.Before(asOf) {
		asOf = emails.AsOf
	}
	out := automationStatistics{AsOf: wire.Time(asOf), Totals: newAutomationFigures(runs.Totals, emails.Totals),
		Buckets: make([]automationStatisticsBucket, len(runs.Buckets))}
	for i, b := range runs.Buckets {
		out.Buckets[i] = automationStatisticsBucket{wire.Time(b.Start),
			newAutomationFigures(b.Figures, emails.Buckets[i].Figures)}
	}
	return out
}

func newTemplateStatistics(emails statistics.QueryResult) templateStatistics {
	return templateStatistics{wire.Time(emails.AsOf), newEmailFigures(emails.Totals),
		wire.ListOf(emails.Buckets, func(b statistics.Bucket) templateStatisticsBucket {
			return templateStatisticsBucket{wire.Time(b.Start), newEmailFigures(b.Figures)}
		})}
}

func exampleStatistics(figures map[string]any) map[string]any {
	return map[string]any{"as_of": "2026-01-16T00:00:05.000Z", "totals": figures,
		"buckets": []any{map[string]any{"start": "2026-01-15T00:00:00.000Z", "figures": figures}}}
}

func exampleAutomation() map[string]any {
	return map[string]any{"runs": map[string]any{"started": 120, "with_goal": 120, "completed": 96, "failed": 1,
		"cancelled": 9, "converted": 41}, "emails": exampleEmails()}
}

func exampleEmails() map[string]any {
	return map[string]any{"accepted": 216, "recipients": 216, "delivered": 212, "delayed": 3, "bounced": 4, "failed": 0,
		"complained": 0, "opened": 131, "clicked": 58, "unsubscribed": 2, "suppressed": 1}
}
