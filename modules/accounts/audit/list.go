package audit

import (
	"context"
	"strings"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/auditentry"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/storage/search"
)

// Filter narrows a list of entries. Zero fields match everything.
type Filter struct {
	Actor  string // an id
	Target string // an id
	Action string // a complete action, or a prefix such as member
	Since  time.Time
	Until  time.Time // exclusive
	Q      string    // words to find in an entry, ids, and fields (textFields)

	ID       string            // set from Q
	Contains []search.Contains // set from Q
}

// List returns one page of an account's entries, newest first. An empty account lists the entries about the
// installation. Error: Invalid.
func (s *Service) List(ctx context.Context, accountID string, f Filter,
	r page.Request) (page.Page[*ent.AuditEntry], error) {
	terms, query, err := s.readFilter(accountID, &f)
	if err != nil {
		return page.Page[*ent.AuditEntry]{}, err
	}
	list, idOf := page.List{Name: "audit_log", AccountID: accountID}, func(e *ent.AuditEntry) string { return e.ID }
	if !terms.Search() {
		return page.ReadNewest(ctx, s.cursors, list, r.OrDefault(), query, idOf)
	}
	return page.Read(s.cursors, list, r.OrDefault(), func(at page.Position) ([]*ent.AuditEntry, error) {
		found, err := s.find(ctx, accountID, f, terms, at, at.Rows())
		if err != nil {
			return nil, err
		}
		return query.Where(auditentry.IDIn(found...)).Order(at.Order(auditentry.FieldID)).All(ctx)
	}, idOf)
}

// Count returns the number of entries that match a filter, at most most.
func (s *Service) Count(ctx context.Context, accountID string, f Filter, most int) (int, error) {
	terms, query, err := s.readFilter(accountID, &f)
	if err != nil {
		return 0, err
	}
	if terms.Search() {
		found, err := s.find(ctx, accountID, f, terms, page.Position{}, most)
		return len(found), err
	}
	found, err := query.Limit(most).IDs(ctx)
	return len(found), err
}

func (s *Service) readFilter(accountID string, f *Filter) (terms search.Terms, query *ent.AuditEntryQuery, err error) {
	if terms.Words, err = f.readText(); err != nil {
		return terms, nil, err
	}
	terms.ID, terms.Contains, terms.Since, terms.Until = f.ID, f.Contains, f.Since, f.Until
	if terms.Search() && accountID == "" {
		return terms, nil, fault.InvalidField("q", "cannot search entries about the installation")
	}
	query, err = s.buildQuery(accountID, *f)
	return terms, query, err
}

func (s *Service) buildQuery(accountID string, f Filter) (*ent.AuditEntryQuery, error) {
	if !f.Since.IsZero() && !f.Until.IsZero() && !f.Since.Before(f.Until) {
		return nil, fault.InvalidField("until", "must be after since")
	}
	of := auditentry.AccountID(accountID)
	if accountID == "" {
		of = auditentry.AccountIDIsNil()
	}
	query := s.db.Ent.AuditEntry.Query().Where(of)
	if f.ID != "" {
		query.Where(auditentry.ID(f.ID))
	}
	if f.Actor != "" {
		query.Where(auditentry.ActorID(f.Actor))
	}
	if f.Target != "" {
		query.Where(auditentry.Target(f.Target))
	}
	if f.Action != "" {
		query.Where(auditentry.Or(auditentry.Action(f.Action),
			auditentry.ActionHasPrefix(strings.TrimSuffix(f.Action, ".")+".")))
	}
	if !f.Since.IsZero() {
		query.Where(auditentry.CreatedAtGTE(f.Since))
	}
	if !f.Until.IsZero() {
		query.Where(auditentry.CreatedAtLT(f.Until))
	}
	return query, nil
}

// textFields are the fields that a search text for entries may contain.
var textFields = []string{"by", "on", "action", "after", "before"}

// readText applies the fields of the search text to f, and returns its words.
func (f *Filter) readText() ([]string, error) {
	wrong := fault.Fields{}
	words, terms := search.ReadText(wrong, f.Q, textFields...)
	for _, t := range terms {
		switch {
		case t.Field == "after":
			if at := t.Date(wrong, "q"); at != nil {
				f.Since = *at
			}
		case t.Field == "before":
			if at := t.Date(wrong, "q"); at != nil {
				f.Until = *at
			}
		case t.Field == "action":
			t.SetOnce(wrong, "q", &f.Action)
		case t.Field == "by":
			f.setOrContain(wrong, t, &f.Actor, `actor_name`)
		case t.Field == "on":
			f.setOrContain(wrong, t, &f.Target, targetTexts)
		case id.Is(id.AuditEntry, t.Value):
			t.SetOnce(wrong, "q", &f.ID)
		default:
			words = append(words, t.Value)
		}
	}
	return words, wrong.Err()
}

// setOrContain filters by an id, or by a part of a name.
func (f *Filter) setOrContain(wrong fault.Fields, t search.Term, into *string, texts string) {
	if !id.Time(t.Value).IsZero() {
		t.SetOnce(wrong, "q", into)
		return
	}
	f.Contains = append(f.Contains, t.Contains(wrong, texts))
}

// targetTexts contain the target and, for most entries, its name.
const targetTexts = `concat_ws(' ', target, jsonb_path_query_array(changes, 'strict $.**')::text)`

// entries finds entries by a part of a text among the newest ones, and by the id of an actor or target among all.
var entries = search.Table{Name: "audit_entries", Prefix: id.AuditEntry, Time: "created_at",
	Columns: "actor_id, actor_name, action, target, changes, ip, request_id",
	Texts:   `concat_ws(' ', action, actor_id, actor_name, ` + targetTexts + `, ip, request_id)`,
	Lookups: func(q *db.Query, word string) []search.Lookup {
		return []search.Lookup{{SQL: `actor_id = ` + q.Arg(word), Ordered: true}, {SQL: `target = ` + q.Arg(word), Ordered: true}}
	}}

func (s *Service) find(ctx context.Context, accountID string, f Filter, terms search.Terms, at page.Position,
	n int) ([]string, error) {
	conditions := func(q *db.Query) (all []string) {
		for column, wanted := range map[string]string{"actor_id": f.Actor, "target": f.Target} {
			if wanted != "" {
				all = append(all, column+` = `+q.Arg(wanted))
			}
		}
		if f.Action != "" {
			all = append(all, `(action = `+q.Arg(f.Action)+` OR starts_with(action, `+
				q.Arg(strings.TrimSuffix(f.Action, ".")+".")+`))`)
		}
		return all
	}
	return entries.Find(ctx, s.db.Ent, search.PageRequest{AccountID: accountID, StartAfter: at.ID, Back: at.Back,
		Limit: n, Terms: terms, Conditions: conditions})
}
