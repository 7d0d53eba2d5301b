package automations

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/automation"
	"github.com/postrider/postrider/ent/automationversion"
	"github.com/postrider/postrider/ent/customevent"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Get returns one automation of the account.
func (s *Service) Get(ctx context.Context, accountID, automationID string) (*ent.Automation, error) {
	accountID = id.HomeAccount(accountID)
	if !id.Is(id.Automation, automationID) {
		return nil, fault.NoSuch("automation", automationID)
	}
	a, err := s.db.Ent.Automation.Query().Where(automation.AccountID(accountID), automation.ID(automationID)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, fault.NoSuch("automation", automationID)
	}
	return a, err
}

// IsWithin reports whether an automation sends only from the given domains. An automation that was never
// activated sends from none. It returns NotFound.
func (s *Service) IsWithin(ctx context.Context, accountID, automationID string, domainIDs []string) (bool, error) {
	a, err := s.Get(ctx, accountID, automationID)
	if err != nil || a.Version == nil {
		return err == nil, err
	}
	v, err := s.Version(ctx, accountID, automationID, *a.Version)
	if err != nil {
		return false, err
	}
	return rights.IsSubset(v.DomainIds, domainIDs), nil
}

// Filter selects automations. Empty fields match everything.
type Filter struct {
	page.Request

	Status string // draft, active, paused, archived
	Event  string // event that starts it
	Name   string // part of the name, ignoring case
}

// List returns one page of the account's automations, newest first.
func (s *Service) List(ctx context.Context, accountID string, f Filter) (out page.Page[*ent.Automation], err error) {
	accountID = id.HomeAccount(accountID)
	q, err := s.queryMatching(accountID, f)
	if err != nil {
		return out, err
	}
	return page.ReadNewest(ctx, s.cursors, page.List{Name: "automations", AccountID: accountID}, f.Request, q,
		func(a *ent.Automation) string { return a.ID })
}

// CountAutomations counts the automations that match a filter, up to a limit.
func (s *Service) CountAutomations(ctx context.Context, accountID string, f Filter, most int) (int, error) {
	accountID = id.HomeAccount(accountID)
	q, err := s.queryMatching(accountID, f)
	if err != nil {
		return 0, err
	}
	found, err := q.Limit(most).IDs(ctx)
	return len(found), err
}

func (s *Service) queryMatching(accountID string, f Filter) (*ent.AutomationQuery, error) {
	if err := fault.CheckTexts(map[string]string{"event": f.Event, "q": f.Name}); err != nil {
		return nil, err
	}
	q := s.db.Ent.Automation.Query().Where(automation.AccountID(accountID))
	if f.Status != "" {
		if err := automation.StatusValidator(automation.Status(f.Status)); err != nil {
			return nil, fault.InvalidField("status", "must be one of draft, active, paused, archived")
		}
		q = q.Where(automation.StatusEQ(automation.Status(f.Status)))
	}
	if f.Event != "" {
		q = q.Where(automation.Event(f.Event))
	}
	if f.Name != "" {
		q = q.Where(automation.NameContainsFold(f.Name))
	}
	return q, nil
}

// Versions returns the latest hundred versions of an automation, newest first.
func (s *Service) Versions(ctx context.Context, accountID, automationID string) ([]*ent.AutomationVersion, error) {
	accountID = id.HomeAccount(accountID)
	if _, err := s.Get(ctx, accountID, automationID); err != nil {
		return nil, err
	}
	rows, err := s.db.Ent.AutomationVersion.Query().
		Where(automationversion.AccountID(accountID), automationversion.AutomationID(automationID)).
		Order(ent.Desc(automationversion.FieldNumber)).Limit(page.MaxLimit).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("list versions: %w", err)
	}
	return rows, nil
}

// Version returns one version of an automation.
func (s *Service) Version(ctx context.Context, accountID, automationID string,
	number int) (*ent.AutomationVersion, error) {
	accountID = id.HomeAccount(accountID)
	v, err := s.db.Ent.AutomationVersion.Query().
		Where(automationversion.AccountID(accountID), automationversion.AutomationID(automationID),
			automationversion.Number(number)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, fault.NoSuch("version", fmt.Sprintf("%d of %s", number, automationID))
	}
	return v, err
}

// EventFilter selects custom events. Empty fields match everything.
type EventFilter struct {
	page.Request

	Name         string
	UserID       string
	Email        string
	Source       string     // api, dashboard, system
	Since, Until *time.Time // received at or after Since and before Until
	Q            string     // words to find in name, user ID and address, an ID, and fields (eventFields)

	ID string // set from Q
}

// Event returns one custom event of the account.
func (s *Service) Event(ctx context.Context, accountID, eventID string) (*ent.CustomEvent, error) {
	if !id.Is(id.CustomEvent, eventID) {
		return nil, fault.NoSuch("event", eventID)
	}
	e, err := s.db.Ent.CustomEvent.Query().Where(customevent.AccountID(accountID), customevent.ID(eventID)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, fault.NoSuch("event", eventID)
	}
	return e, err
}
