package graph

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/graph/connection"
	"github.com/postrider/postrider/graph/inquiry"
	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/automations"
	"github.com/postrider/postrider/modules/automations/expression"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/runtime/storage/page"
)

func runFilter(request page.Request, in *model.AutomationRunFilter) automations.RunFilter {
	if in == nil {
		return automations.RunFilter{Request: request}
	}
	since, until := timeRange(in.StartedAt)
	return automations.RunFilter{Request: request, AutomationID: stringOrEmpty(in.AutomationID),
		Status: orEmpty(in.Status),
		UserID: stringOrEmpty(in.UserID), Email: stringOrEmpty(in.Email),
		Step: stringOrEmpty(in.Step), Version: orDefault(in.Version, 0), Since: since, Until: until}
}

func eventFilter(in *model.CustomEventFilter) automations.EventFilter {
	if in == nil {
		return automations.EventFilter{}
	}
	since, until := timeRange(in.CreatedAt)
	return automations.EventFilter{Name: stringOrEmpty(in.Name), UserID: stringOrEmpty(in.UserID),
		Email:  stringOrEmpty(in.Email),
		Source: strings.ToLower(orEmpty(in.Source)), Q: stringOrEmpty(in.Query),
		Since: since, Until: until}
}

// runPage connects runs that were loaded together with their details, loaded by details.
func (r *Resolver) runPage(ctx context.Context, accountID string, rows []*ent.AutomationRun,
	details func() (map[string]automations.RunDetail, error)) []*model.AutomationRun {
	shared := &model.AutomationRunPage{Details: details,
		Emails: sync.OnceValues(func() (map[string][]*model.Email, error) {
			found, err := details()
			if err != nil {
				return nil, err
			}
			return r.emailsOfRuns(ctx, accountID, found)
		})}
	out := make([]*model.AutomationRun, len(rows))
	for i, row := range rows {
		out[i] = &model.AutomationRun{AutomationRun: row, Page: shared}
	}
	return out
}

// detailsOf loads the details of runs once.
func (r *Resolver) detailsOf(ctx context.Context, accountID string,
	rows []*ent.AutomationRun) func() (map[string]automations.RunDetail, error) {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	return loadOnce(ctx, accountID, ids, r.parts.Automations.Details)
}

// emailsOfRuns returns the emails of runs by run ID, all of them as one page.
func (r *Resolver) emailsOfRuns(ctx context.Context, accountID string,
	runs map[string]automations.RunDetail) (map[string][]*model.Email, error) {
	by := map[string]string{}
	ids := []string{}
	for _, run := range runs {
		for _, emailID := range run.Emails() {
			by[emailID] = run.ID
			ids = append(ids, emailID)
		}
	}
	out := map[string][]*model.Email{}
	if len(ids) == 0 {
		return out, nil
	}
	rows, err := r.parts.Emails.GetMany(ctx, accountID, ids...)
	if err != nil {
		return nil, err
	}
	for _, email := range r.emailPage(ctx, accountID, rows) {
		out[by[email.ID]] = append(out[by[email.ID]], email)
	}
	return out, nil
}

func toWait(run automations.RunDetail) *model.AutomationWait {
	if run.Waiting == nil {
		return nil
	}
	out := &model.AutomationWait{Step: run.WaitingStep.Key, Events: append([]string{}, run.Waiting.Events...),
		Until: run.Waiting.Until}
	if !run.Waiting.Since.IsZero() {
		out.Since = &run.Waiting.Since
	}
	if b := run.Blocked; b != nil {
		out.Reason = &model.AutomationWaitReason{Code: b.Code, Message: b.Message, Since: b.Since}
	}
	return out
}

// toRunTimeline converts a timeline, and counts the data of all entries against the budget for bodies.
func toRunTimeline(ctx context.Context, list []automations.TimelineEntry) ([]*model.AutomationRunTimelineEntry, error) {
	out := make([]*model.AutomationRunTimelineEntry, len(list))
	for i, e := range list {
		entry := &model.AutomationRunTimelineEntry{At: e.At, Source: e.Source, StepKey: nilIfEmpty(e.StepKey)}
		switch {
		case e.Event != nil:
			entry.Type, entry.Status, entry.SubjectID, entry.Data = e.Event.Name, nilIfEmpty(e.Event.Outcome),
				nilIfEmpty(e.Event.ID), e.Event.Data
		case e.Step != nil:
			entry.Type, entry.Status, entry.Error, entry.Data = e.Step.Type, nilIfEmpty(e.Step.Status),
				nilIfEmpty(e.Step.Error), e.Step.Output
		case e.Fact != nil:
			entry.Type, entry.SubjectID, entry.Data = string(e.Fact.Type), nilIfEmpty(e.Fact.SubjectID), e.Fact.Data
		case e.Blocked != nil:
			entry.Type, entry.Status, entry.Error, entry.Data = e.Blocked.Type, nilIfEmpty(runs.StatusWaiting),
				nilIfEmpty(e.Blocked.String()), json.RawMessage(`{}`)
		}
		if err := inquiry.Spend(ctx, len(entry.Data)); err != nil {
			return nil, err
		}
		out[i] = entry
	}
	return out, nil
}

// customEventPage connects custom events that were loaded together with the runs they refer to.
func (r *Resolver) customEventPage(ctx context.Context, accountID string,
	rows []*ent.CustomEvent) []*model.CustomEvent {
	var ids []string
	for _, row := range rows {
		for _, m := range row.Matches {
			ids = append(ids, m.RunID)
		}
	}
	runs := r.runsOf(ctx, accountID, ids)
	return connection.ConvertList(rows,
		func(row *ent.CustomEvent) *model.CustomEvent { return &model.CustomEvent{CustomEvent: row, Runs: runs} })
}

func toMatches(e *model.CustomEvent) []*model.CustomEventMatch {
	out := make([]*model.CustomEventMatch, len(e.Matches))
	for i, m := range e.Matches {
		out[i] = &model.CustomEventMatch{AutomationID: m.AutomationID, Version: m.Version, Outcome: m.Outcome,
			RunID: nilIfEmpty(m.RunID), Error: nilIfEmpty(m.Error), Runs: e.Runs}
	}
	return out
}

func toExplanation(ctx context.Context, e automations.EventExplanation) (*model.CustomEventExplanation, error) {
	out := &model.CustomEventExplanation{Matches: make([]*model.ExplainedMatch, len(e.Matches)),
		NearMisses: make([]*model.NearMiss, len(e.NearMisses))}
	for i, m := range e.Matches {
		match := &model.ExplainedMatch{AutomationID: m.AutomationID, AutomationName: nilIfEmpty(m.AutomationName),
			Version: m.Version, Outcome: m.Outcome, RunID: nilIfEmpty(m.RunID),
			StepKey: nilIfEmpty(m.StepKey), Error: nilIfEmpty(m.Error),
			Conditions: make([]*model.ExplainedCondition, len(m.Conditions))}
		for n := range m.Conditions {
			var err error
			if match.Conditions[n], err = toCondition(ctx, &m.Conditions[n]); err != nil {
				return nil, err
			}
		}
		out.Matches[i] = match
	}
	for i, m := range e.NearMisses {
		condition, err := toCondition(ctx, m.Condition)
		if err != nil {
			return nil, err
		}
		out.NearMisses[i] = &model.NearMiss{Kind: m.Kind, AutomationID: nilIfEmpty(m.AutomationID),
			RunID:   nilIfEmpty(m.RunID),
			StepKey: nilIfEmpty(m.StepKey), EventID: nilIfEmpty(m.EventID),
			Name: m.Name, Condition: condition}
	}
	return out, nil
}

// toCondition converts a condition. It counts the values of the parts as bodies, because a part can contain all data of
// an event.
func toCondition(ctx context.Context, e *expression.Explanation) (*model.ExplainedCondition, error) {
	if e == nil {
		return nil, nil //nolint:nilnil // null means none
	}
	out := &model.ExplainedCondition{Text: e.Text, Result: e.Result, Error: nilIfEmpty(e.Error),
		Parts: make([]*model.ExplainedPart, len(e.Parts))}
	for i, p := range e.Parts {
		value, err := json.Marshal(p.Value)
		if err != nil {
			return nil, fmt.Errorf("encode a part of a condition: %w", err)
		}
		if err := inquiry.Spend(ctx, len(value)); err != nil {
			return nil, err
		}
		out.Parts[i] = &model.ExplainedPart{Text: p.Text, Value: value, Error: nilIfEmpty(p.Error)}
	}
	return out, nil
}
