package statistics

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/postrider/postrider/modules/statistics/rollup"
)

// Each sending domain has its own counters, up to a limit; the others share theirs.
func TestOutcomesAreCountedByDomain(t *testing.T) {
	t.Parallel()
	o, r := newOutcomes(), rollup.New()
	add := func(domain, kind string, count int64) {
		now := time.Now()
		r.Add(&rollup.Facts{AccountID: "acc_1", Type: kind, At: [rollup.Placements]time.Time{now, now}, Count: count,
			By: rollup.By{DomainID: domain, APIKeyID: fmt.Sprint("key_", count)}, Named: true, Domain: "example.com",
			Recipients: 1, Bin: -1})
	}
	add("dom_1", "email.delivered", 7)
	add("dom_1", "email.delivered", 2)
	add("dom_1", "email.complained", 1)
	add("", "email.delivered", 5) // of a deleted email
	o.add(r)
	for result, want := range map[string]float64{"delivered": 9, "complained": 1, "bounced": 0} {
		if got := testutil.ToFloat64(o.recipients.WithLabelValues("dom_1", result)); got != want {
			t.Errorf("the domain has %v recipients with the result %s, want %v", got, result, want)
		}
	}
	r = rollup.New()
	for i := range 2 * maxSenderSeries {
		add(fmt.Sprint("dom_more_", i), "email.bounced", 1)
	}
	o.add(r)
	if got, want := testutil.CollectAndCount(o.recipients), 3*(maxSenderSeries+1); got != want {
		t.Errorf("there are %d series, want %d", got, want)
	}
	if got := testutil.ToFloat64(o.recipients.WithLabelValues(otherSenders, "bounced")); got != maxSenderSeries+1 {
		t.Errorf("%v recipients of further domains bounced, want %d", got, maxSenderSeries+1)
	}
}
