package figures

import (
	"context"
	"strconv"
	"strings"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/sms"
	"github.com/postrider/postrider/modules/tracking"
	"github.com/postrider/postrider/runtime/base/cache"
	"github.com/postrider/postrider/runtime/storage/db"
)

const (
	keptFor = 10 * time.Second
	most    = 10_000           // number of cached automations
	patient = 20 * time.Second // time limit of a count, which continues after the caller has left
)

// Mails counts the outcomes of emails by group.
type Mails interface {
	GroupCounts(ctx context.Context, accountID string, groups, emailIDs []string) (map[string]records.Counts, error)
}

// Visits counts opened and clicked emails by group.
type Visits interface {
	GroupReach(ctx context.Context, accountID string, groups, emailIDs []string) (map[string]tracking.Reach, error)
}

// TextMessages counts text messages by step.
type TextMessages interface {
	StepCounts(ctx context.Context, accountID string, automationIDs ...string) ([]sms.StepCount, error)
}

// Sources are the modules that own the messages of automations.
type Sources struct {
	fx.In

	Emails Mails
	Visits Visits       `optional:"true"` // nil if the module tracking is disabled
	Texts  TextMessages `optional:"true"` // nil if the module sms is disabled
}

// Service counts outcomes and caches the results for ten seconds. It is safe for concurrent use.
type Service struct {
	db     *db.DB
	near   Sources
	counts *cache.Cache[string, *Figures]
	emails *cache.Cache[string, *ByStep]
}

// New creates a service.
func New(d *db.DB, near Sources) *Service {
	return &Service{db: d, near: near,
		counts: cache.New(cache.Config[string, *Figures]{Max: most, TTL: keptFor, LoadTimeout: patient}),
		emails: cache.New(cache.Config[string, *ByStep]{Max: most, TTL: keptFor, LoadTimeout: patient})}
}

// CountsEngagement reports whether opens and clicks are counted.
func (s *Service) CountsEngagement() bool { return s.near.Visits != nil }

// GetMany returns the figures of an account's automations, keyed by id. For an automation of another account, all of
// them are 0.
func (s *Service) GetMany(ctx context.Context, accountID string, automationIDs ...string) (map[string]*Figures, error) {
	keys := make([]string, len(automationIDs))
	for i, id := range automationIDs {
		keys[i] = cacheKey(accountID, id)
	}
	found, err := s.counts.BulkGet(ctx, keys, func(ctx context.Context, keys []string) (map[string]*Figures, error) {
		ids := make([]string, len(keys))
		for i, key := range keys {
			_, ids[i], _ = strings.Cut(key, separator)
		}
		counted, err := s.count(ctx, accountID, ids)
		out := make(map[string]*Figures, len(counted))
		for id, f := range counted {
			out[cacheKey(accountID, id)] = f
		}
		return out, err
	})
	if err != nil {
		return nil, err
	}
	out := make(map[string]*Figures, len(automationIDs))
	for i, id := range automationIDs {
		out[id] = found[keys[i]]
	}
	return out, nil
}

// Emails returns the email figures of an account's automations, keyed by automation id, in one version; 0 means
// all versions.
func (s *Service) Emails(ctx context.Context, accountID string, version int,
	automationIDs ...string) (map[string]*ByStep, error) {
	out := make(map[string]*ByStep, len(automationIDs))
	for _, id := range automationIDs {
		found, err := s.emails.Get(ctx, cacheKey(accountID, id)+separator+strconv.Itoa(version),
			func(ctx context.Context, _ string) (*ByStep, error) {
				return s.countEmails(ctx, accountID, id, version)
			})
		if err != nil {
			return nil, err
		}
		out[id] = found
	}
	return out, nil
}

const separator = " " // never occurs in an id

// cacheKey returns a cache key that includes the account, so that no account can read another's figures.
func cacheKey(accountID, automationID string) string { return accountID + separator + automationID }
