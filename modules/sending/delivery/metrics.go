package delivery

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/ent/recipient"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/mail/bounce"
)

// result is the outcome of an attempt and the class of its refusal.
type result struct {
	state recipient.State
	class bounce.Class
}

// results counts settled attempts. Every counter exists from the start, so that counting is one atomic
// addition.
type results map[result]prometheus.Counter

// newResults creates the counters and registers them with reg unless it is nil.
func newResults(reg prometheus.Registerer) (results, error) {
	all := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: telemetry.Namespace, Name: "recipients_total",
		Help: "Attempts with a stored outcome, by result and class of refusal. Deferred recipients are tried again; the other results are final."}, []string{"result", "class"})
	counters := results{{recipient.StateDelivered, ""}: all.WithLabelValues(string(recipient.StateDelivered), "")}
	for _, state := range []recipient.State{recipient.StateDeferred, recipient.StateBounced, recipient.StateFailed} {
		for _, class := range append(slices.Clone(bounce.Classes), "") {
			counters[result{state, class}] = all.WithLabelValues(string(state), string(class))
		}
	}
	return counters, telemetry.Register(reg, all)
}

// count counts attempts whose outcome is stored.
func (r results) count(list []*finishedJob) {
	for _, f := range list {
		if counter := r[result{f.verdict.state, classOf(f.out)}]; counter != nil {
			counter.Inc()
		}
	}
}
