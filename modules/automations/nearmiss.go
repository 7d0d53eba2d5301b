package automations

import (
	"context"
	"slices"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/customevent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/runtime/storage/db"
)

// explainWaits finds live runs that wait for this event name but were not resumed: either the person has the
// run's address under another user id, or the condition is not true.
func (e *explainer) explainWaits(ctx context.Context) error {
	live, err := runs.FindWaiting(ctx, e.db.SQL, runs.Person{AccountID: e.stored.AccountID, UserID: e.who.UserID,
		EmailKey: e.who.EmailKey}, maxWaitsOfOnePerson)
	if err != nil {
		return err
	}
	for _, l := range live {
		if !l.State.Waiting.AwaitsEvent(e.event.Name) || l.Run.Trigger.ID == e.event.ID ||
			l.Run.StartedAt.After(e.event.CreatedAt) {
			continue
		}
		v, err := e.versions.ProgramOf(ctx, e.db.SQL, l)
		if err != nil {
			return err
		}
		m := NearMiss{Kind: WaitOfAnotherPerson, AutomationID: l.Run.AutomationID, RunID: l.Run.ID,
			StepKey: v.Definition.Steps[l.State.Step].Key, Name: e.event.Name}
		if l.Run.Identity.Matches(e.who) {
			m.Kind, m.Condition = WaitConditionFalse, v.ExplainWait(ctx, l.Run, l.State, e.event)
			if m.Condition == nil || m.Condition.Result {
				continue // the event was already used, or is older than the wait accepts
			}
		}
		if !slices.ContainsFunc(e.stored.Matches, func(known shape.EventMatch) bool {
			return known.RunID == m.RunID &&
				known.Error == ""
		}) {
			e.addMiss(m)
		}
	}
	return nil
}

// explainOthers finds events with the same name and address but a different user id, which automations treat as
// another person.
func (e *explainer) explainOthers(ctx context.Context) error {
	if e.who.EmailKey == "" || e.who.UserID == "" {
		return nil
	}
	list, err := e.db.Ent.CustomEvent.Query().Where(customevent.AccountID(e.stored.AccountID),
		customevent.EmailKey(e.who.EmailKey), customevent.Name(e.stored.Name), customevent.Trial(false),
		customevent.UserIDNotNil(), customevent.UserIDNEQ(e.who.UserID)).Order(ent.Desc(customevent.FieldCreatedAt)).
		Limit(maxMissesOfOneKind).All(ctx)
	if err != nil {
		return err
	}
	for _, other := range list {
		e.addMiss(NearMiss{Kind: EventOfAnotherPerson, EventID: other.ID, Name: other.Name})
	}
	return nil
}

const spellingsSQL = `
SELECT automation_id, event FROM automation_listens WHERE account_id = $1 AND lower(event) = lower($2) AND event <> $2 AND starts ORDER BY automation_id LIMIT $3`

// findSpellings finds automations whose trigger differs from the event name only in capitalization.
func (e *explainer) findSpellings(ctx context.Context) error {
	list, err := db.All(ctx, e.db.SQL, func(m *NearMiss) []any { return []any{&m.AutomationID, &m.Name} }, spellingsSQL,
		e.stored.AccountID, e.stored.Name, maxMissesOfOneKind)
	if err != nil {
		return err
	}
	for _, m := range list {
		m.Kind = NameSpelledOtherwise
		e.addMiss(m)
	}
	return nil
}
