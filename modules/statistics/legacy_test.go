package statistics

import (
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/statistics/chunk"
	"github.com/postrider/postrider/modules/statistics/rollup"
	"github.com/postrider/postrider/runtime/storage/db"
)

// storedDay is a row of statistics_days.
type storedDay struct {
	rollup.RowKey
	Start     time.Time
	Sizes     [rollup.Placements]int64
	Counts    [4]int
	Figures   [rollup.Placements][]byte
	Latencies [rollup.Placements][]byte
}

func (tr *traffic) storedDays() []storedDay {
	tr.t.Helper()
	rows, err := db.All(tr.t.Context(), tr.db.SQL, func(d *storedDay) []any {
		return []any{&d.AccountID, &d.Kind, &d.Start, &d.Key, &d.DomainID, &d.APIKeyID, &d.TemplateID, &d.AutomationID,
			&d.Sizes[0], &d.Sizes[1],
			&d.Counts[0], &d.Counts[1], &d.Counts[2], &d.Counts[3], &d.Figures[0], &d.Latencies[0], &d.Figures[1],
			&d.Latencies[1]}
	}, `SELECT account_id, kind, start, key, domain_id, api_key_id, template_id, automation_id, event_size, email_size, domains, tags, sender_domains, sender_tags,
		event_figures, event_latencies, email_figures, email_latencies FROM statistics_days ORDER BY account_id, kind, start, domain_id, api_key_id, template_id, automation_id, key`)
	if err != nil {
		tr.t.Fatal(err)
	}
	return rows
}

// storeAsOlderProgram stores a row in the tables that older versions fill, in each of their grains.
func (tr *traffic) storeAsOlderProgram(d storedDay) {
	tr.t.Helper()
	grains := map[int]time.Duration{15: rollup.Quarter, 60: time.Hour, 1440: 24 * time.Hour}
	for placed := range rollup.Placements {
		key := func(grain, slot int) []any {
			start := d.Start.Add(time.Duration(slot) * rollup.Quarter).Truncate(grains[grain])
			return []any{d.AccountID, grain, int(placed), int(d.Kind), start, d.DomainID, d.APIKeyID, d.TemplateID,
				d.AutomationID, d.Key}
		}
		err := chunk.EachFigures(d.Figures[placed], func(slot int, mask uint64, f *chunk.SlotCounts) {
			var figures chunk.SlotCounts
			figures.AddMasked(mask, f)
			for grain := range grains {
				args := key(grain, slot)
				for _, count := range figures {
					args = append(args, count)
				}
				tr.exec(`INSERT INTO statistics AS s VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)
					ON CONFLICT (account_id, grain, placed, kind, start, domain_id, api_key_id, template_id, automation_id, key) DO UPDATE SET accepted = s.accepted + excluded.accepted`, args...)
			}
		})
		if err != nil {
			tr.t.Fatal(err)
		}
		err = chunk.EachLatency(d.Latencies[placed], func(l chunk.Latency) {
			for grain := range grains {
				tr.exec(`INSERT INTO statistics_latencies AS s VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
					ON CONFLICT (account_id, grain, placed, kind, start, domain_id, api_key_id, template_id, automation_id, key, bin) DO UPDATE SET recipients = s.recipients + excluded.recipients`,
					append(key(grain, l.Slot), l.Bin, l.Count)...)
			}
		})
		if err != nil {
			tr.t.Fatal(err)
		}
	}
}

// takeOverAll migrates all hours, and returns their number.
func (tr *traffic) takeOverAll() (hours int) {
	tr.t.Helper()
	for {
		more, err := tr.takeOver(tr.t.Context())
		if err != nil {
			tr.t.Fatal(err)
		}
		if !more {
			return hours
		}
		hours++
	}
}

// The statistics that older versions stored become exactly the rows that the current version stores, once no
// older version runs. An interrupted migration continues.
func TestLegacyStatisticsAreMigrated(t *testing.T) {
	t.Parallel()
	tr := newTraffic(t, 11)
	first := time.Date(2026, 10, 3, 20, 0, 0, 0, time.UTC)
	for i := range 20 {
		tr.sends(first.Add(time.Duration(i) * 17 * time.Minute)) // over midnight
	}
	tr.horizon.at = first.Add(7 * 24 * time.Hour)
	if err := tr.Count(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := tr.storedDays()
	if len(want) == 0 {
		t.Fatal("no email was counted")
	}
	tr.exec(`DELETE FROM statistics_days`)
	for _, d := range want {
		if d.Kind <= rollup.Domain { // older versions had no other kinds
			tr.storeAsOlderProgram(d)
		}
	}

	tr.exec(`INSERT INTO nodes (id, name, version, schema, roles, started_at, seen_at, claims_from) VALUES (1, 'older', '0.9.0', '20261126000000', '[]', now(), now(), now())`)
	if hours := tr.takeOverAll(); hours > 0 || len(tr.storedDays()) > 0 {
		t.Errorf("%d hours were migrated while an older version still counts, want none", hours)
	}
	tr.exec(`DELETE FROM nodes`)

	if more, err := tr.takeOver(t.Context()); err != nil || !more {
		t.Fatalf("migrating the first hour returned %t, %v", more, err)
	}
	if hours := tr.takeOverAll(); hours < 10 {
		t.Errorf("%d more hours were migrated, want those of several days", hours)
	}
	if diff := gocmp.Diff(want, tr.storedDays()); diff != "" {
		t.Errorf("the migrated rows differ from those of the current version (-want +got):\n%s",
			diff)
	}
	for _, table := range []string{"statistics", "statistics_latencies"} {
		if left, err := db.One(t.Context(), tr.db.SQL, db.Value[int], `SELECT count(*) FROM `+table); err != nil || left > 0 {
			t.Errorf("%d rows remain in %s (%v), want none", left, table, err)
		}
	}
}
