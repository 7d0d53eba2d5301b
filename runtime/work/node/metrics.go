package node

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// Register registers a metric that counts the live processes by role, as of the latest beat.
func (n *Node) Register(reg prometheus.Registerer) error {
	for _, role := range []string{Accepts, Delivers, Webhooks} {
		gauge := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "postrider_nodes",
			Help:        "Live processes by role; each process reports all of them.",
			ConstLabels: prometheus.Labels{"role": role}}, func() float64 { return float64(n.countAlive(role)) })
		if err := reg.Register(gauge); err != nil {
			return fmt.Errorf("node: %w", err)
		}
	}
	return nil
}

func (n *Node) countAlive(role string) (count int) {
	for _, p := range append([]Process{n.Self()}, n.Others()...) {
		if p.Alive && p.Is(role) {
			count++
		}
	}
	return count
}
