package runs

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/postrider/postrider/modules/automations/machine"
	"github.com/postrider/postrider/runtime/base/cache"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Version is an activated version of an automation.
type Version struct {
	*machine.Program

	AccountID    string
	AutomationID string
	Number       int
	Document     json.RawMessage // stored definition
	DomainIDs    []string        // domains from which it may send; empty: all of the account
}

type versionKey struct {
	automationID string
	number       int
}

// Store returns compiled versions. Versions never change, so the compiled form is cached. It is safe for
// concurrent use.
type Store struct {
	compiled *cache.Cache[versionKey, *Version]
}

// maxVersions is the maximum number of cached versions.
const maxVersions = 5_000

// NewStore returns a new Store.
func NewStore() *Store {
	return &Store{cache.New(cache.Config[versionKey, *Version]{Max: maxVersions, TTL: time.Hour, Sliding: true})}
}

// ProgramOf returns the program of a live run: its version, or the definition of a trial.
func (s *Store) ProgramOf(ctx context.Context, on db.Execer, l *LiveRun) (*Version, error) {
	if l.Trial == nil {
		return s.Get(ctx, on, l.Run.AutomationID, l.Run.Version)
	}
	program, err := machine.Parse(l.Trial)
	if err != nil {
		return nil, fmt.Errorf("the trial %s: %w", l.Run.ID, err)
	}
	return &Version{Program: program, AccountID: l.AccountID, AutomationID: l.Run.AutomationID}, nil
}

const versionSQL = `SELECT account_id, definition::text, coalesce(domain_ids::text, '[]') FROM automation_versions WHERE automation_id = $1 AND number = $2`

type versionRow struct {
	accountID, definition string
	domainIDs             []string
}

// Get returns a version. It reads through on, which may be a transaction. It returns NotFound if the version
// does not exist.
func (s *Store) Get(ctx context.Context, on db.Execer, automationID string, number int) (*Version, error) {
	key := versionKey{automationID, number}
	if known, ok := s.compiled.GetIfPresent(key); ok {
		return known, nil
	}
	found, err := db.One(ctx, on, func(r *versionRow) []any {
		return []any{&r.accountID, &r.definition,
			db.ScanJSON(&r.domainIDs)}
	}, versionSQL, automationID, number)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fault.NoSuch("version", fmt.Sprintf("%d of %s", number, automationID))
	}
	if err != nil {
		return nil, fmt.Errorf("read version %d of %s: %w", number, automationID, err)
	}
	program, err := machine.Parse([]byte(found.definition))
	if err != nil {
		return nil, fmt.Errorf("version %d of %s: %w", number, automationID, err)
	}
	v := &Version{Program: program, AccountID: found.accountID, AutomationID: automationID, Number: number,
		Document: json.RawMessage(found.definition), DomainIDs: found.domainIDs}
	s.compiled.Set(key, v)
	return v, nil
}
