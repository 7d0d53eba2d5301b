package graph

import (
	"context"
	"encoding/json"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/graph/connection"
	"github.com/postrider/postrider/graph/generated"
	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/automations"
	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/figures"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Automations reads automations, their runs and custom events.
type Automations interface {
	List(ctx context.Context, accountID string, f automations.Filter) (page.Page[*ent.Automation], error)
	CountAutomations(ctx context.Context, accountID string, f automations.Filter, most int) (int, error)
	Get(ctx context.Context, accountID, automationID string) (*ent.Automation, error)
	Versions(ctx context.Context, accountID, automationID string) ([]*ent.AutomationVersion, error)

	Runs(ctx context.Context, accountID string, f automations.RunFilter) (page.Page[*ent.AutomationRun], error)
	CountRuns(ctx context.Context, accountID string, f automations.RunFilter, most int) (int, error)
	Run(ctx context.Context, accountID, runID string) (automations.RunDetail, error)
	// Details returns runs by their IDs.
	Details(ctx context.Context, accountID string, runIDs ...string) (map[string]automations.RunDetail, error)
	TimelineOf(ctx context.Context, run automations.RunDetail) ([]automations.TimelineEntry, error)
	// Origins returns by email ID the step that sent an email.
	Origins(ctx context.Context, accountID string, emailIDs ...string) (map[string]automations.EmailOrigin, error)

	Events(ctx context.Context, accountID string, f automations.EventFilter) (page.Page[*ent.CustomEvent], error)
	CountEvents(ctx context.Context, accountID string, f automations.EventFilter, most int) (int, error)
	Event(ctx context.Context, accountID, eventID string) (*ent.CustomEvent, error)
	Explain(ctx context.Context, accountID, eventID string) (automations.EventExplanation, error)
}

// AutomationFigures counts the outcomes of runs, by automation ID.
type AutomationFigures interface {
	GetMany(ctx context.Context, accountID string, automationIDs ...string) (map[string]*figures.Figures, error)
	Emails(ctx context.Context, accountID string, version int,
		automationIDs ...string) (map[string]*figures.ByStep, error)
	CountsEngagement() bool
}

var (
	_ Automations       = (*automations.Service)(nil)
	_ AutomationFigures = (*figures.Service)(nil)
)

// The costs of fields that are loaded separately for each object: the figures of emails take a few statements over many
// rows, and a timeline or an explanation takes several statements.
const (
	emailFiguresCost = 10 * lookCost
	timelineCost     = 4 * lookCost
	explanationCost  = 20 * lookCost
	timelineLength   = 10
)

func automationCosts(c *generated.ComplexityRoot) {
	few := func(child int) int { return times(fewPerEmail, child) }
	body := func(int) int { return bodyCost }
	c.Query.Automations = func(child int, first *int, _ *string, last *int, _ *string, _ *model.AutomationFilter) int {
		return times(connection.Size(first, last), child)
	}
	c.Query.AutomationRuns = func(child int, first *int, _ *string, last *int, _ *string,
		_ *model.AutomationRunFilter) int {
		return times(connection.Size(first, last), child)
	}
	c.Query.CustomEvents = func(child int, first *int, _ *string, last *int, _ *string,
		_ *model.CustomEventFilter) int {
		return times(connection.Size(first, last), child)
	}
	c.Automation.Steps = few
	c.Automation.Versions = func(child int) int { return lookCost + times(page.DefaultLimit, child) }
	c.Automation.Stats = func(child int) int { return lookCost + child }
	c.AutomationVersion.Definition = body
	c.AutomationStep.Stats = func(child int, _ *int) int { return lookCost + child }
	c.AutomationStepStats.Emails = func(child int) int { return emailFiguresCost + child }
	c.AutomationRun.Event = body
	c.AutomationRun.Steps = few
	c.AutomationRunStep.Output = body
	c.AutomationRun.Timeline = func(child int) int { return timelineCost + times(timelineLength, child) }
	c.AutomationRun.Emails = few
	c.CustomEvent.Data = body
	c.CustomEvent.Matches = few
	c.CustomEvent.Explanation = func(child int) int { return explanationCost + child }
	c.CustomEventExplanation.Matches = few
	c.CustomEventExplanation.NearMisses = few
	c.ExplainedMatch.Conditions = few
	c.ExplainedCondition.Parts = few
	c.Email.Automation = func(child int) int { return lookCost + child }
}

func automationFilter(request page.Request, in *model.AutomationFilter) automations.Filter {
	if in == nil {
		return automations.Filter{Request: request}
	}
	return automations.Filter{Request: request, Status: orEmpty(in.Status), Event: stringOrEmpty(in.Event),
		Name: stringOrEmpty(in.Query)}
}

// automationPage connects automations that were loaded together with their statistics.
func (r *Resolver) automationPage(ctx context.Context, accountID string, rows []*ent.Automation) []*model.Automation {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	service := r.parts.AutomationFigures
	shared := &model.AutomationPage{
		Figures: loadOnce(ctx, accountID, ids, service.GetMany),
		Emails: onceEach(func(version int) (map[string]*figures.ByStep, error) {
			return service.Emails(ctx, accountID, version, ids...)
		}),
		Tracked: service.CountsEngagement(),
	}
	out := make([]*model.Automation, len(rows))
	for i, row := range rows {
		out[i] = &model.Automation{Automation: row, Page: shared}
	}
	return out
}

// draftOf is the part of a draft that the API shows.
type draftOf struct {
	Trigger  json.RawMessage   `json:"trigger"`
	Steps    []definition.Step `json:"steps"`
	Timezone string            `json:"timezone"`
	Goal     *definition.Goal  `json:"goal"`
}

func toSteps(a *model.Automation) ([]*model.AutomationStep, error) {
	var draft draftOf
	if err := json.Unmarshal(a.Draft, &draft); err != nil {
		return nil, err
	}
	out := make([]*model.AutomationStep, len(draft.Steps))
	for i := range draft.Steps {
		s := &draft.Steps[i]
		out[i] = &model.AutomationStep{Index: i, Key: s.Key, Type: s.Type, Name: nilIfEmpty(s.Name),
			Summary: s.Summary(),
			Of:      a}
	}
	return out, nil
}

// toStepStats returns the statistics of a step, in all versions or in one.
func toStepStats(step *model.AutomationStep, version *int) (*model.AutomationStepStats, error) {
	if version != nil && *version < 1 {
		return nil, fault.InvalidField("version", "must be 1 or more")
	}
	counted, err := step.Of.Page.Figures()
	if err != nil {
		return nil, err
	}
	out := &model.AutomationStepStats{At: step, Version: orDefault(version, 0)}
	if of := counted[step.Of.ID]; of != nil {
		out.StepFigures = of.Step(step.Key, out.Version)
	}
	return out, nil
}

// toEmailStats returns the statistics of the emails of a step, or nil for a step that sends none.
func toEmailStats(stats *model.AutomationStepStats) (*model.AutomationEmailStats, error) {
	if definition.Sends(stats.At.Type) != definition.MediumEmail {
		return nil, nil //nolint:nilnil // reported as null
	}
	all := stats.At.Of.Page
	counted, err := all.Emails(stats.Version)
	if err != nil {
		return nil, err
	}
	out := &model.AutomationEmailStats{}
	var of figures.Emails
	if found := counted[stats.At.Of.ID]; found != nil {
		of = found.Step(stats.At.Key)
	}
	out.Sent, out.Delivered, out.Bounced = of.Sent, of.Delivered, of.Bounced
	if all.Tracked {
		out.Opened, out.Clicked = &of.Opened, &of.Clicked
	}
	return out, nil
}

// toTextStats returns the statistics of the text messages of a step, or nil for a step that sends none.
func toTextStats(stats *model.AutomationStepStats) (*figures.Texts, error) {
	if definition.Sends(stats.At.Type) != definition.MediumText {
		return nil, nil //nolint:nilnil // reported as null
	}
	counted, err := stats.At.Of.Page.Figures()
	if err != nil {
		return nil, err
	}
	out := figures.Texts{}
	if of := counted[stats.At.Of.ID]; of != nil {
		out = of.Texts(stats.At.Key, stats.Version)
	}
	return &out, nil
}

// originOf returns the run that sent an email, or nil if none did.
func originOf(email *model.Email) (*model.EmailAutomation, error) {
	if email.AutomationID == nil || email.RunID == nil {
		return nil, nil //nolint:nilnil // reported as null
	}
	found, err := email.Page.Origins()
	if err != nil {
		return nil, err
	}
	of := found[email.ID]
	return &model.EmailAutomation{AutomationID: *email.AutomationID, RunID: *email.RunID,
		AutomationName: nilIfEmpty(of.AutomationName), StepKey: nilIfEmpty(of.StepKey), Runs: email.Page.Runs}, nil
}
