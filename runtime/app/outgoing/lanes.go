package outgoing

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/runtime/mail/lane"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
)

// newLanes creates the lanes of this process, with the operator's limits if there are any.
func newLanes(file string, connections int, smarthost *smtpclient.Smarthost, among func(way string) int,
	reg prometheus.Registerer) (*lane.Registry, error) {
	c := lane.Config{Connections: max(1, connections), Profiles: lane.BuiltIn(), Among: among}
	if file != "" {
		rows, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("POSTRIDER_LANES_FILE: %w", err)
		}
		if c.Profiles, err = c.Profiles.Extend(strings.NewReader(string(rows))); err != nil {
			return nil, fmt.Errorf("POSTRIDER_LANES_FILE %s:\n%w", file, err)
		}
	}
	if smarthost != nil {
		set := smarthost.Set()
		c.Smarthost = &set
	}
	lanes := lane.New(c)
	if err := reg.Register(newLaneMetrics(lanes.Snapshot)); err != nil {
		return nil, fmt.Errorf("lane metrics: %w", err)
	}
	return lanes, nil
}

// maxLaneSeries bounds the lanes named in the metrics, because there can be as many lanes as mail hosts in
// the world. All other lanes are summed as otherLanes, along with destinations whose mail hosts are not
// known yet.
const (
	maxLaneSeries = 30
	otherLanes    = "other"
)

// laneMetrics reads the lanes at each scrape.
type laneMetrics struct {
	snapshot                                     func() []lane.Snapshot
	window, active, reserved, paused, rate, made *prometheus.Desc

	mu    sync.Mutex
	seen  map[laneID]laneAttempts // at the last scrape
	other laneAttempts            // attempts of lanes while they were not named; it only increases
}

type laneID struct{ way, name string }

// laneAttempts counts attempts by result.
type laneAttempts [4]uint64

var laneResults = [4]string{"delivered", "refused", "throttled", "unreachable"}

var _ prometheus.Collector = (*laneMetrics)(nil)

func newLaneMetrics(snapshot func() []lane.Snapshot) *laneMetrics {
	desc := func(name, help string, more ...string) *prometheus.Desc {
		return prometheus.NewDesc("postrider_lane_"+name, help, append([]string{"lane", "way", "provider"}, more...),
			nil)
	}
	return &laneMetrics{
		snapshot: snapshot, seen: map[laneID]laneAttempts{},
		window: desc("window",
			"Connections that the lane may have now. A lane is a set of mail hosts reached by one route; the 30 lanes with most attempts are named."),
		active:   desc("active", "Connections of the lane in use."),
		reserved: desc("reserved", "Deliveries of the lane that are claimed from the queue and not finished."),
		paused:   desc("paused", "1 while the lane makes no attempts; under other, the number of such lanes."),
		rate:     desc("rate", "Messages per minute that the lane may send now; 0 if unlimited."),
		made: desc("attempts_total",
			"Attempts of the lane by result: delivered, refused (about one message), throttled, unreachable.",
			"result"),
	}
}

// Describe implements prometheus.Collector.
func (m *laneMetrics) Describe(to chan<- *prometheus.Desc) { prometheus.DescribeByCollect(m, to) }

// Collect implements prometheus.Collector.
func (m *laneMetrics) Collect(to chan<- prometheus.Metric) {
	m.mu.Lock()
	defer m.mu.Unlock()
	states := m.snapshot()
	slices.SortFunc(states, func(a, b lane.Snapshot) int {
		return cmp.Or(cmp.Compare(sum(attemptsOf(b)), sum(attemptsOf(a))), cmp.Compare(a.Way, b.Way),
			cmp.Compare(a.Name, b.Name))
	})
	seen := make(map[laneID]laneAttempts, len(states))
	var rest lane.Snapshot
	pausedRest, named := 0, 0
	for _, s := range states {
		id, made := laneID{s.Way, s.Name}, attemptsOf(s)
		if !s.Provisional {
			seen[id] = made
		}
		paused := 0
		if !s.PausedUntil.IsZero() {
			paused = 1
		}
		if !s.Provisional && named < maxLaneSeries {
			named++
			m.send(to, s, paused, made, s.Name, s.Way, s.Provider)
			continue
		}
		rest.Window, rest.Active, rest.Reserved = rest.Window+s.Window, rest.Active+s.Active, rest.Reserved+s.Reserved
		pausedRest += paused
		for i, before := range m.seen[id] { // a recreated lane starts from zero
			m.other[i] += made[i] - min(before, made[i])
		}
	}
	m.seen = seen
	m.send(to, rest, pausedRest, m.other, otherLanes, "", "")
}

func (m *laneMetrics) send(to chan<- prometheus.Metric, s lane.Snapshot, paused int, made laneAttempts,
	labels ...string) {
	gauge := func(d *prometheus.Desc, value float64) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	gauge(m.window, float64(s.Window))
	gauge(m.active, float64(s.Active))
	gauge(m.reserved, float64(s.Reserved))
	gauge(m.paused, float64(paused))
	gauge(m.rate, s.Rate)
	for i, result := range laneResults {
		to <- prometheus.MustNewConstMetric(m.made, prometheus.CounterValue, float64(made[i]),
			append(slices.Clone(labels), result)...)
	}
}

func attemptsOf(s lane.Snapshot) laneAttempts {
	return laneAttempts{s.Delivered, s.Refused, s.Throttled, s.Unreachable}
}

func sum(a laneAttempts) (total uint64) {
	for _, n := range a {
		total += n
	}
	return total
}
