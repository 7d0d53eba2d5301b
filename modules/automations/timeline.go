package automations

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// Sources of timeline entries.
const (
	SourceEvent = "event" // a custom event that affected the run
	SourceRun   = "run"   // a fact of the run
	SourceStep  = "step"  // a step that ended
	SourceEmail = "email" // a fact of an email of the run
	SourceSMS   = "sms"   // a fact of a text message of the run
	SourceWait  = "wait"  // a step that will be retried, and the reason
)

// maxTimelineEvents is the maximum number of events in a timeline.
const maxTimelineEvents = 100

// TimelineEntry is one entry in the history of a run. Exactly one of Event, Step, Fact and Blocked is
// set.
type TimelineEntry struct {
	At      time.Time
	Source  string
	StepKey string // key of the step, or of the step whose message the fact is about
	Event   *TimelineEvent
	Step    *ent.AutomationStep
	Fact    *event.Fact
	Blocked *BlockedStep
}

// BlockedStep is a timeline entry for a step of a live run that could not be finished yet.
type BlockedStep struct {
	*runs.Blocker

	Type string
}

// TimelineEvent is a custom event in a timeline.
type TimelineEvent struct {
	ID, Name, Outcome string // the event's effect on the run
	Data              json.RawMessage
	At                time.Time
}

// Timeline returns the history of a run in order of time: events, steps, and facts about the run and the
// messages it sent. Facts about single steps are omitted, because the steps are listed. It returns NotFound.
func (s *Service) Timeline(ctx context.Context, accountID, runID string) ([]TimelineEntry, error) {
	run, err := s.Run(ctx, accountID, runID)
	if err != nil {
		return nil, err
	}
	return s.TimelineOf(ctx, run)
}

// TimelineOf returns the timeline of a run that the caller has already read.
func (s *Service) TimelineOf(ctx context.Context, run RunDetail) ([]TimelineEntry, error) {
	list, err := s.eventsOf(ctx, run)
	if err != nil {
		return nil, err
	}
	sentBy := map[string]*ent.AutomationStep{}
	subjects := []string{run.ID}
	for _, step := range run.Steps {
		list = append(list, TimelineEntry{At: step.EndedAt, Source: SourceStep, StepKey: step.Key, Step: step})
		for _, subject := range subjectsOf(step) {
			sentBy[subject] = step
			subjects = append(subjects, subject)
		}
	}
	if run.Blocked != nil {
		list = append(list, TimelineEntry{At: run.Blocked.Since, Source: SourceWait, StepKey: run.WaitingStep.Key,
			Blocked: &BlockedStep{run.Blocked, run.WaitingStep.Type}})
	}
	facts, err := s.timeline.Facts(ctx, run.AccountID, subjects...)
	if err != nil {
		return nil, fmt.Errorf("read facts of a run: %w", err)
	}
	for subject, found := range facts {
		for i := range found {
			if f := &found[i]; f.Type != event.AutomationStepCompleted {
				list = append(list, entryOf(f, subject, sentBy[subject]))
			}
		}
	}
	slices.SortStableFunc(list, func(x, y TimelineEntry) int {
		return cmp.Or(x.At.Compare(y.At), cmp.Compare(x.rank(), y.rank()), cmp.Compare(x.id(), y.id()))
	})
	return list, nil
}

func entryOf(f *event.Fact, subject string, by *ent.AutomationStep) TimelineEntry {
	out := TimelineEntry{At: f.CreatedAt, Source: SourceRun, Fact: f}
	if by == nil {
		return out
	}
	out.StepKey, out.Source = by.Key, SourceSMS
	if by.EmailID != nil && *by.EmailID == subject {
		out.Source = SourceEmail
	}
	return out
}

// subjectsOf returns the ids of the messages that a step sent.
func subjectsOf(step *ent.AutomationStep) (ids []string) {
	if step.EmailID != nil {
		ids = append(ids, *step.EmailID)
	}
	var output struct {
		SMS string `json:"sms_id"`
	}
	if err := json.Unmarshal(step.Output, &output); err == nil && output.SMS != "" {
		ids = append(ids, output.SMS)
	}
	return ids
}

// rank orders entries with the same time: events, the start, steps, sent messages, the end.
func (e TimelineEntry) rank() int {
	switch {
	case e.Source == SourceEvent:
		return 0
	case e.Fact != nil && e.Fact.Type == event.AutomationStarted:
		return 1
	case e.Source == SourceStep, e.Source == SourceWait:
		return 2
	case e.Source != SourceRun:
		return 3
	}
	return 4
}

func (e TimelineEntry) id() string {
	switch {
	case e.Event != nil:
		return e.Event.ID
	case e.Fact != nil:
		return e.Fact.ID
	case e.Blocked != nil:
		return "" // exactly one is set
	}
	return fmt.Sprintf("%020d", e.Step.ID)
}

// eventsOfSQL finds the events of the run's person that affected the run.
const eventsOfSQL = `
SELECT e.id, e.name, coalesce(m->>'outcome', ''), coalesce(e.data::text, '{}'), e.created_at
FROM custom_events e CROSS JOIN LATERAL jsonb_array_elements(e.matches) AS m
WHERE e.account_id = $1 AND (e.user_id = $2 AND $2 <> '' OR e.email_key = $3 AND $3 <> '') AND e.created_at >= $4 AND e.created_at <= $5
	AND m->>'run_id' = $6
ORDER BY e.created_at, e.id LIMIT $7`

type eventRow struct {
	TimelineEvent

	data string
}

// eventsOf returns the event that started a run, and the events that affected it later.
func (s *Service) eventsOf(ctx context.Context, run RunDetail) ([]TimelineEntry, error) {
	until := time.Now().Add(time.Hour) // allows for a slow clock
	if run.EndedAt != nil {
		until = run.EndedAt.Add(time.Second)
	}
	rows, err := db.All(ctx, s.db.SQL,
		func(r *eventRow) []any { return []any{&r.ID, &r.Name, &r.Outcome, &r.data, &r.At} }, eventsOfSQL,
		run.AccountID, orEmpty(run.UserID), orEmpty(run.EmailKey), run.StartedAt, until, run.ID, maxTimelineEvents)
	if err != nil {
		return nil, fmt.Errorf("read events of a run: %w", err)
	}
	var list []TimelineEntry
	if !slices.ContainsFunc(rows, func(r eventRow) bool { return r.ID == run.EventID }) {
		first, err := startOfRun(run)
		if err != nil {
			return nil, err
		}
		list = append(list, first)
	}
	for i := range rows {
		rows[i].Data = json.RawMessage(rows[i].data)
		list = append(list, TimelineEntry{At: rows[i].At, Source: SourceEvent, Event: &rows[i].TimelineEvent})
	}
	return list, nil
}

// startOfRun returns the run's own copy of the event that started it, because the event may be deleted first.
func startOfRun(run RunDetail) (TimelineEntry, error) {
	var e struct {
		Name string          `json:"name"`
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(run.Event, &e); err != nil {
		return TimelineEntry{}, fmt.Errorf("read the event of %s: %w", run.ID, err)
	}
	if len(e.Data) == 0 {
		e.Data = json.RawMessage("{}")
	}
	return TimelineEntry{At: run.StartedAt, Source: SourceEvent,
		Event: &TimelineEvent{ID: run.EventID, Name: e.Name, Outcome: "started", Data: e.Data, At: run.StartedAt}}, nil
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
