package sending

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// acceptedEmails counts stored emails.
type acceptedEmails map[email.Status]prometheus.Counter

// newAcceptedEmails creates the counters and registers them with reg unless it is nil.
func newAcceptedEmails(reg prometheus.Registerer) (acceptedEmails, error) {
	return telemetry.NewCounters(reg, "emails_accepted_total",
		"Emails accepted, by status: sent is being delivered, scheduled is waiting for its time, failed has a suppressed recipient.",
		"status", email.StatusSent, email.StatusScheduled, email.StatusFailed)
}

// count counts the stored emails of one submission.
func (c acceptedEmails) count(items []*acceptance) {
	for _, a := range items {
		if counter := c[a.email.status]; a.err == nil && counter != nil {
			counter.Inc()
		}
	}
}
