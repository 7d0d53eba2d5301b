package statistics

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

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
	add("", "email.delivered", 5) // for a deleted email
	o.add(r)
	for _, want := range []string{`domain_id="dom_1",result="delivered"} 9`, `domain_id="dom_1",result="complained"} 1`,
		`domain_id="dom_1",result="bounced"} 0`, `domain_id="other",result="delivered"} 0`} {
		if got := scrape(t, o.recipients); !strings.Contains(got, want) {
			t.Errorf("the metrics lack %s:\n%s", want, got)
		}
	}
	r = rollup.New()
	for i := range 2 * maxSenderSeries {
		add(fmt.Sprint("dom_more_", i), "email.bounced", 1)
	}
	o.add(r)
	got := scrape(t, o.recipients)
	if series, want := strings.Count(got, "postrider_sender_recipients_total{"), 3*(maxSenderSeries+1); series != want {
		t.Errorf("there are %d series, want %d", series, want)
	}
	if want := fmt.Sprintf(`domain_id="other",result="bounced"} %d`, maxSenderSeries+1); !strings.Contains(got, want) {
		t.Errorf("the metrics lack %s for the further domains", want)
	}
}

// scrape returns the metrics of a collector as they are served.
func scrape(t *testing.T, c prometheus.Collector) string {
	t.Helper()
	registry := prometheus.NewRegistry()
	if err := registry.Register(c); err != nil {
		t.Fatal(err)
	}
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(answer,
		httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	return answer.Body.String()
}
