package statistics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/modules/statistics/chunk"
	"github.com/postrider/postrider/modules/statistics/rollup"
)

const (
	// maxSenderSeries bounds the domains named in the metrics. Mail of further ones is counted as otherSenders.
	maxSenderSeries = 40
	otherSenders    = "other"
)

// senderResults are the figures in the metrics, by the value of their label.
var senderResults = map[string]int{"delivered": rollup.Delivered, "bounced": rollup.Bounced,
	"complained": rollup.Complained}

// outcomes count the outcome of mail by sending domain, for alerts about bounce and complaint rates. Each event is
// counted once, by the process that adds it to the statistics.
type outcomes struct {
	recipients *prometheus.CounterVec
	named      map[string]bool
}

func newOutcomes() *outcomes {
	o := &outcomes{named: map[string]bool{}, recipients: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "postrider_sender_recipients_total",
		Help: "Recipients by sending domain and result: delivered, bounced, complained. A process names 40 domains; the others are counted as other. Take the sum over processes.",
	}, []string{"domain_id", "result"})}
	for result := range senderResults {
		o.recipients.WithLabelValues(otherSenders, result)
	}
	return o
}

// add counts events that were added to the statistics. It is called by one goroutine at a time.
func (o *outcomes) add(counted *rollup.Rollup) {
	totals := map[string]*chunk.SlotCounts{} // by domain
	for row, series := range counted.Rows {
		if row.Kind != rollup.Sender || row.DomainID == "" {
			continue
		}
		total := totals[row.DomainID]
		if total == nil {
			total = new(chunk.SlotCounts)
			totals[row.DomainID] = total
		}
		for _, point := range series[rollup.ByEvent].Points() {
			for n, count := range point.Figures {
				total[n] += count
			}
		}
	}
	for domain, total := range totals {
		if !o.named[domain] {
			if len(o.named) >= maxSenderSeries {
				domain = otherSenders
			} else {
				o.named[domain] = true
			}
		}
		for result, figure := range senderResults {
			o.recipients.WithLabelValues(domain, result).Add(float64(max(0, total[figure])))
		}
	}
}
