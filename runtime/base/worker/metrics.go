package worker

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics counts the work of all workers of a process by queue, and of all tasks by task.
type Metrics struct {
	claimed, settled, late, released, abandoned *prometheus.CounterVec
	errors                                      *prometheus.CounterVec
	running                                     *prometheus.GaugeVec
	duration                                    *prometheus.HistogramVec
	tasks                                       *prometheus.CounterVec
	failing                                     *prometheus.GaugeVec
}

// NewMetrics registers the metrics with reg, unless reg is nil.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "postrider", Subsystem: "worker", Name: name,
			Help: help},
			append([]string{"queue"}, labels...))
	}
	m := &Metrics{
		claimed:   counter("claimed_total", "Jobs claimed."),
		settled:   counter("settled_total", "Jobs whose result was stored or found outdated."),
		late:      counter("late_total", "Jobs whose run returned after the end of their lease."),
		released:  counter("released_total", "Jobs handed back without a run."),
		abandoned: counter("abandoned_total", "Jobs whose result could not be stored."),
		errors:    counter("errors_total", "Failed steps.", "step"),
		running: prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "postrider", Subsystem: "worker",
			Name: "running",
			Help: "Jobs running now."}, []string{"queue"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "postrider", Subsystem: "worker",
			Name: "run_seconds",
			Help: "Duration of runs.", Buckets: []float64{.001, .005, .02, .1, .5, 2, 10, 60, 300}}, []string{"queue"}),
		tasks: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "postrider", Subsystem: "worker",
			Name: "task_steps_total",
			Help: "Steps of background tasks by how they ended: done, failed, panicked."}, []string{"task", "end"}),
		failing: prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "postrider", Subsystem: "worker",
			Name: "task_failures",
			Help: "Consecutive failed steps of a background task; 0 if the latest step worked."}, []string{"task"}),
	}
	if reg != nil {
		reg.MustRegister(m.claimed, m.settled, m.late, m.released, m.abandoned, m.errors, m.running,
			m.duration, m.tasks, m.failing)
	}
	return m
}

// series are the metrics of one queue.
type series struct {
	claimed, settled, late, released, abandoned prometheus.Counter
	claimErrors, settleErrors, extendErrors     prometheus.Counter
	releaseErrors, panics                       prometheus.Counter
	running                                     prometheus.Gauge
	duration                                    prometheus.Observer
}

func (m *Metrics) seriesOf(queue string) series {
	if m == nil {
		m = NewMetrics(nil)
	}
	step := func(name string) prometheus.Counter { return m.errors.WithLabelValues(queue, name) }
	return series{
		claimed: m.claimed.WithLabelValues(queue), settled: m.settled.WithLabelValues(queue),
		late:     m.late.WithLabelValues(queue),
		released: m.released.WithLabelValues(queue), abandoned: m.abandoned.WithLabelValues(queue),
		claimErrors: step("claim"), settleErrors: step("settle"), extendErrors: step("extend"),
		releaseErrors: step("release"), panics: step("panic"),
		running: m.running.WithLabelValues(queue), duration: m.duration.WithLabelValues(queue),
	}
}

// taskSeries are the metrics of one task.
type taskSeries struct {
	done, failed, panicked prometheus.Counter
	failing                prometheus.Gauge
}

func (m *Metrics) ofTask(name string) taskSeries {
	if m == nil {
		m = NewMetrics(nil)
	}
	end := func(how string) prometheus.Counter { return m.tasks.WithLabelValues(name, how) }
	return taskSeries{done: end("done"), failed: end("failed"), panicked: end("panicked"),
		failing: m.failing.WithLabelValues(name)}
}

// condition logs when a step starts to fail and when it works again, and nothing in between. It belongs to
// one goroutine.
type condition struct {
	log      *slog.Logger
	step     string
	failures int
	since    time.Time
}

func (c *condition) recordFailure(err error, attrs ...any) {
	c.failures++
	if c.failures == 1 {
		c.since = time.Now()
		c.log.Warn("worker: "+c.step+" fails, retrying until it works", append([]any{"error", err}, attrs...)...)
	}
}

func (c *condition) recordSuccess() {
	if c.failures == 0 {
		return
	}
	c.log.Info("worker: "+c.step+" works again", "failures", c.failures, "after", time.Since(c.since).
		Round(time.Millisecond))
	c.failures = 0
}
