package sending

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// acceptedEmails counts emails that were stored. Each status has its counter from the start, so
// that counting is one atomic addition.
type acceptedEmails map[email.Status]prometheus.Counter

// newAcceptedEmails registers the counters; without a registry they count for nobody.
func newAcceptedEmails(reg prometheus.Registerer) (acceptedEmails, error) {
	all := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: telemetry.Namespace, Name: "emails_accepted_total",
		Help: "Emails that were stored for their senders: sent is on its way, scheduled waits for its time, failed was suppressed."}, []string{"status"})
	counters := acceptedEmails{}
	for _, status := range []email.Status{email.StatusSent, email.StatusScheduled, email.StatusFailed} {
		counters[status] = all.WithLabelValues(string(status))
	}
	if reg == nil {
		return counters, nil
	}
	return counters, reg.Register(all)
}

// count counts what one submission brought.
func (c acceptedEmails) count(items []*acceptance) {
	for _, a := range items {
		if counter := c[a.email.status]; a.err == nil && counter != nil {
			counter.Inc()
		}
	}
}
