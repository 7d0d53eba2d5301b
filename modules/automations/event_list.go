package automations

import (
	"context"
	"strings"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/customevent"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/storage/search"
)

// Events returns one page of the account's custom events, newest first.
func (s *Service) Events(ctx context.Context, accountID string,
	f EventFilter) (out page.Page[*ent.CustomEvent], err error) {
	words, err := f.readText()
	if err != nil {
		return out, err
	}
	q, err := s.matchingEvents(accountID, f)
	if err != nil {
		return out, err
	}
	list, idOf := page.List{Name: "custom events", AccountID: accountID}, func(e *ent.CustomEvent) string { return e.ID }
	if len(words) == 0 {
		return page.ReadNewest(ctx, s.cursors, list, f.Request, q, idOf)
	}
	return page.Read(s.cursors, list, f.Request, func(at page.Position) ([]*ent.CustomEvent, error) {
		found, err := s.findEvents(ctx, accountID, f, words, at, at.Rows())
		if err != nil {
			return nil, err
		}
		return q.Where(customevent.IDIn(found...)).Order(at.Order(customevent.FieldID)).All(ctx)
	}, idOf)
}

// CountEvents counts the events that match a filter, up to a limit.
func (s *Service) CountEvents(ctx context.Context, accountID string, f EventFilter, most int) (int, error) {
	words, err := f.readText()
	if err != nil {
		return 0, err
	}
	if len(words) > 0 {
		found, err := s.findEvents(ctx, accountID, f, words, page.Position{}, most)
		return len(found), err
	}
	q, err := s.matchingEvents(accountID, f)
	if err != nil {
		return 0, err
	}
	found, err := q.Limit(most).IDs(ctx)
	return len(found), err
}

func (s *Service) matchingEvents(accountID string, f EventFilter) (*ent.CustomEventQuery, error) {
	if err := fault.CheckTexts(map[string]string{"name": f.Name, "user_id": f.UserID, "source": f.Source}); err != nil {
		return nil, err
	}
	q := s.db.Ent.CustomEvent.Query().Where(customevent.AccountID(accountID))
	if f.ID != "" {
		q = q.Where(customevent.ID(f.ID))
	}
	if f.Name != "" {
		q = q.Where(customevent.Name(f.Name))
	}
	if f.UserID != "" {
		q = q.Where(customevent.UserID(f.UserID))
	}
	if f.Email != "" {
		q = q.Where(customevent.EmailKey(runs.EmailKey(f.Email)))
	}
	if f.Source != "" {
		q = q.Where(customevent.Source(f.Source))
	}
	if f.Since != nil {
		q = q.Where(customevent.CreatedAtGTE(*f.Since),
			customevent.IDGTE(id.Since(id.CustomEvent, f.Since.Add(-clocks))))
	}
	if f.Until != nil {
		q = q.Where(customevent.CreatedAtLT(*f.Until), customevent.IDLT(id.Since(id.CustomEvent, f.Until.Add(clocks))))
	}
	return q, nil
}

// eventFields are the fields that a search text for events may contain.
var eventFields = []string{"name", "user", "email", "source", "after", "before"}

// readText applies the fields of the search text to f, and returns its words.
func (f *EventFilter) readText() ([]string, error) {
	wrong := fault.Fields{}
	words, terms := search.ReadText(wrong, f.Q, eventFields...)
	texts := map[string]*string{"name": &f.Name, "user": &f.UserID, "email": &f.Email, "source": &f.Source}
	for _, t := range terms {
		switch {
		case t.Field == "after":
			f.Since = t.Date(wrong, "q")
		case t.Field == "before":
			f.Until = t.Date(wrong, "q")
		case t.Field != "":
			t.SetOnce(wrong, "q", texts[t.Field])
		case id.Is(id.CustomEvent, t.Value):
			t.SetOnce(wrong, "q", &f.ID)
		default:
			words = append(words, t.Value)
		}
	}
	return words, wrong.Err()
}

// customEvents finds events by a part of a name, a user ID or an address among the newest ones, and by a complete one
// among all.
var customEvents = search.Table{Name: "custom_events", Prefix: id.CustomEvent, Time: "created_at",
	Columns: "name, user_id, email, email_key, source", Texts: `concat_ws(' ', name, user_id, email)`,
	Lookups: func(q *db.Query, word string) []search.Lookup {
		all := []search.Lookup{{SQL: `name = ` + q.Arg(word), Ordered: true}, {SQL: `user_id = ` + q.Arg(word)}}
		if key := runs.EmailKey(word); key != "" {
			all = append(all, search.Lookup{SQL: `email_key = ` + q.Arg(key)})
		}
		return all
	}}

func (s *Service) findEvents(ctx context.Context, accountID string, f EventFilter, words []string, at page.Position,
	n int) ([]string, error) {
	terms := search.Terms{ID: f.ID, Words: words}
	terms.ReadTime(fault.Fields{}, f.Since, f.Until)
	conditions := func(q *db.Query) (all []string) {
		for column, wanted := range map[string]string{"name": f.Name, "user_id": f.UserID, "source": f.Source,
			"email_key": runs.EmailKey(f.Email)} {
			if strings.TrimSpace(wanted) != "" {
				all = append(all, column+` = `+q.Arg(wanted))
			}
		}
		return all
	}
	return customEvents.Find(ctx, s.db.Ent, search.PageRequest{AccountID: accountID, StartAfter: at.ID, Back: at.Back,
		Limit: n, Terms: terms, Conditions: conditions})
}
