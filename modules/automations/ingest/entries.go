package ingest

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/machine"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/batch"
)

// entries are the latest runs of persons, by automation and hash.
type entries struct {
	hashes [][]byte
	known  map[entryName]time.Time
	fresh  []entry
	asked  map[string]bool // automations whose re-entry rule needs the entries
}

type entryName struct{ automationID, hash string }

// entry is a run that a person started.
type entry struct {
	accountID, automationID string
	hash                    []byte
	at                      time.Time
}

// hashNames returns the keyed hashes of names, in the same order.
func hashNames(key []byte, accountID string, names []machine.Name) [][]byte {
	out := make([][]byte, len(names))
	for i, name := range names {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(accountID + "\x00" + name.Kind + "\x00" + name.Value))
		out[i] = mac.Sum(nil)
	}
	return out
}

const entriesSQL = `SELECT automation_id, person, last_at FROM automation_entries WHERE automation_id = ANY($1::text[]) AND person = ANY($2::bytea[])`

// readEntries reads when the persons last had runs of automations whose re-entry rule depends on it.
func (r *round) readEntries(ctx context.Context, persons []runs.Person) error {
	r.entries = entries{hashes: r.hashes, known: map[entryName]time.Time{}, asked: map[string]bool{}}
	var automations []string
	for _, list := range r.listens {
		for _, l := range list {
			if !l.starts || r.entries.asked[l.automationID] {
				continue
			}
			v, err := r.versions.Get(ctx, r.tx, l.automationID, l.version)
			if err != nil {
				return err
			}
			if mode := v.Definition.Trigger.ReEntry.Mode; mode == definition.Once || mode == definition.AtMostEvery {
				r.entries.asked[l.automationID] = true
				automations = append(automations, l.automationID)
			}
		}
	}
	if len(automations) == 0 {
		return nil
	}
	var hashes [][]byte
	for _, p := range persons {
		for _, key := range r.hashes {
			hashes = append(hashes, hashNames(key, p.AccountID, p.Identity().MatchingNames())...)
		}
	}
	rows, err := db.All(ctx, r.tx, func(e *entry) []any { return []any{&e.automationID, &e.hash, &e.at} }, entriesSQL,
		db.Array(automations), db.Array(hashes))
	if err != nil {
		return fmt.Errorf("read entries of persons: %w", err)
	}
	for _, e := range rows {
		r.entries.known[entryName{e.automationID, string(e.hash)}] = e.at
	}
	return nil
}

// lastEntry returns when the person last had a run of an automation.
func (e *entries) lastEntry(automationID string, p *posting) (last time.Time, had bool) {
	for _, key := range e.hashes {
		for _, h := range hashNames(key, p.AccountID, p.identity().MatchingNames()) {
			if at, known := e.known[entryName{automationID, string(h)}]; known {
				had = true
				if at.After(last) {
					last = at
				}
			}
		}
	}
	return last, had
}

// addEntry records a run.
func (e *entries) addEntry(automationID string, p *posting) {
	if !e.asked[automationID] {
		return
	}
	for _, h := range hashNames(e.hashes[0], p.AccountID, p.identity().Names()) {
		e.known[entryName{automationID, string(h)}] = p.at
		e.fresh = append(e.fresh, entry{p.AccountID, automationID, h, p.at})
	}
}

var entryRows = batch.New("v",
	batch.Text("account_id", func(e entry) string { return e.accountID }),
	batch.Text("automation_id", func(e entry) string { return e.automationID }),
	batch.Bytes("person", func(e entry) []byte { return e.hash }),
	batch.Int("runs", func(entry) int { return 1 }),
	batch.Time("last_at", func(e entry) time.Time { return e.at }),
)

var entrySQL = db.Compile(entryRows.Insert("automation_entries AS e") + `
ON CONFLICT (automation_id, person) DO UPDATE SET runs = e.runs + 1, last_at = greatest(e.last_at, excluded.last_at)`)

// storeEntries stores the runs that persons started, only the newest per person.
func (r *round) storeEntries(ctx context.Context) error {
	var list []entry
	place := map[entryName]int{}
	for _, e := range r.entries.fresh {
		name := entryName{e.automationID, string(e.hash)}
		if i, known := place[name]; known {
			list[i] = e
			continue
		}
		place[name] = len(list)
		list = append(list, e)
	}
	if len(list) == 0 {
		return nil
	}
	if _, err := r.tx.ExecContext(ctx, entrySQL.Text, entrySQL.Args(entryRows.Rows(list))...); err != nil {
		return fmt.Errorf("store entries of persons: %w", err)
	}
	return nil
}
