package sending

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// acceptedEmails counts stored emails. All its counters exist from the start, so counting is one atomic
// addition.
type acceptedEmails map[email.Status]prometheus.Counter

// newAcceptedEmails creates the counters and registers them with reg unless it is nil.
func newAcceptedEmails(reg prometheus.Registerer) (acceptedEmails, error) {
	all := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: telemetry.Namespace,
		Name: "emails_accepted_total",
		Help: "Emails accepted, by status: sent is being delivered, scheduled is waiting for its time, failed has a suppressed recipient."}, []string{"status"})
	counters := acceptedEmails{}
	for _, status := range []email.Status{email.StatusSent, email.StatusScheduled, email.StatusFailed} {
		counters[status] = all.WithLabelValues(string(status))
	}
	if reg == nil {
		return counters, nil
	}
	return counters, reg.Register(all)
}

// count counts the stored emails of one submission.
func (c acceptedEmails) count(items []*acceptance) {
	for _, a := range items {
		if counter := c[a.email.status]; a.err == nil && counter != nil {
			counter.Inc()
		}
	}
}
