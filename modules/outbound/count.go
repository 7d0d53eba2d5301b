package outbound

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/postrider/postrider/runtime/storage/db"
)

// countSQL locks the counters in order of source id, as every process does.
const countSQL = `
INSERT INTO source_days (source_id, day, deliveries)
SELECT c.id, to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD'), c.n FROM unnest($1::text[], $2::bigint[]) AS c (id, n) ORDER BY c.id
ON CONFLICT (source_id, day) DO UPDATE SET deliveries = source_days.deliveries + EXCLUDED.deliveries
RETURNING source_id, day, deliveries`

// Count stores the deliveries that begin now, by the label of their way, as part of tx. It counts only ways
// that warm up; without them it runs no statement. The counters stay locked until tx ends.
func (w *Ways) Count(ctx context.Context, tx db.Execer, labels []string) error {
	counts := w.beginDeliveries(labels)
	if len(counts) == 0 {
		return nil
	}
	ids := slices.Sorted(maps.Keys(counts))
	numbers := make([]int64, len(ids))
	for i, id := range ids {
		numbers[i] = counts[id]
	}
	used := map[string]int64{}
	var day string
	err := db.Each(ctx, tx, func(row db.Row) error {
		var id string
		var n int64
		if err := row.Scan(&id, &day, &n); err != nil {
			return err
		}
		used[id] = n
		return nil
	}, countSQL, db.Array(ids), db.Array(numbers))
	if err != nil {
		return fmt.Errorf("count deliveries by source: %w", err)
	}
	w.learnCounts(day, used)
	return nil
}

// IsCounted reports whether deliveries by the way of a label must be counted (Count), because an address of the way
// warms up.
func (w *Ways) IsCounted(label string) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	o := w.known.findOutlet(label)
	return o != nil && !o.isWarm()
}

// beginDeliveries removes deliveries from the pending count and returns the numbers to count by source.
func (w *Ways) beginDeliveries(labels []string) map[string]int64 {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	var counts map[string]int64
	for _, label := range labels {
		o := w.known.findOutlet(label)
		if o == nil {
			continue
		}
		o.pending = max(0, o.pending-1)
		for i := range o.sources {
			src := &o.sources[i]
			if src.warm {
				continue
			}
			if counts == nil {
				counts = map[string]int64{}
			}
			counts[src.id]++
			src.used++
		}
	}
	return counts
}

// learnCounts adopts the database's counts, which include other processes. If the transaction is rolled back,
// the counts are too high until the next read.
func (w *Ways) learnCounts(day string, used map[string]int64) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.known.day != day {
		return // a new day has begun: the next read loads its allowances
	}
	for _, o := range w.known.byAddress {
		for i := range o.sources {
			if n, counted := used[o.sources[i].id]; counted {
				o.sources[i].used = max(o.sources[i].used, n)
			}
		}
	}
}

// findOutlet returns the outlet of a label, or nil if the label belongs to no outlet or the outlet is no
// longer used.
func (s *snapshot) findOutlet(label string) *outlet {
	if s == nil || len(s.byAddress) == 0 || label == "" {
		return nil
	}
	addr, err := netip.ParseAddr(label)
	if err != nil {
		return nil // a smarthost
	}
	return s.byAddress[addr]
}
