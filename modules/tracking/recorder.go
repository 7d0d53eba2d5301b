package tracking

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// recorder is a queue between the redirects, which never wait, and the database. If the queue is full because
// the database is slow or unavailable, hits are dropped and counted.
//
// Clicks are held for burstWindow before they are stored, because a scanner opens many links of a message in
// quick succession, and only the last one reveals that the first was part of the scan.
type recorder struct {
	store func(ctx context.Context, hits []hit) error
	log   *slog.Logger

	queue    chan hit
	bursts   bursts
	held     []hit // clicks, by time
	stopping chan struct{}
	done     chan struct{}
	storeCtx context.Context // ends when the time limit of stop has passed
	cut      context.CancelFunc
	once     sync.Once
	dropped  *prometheus.CounterVec
}

const (
	queueSize = 8192
	batchSize = 256 // per transaction
	maxHeld   = 8192
	retryMin  = 100 * time.Millisecond
	retryMax  = 5 * time.Second
)

func newRecorder(store func(context.Context, []hit) error, log *slog.Logger,
	registry prometheus.Registerer) (*recorder, error) {
	r := &recorder{store: store, log: log, queue: make(chan hit, queueSize),
		bursts:   bursts{byVisitor: map[visitor][]hit{}},
		stopping: make(chan struct{}), done: make(chan struct{}),
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: telemetry.Namespace, Subsystem: "tracking",
			Name: "dropped_total",
			Help: "Opens and clicks that were not recorded: the queue was full, or the database rejected them."},
			[]string{"reason"}),
	}
	r.storeCtx, r.cut = context.WithCancel(context.Background()) // lives as long as the recorder
	return r, telemetry.Register(registry, r.dropped)
}

func (r *recorder) start() { go r.run() }

// stop stores queued hits until ctx ends.
func (r *recorder) stop(ctx context.Context) error {
	r.once.Do(func() { close(r.stopping) })
	defer r.cut()
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		r.cut()
		<-r.done
		return errors.New("queued opens and clicks were not recorded")
	}
}

// offer queues a hit if there is room. It never waits.
func (r *recorder) offer(h hit) {
	select {
	case <-r.stopping:
		r.dropped.WithLabelValues("stopping").Inc()
		return
	default:
	}
	select {
	case r.queue <- h:
	default:
		r.dropped.WithLabelValues("queue_full").Inc()
	}
}

func (r *recorder) run() {
	defer close(r.done)
	for {
		ready, more := r.next()
		for len(ready) > 0 {
			size := min(len(ready), batchSize)
			r.flush(ready[:size])
			ready = ready[size:]
		}
		if !more {
			return
		}
	}
}

// next waits until hits can be stored. more is false for the last batch.
func (r *recorder) next() (ready []hit, more bool) {
	var due <-chan time.Time
	if len(r.held) > 0 {
		due = time.After(time.Until(r.held[0].at.Add(burstWindow)))
	}
	select {
	case h := <-r.queue:
		ready = r.hold(h, ready)
	case <-due:
	case <-r.stopping:
		for len(r.queue) > 0 {
			ready = r.hold(<-r.queue, ready)
		}
		return append(ready, r.release(len(r.held))...), false
	}
	for range min(len(r.queue), batchSize) {
		ready = r.hold(<-r.queue, ready)
	}
	return append(ready, r.release(max(r.countMatured(time.Now()), len(r.held)-maxHeld))...), true
}

// hold holds a click, or adds an open to ready.
func (r *recorder) hold(h hit, ready []hit) []hit {
	if h.mark.Kind != Click {
		return append(ready, h)
	}
	r.bursts.addClick(h)
	r.held = append(r.held, h)
	return ready
}

// countMatured counts the held clicks whose window has passed.
func (r *recorder) countMatured(now time.Time) int {
	count := 0
	for count < len(r.held) && now.Sub(r.held[count].at) >= burstWindow {
		count++
	}
	return count
}

// release classifies and returns the first count held clicks.
func (r *recorder) release(count int) []hit {
	if count <= 0 {
		return nil
	}
	ready := make([]hit, count)
	copy(ready, r.held)
	r.held = append(r.held[:0], r.held[count:]...)
	for i, h := range ready {
		if h.machine == "" && r.bursts.isBurst(h) {
			ready[i].machine = reasonBurst
		}
	}
	r.bursts.dropBefore(ready[count-1].at.Add(-burstWindow))
	return ready
}

// flush stores a batch, and retries while the database is unavailable. If the database rejects the batch, the
// hits are stored one by one, so that a bad one does not affect the others.
func (r *recorder) flush(batch []hit) {
	for wait := retryMin; ; wait = min(2*wait, retryMax) {
		err := r.store(r.storeCtx, batch)
		switch {
		case err == nil:
			return
		case r.storeCtx.Err() != nil:
			r.drop("stopping", batch, err)
			return
		case !fault.IsDatabaseUnavailable(err) && len(batch) == 1:
			r.drop("refused", batch, err)
			return
		case !fault.IsDatabaseUnavailable(err):
			for i := range batch {
				r.flush(batch[i : i+1])
			}
			return
		}
		r.log.Warn("database unavailable, retrying to record opens and clicks", telemetry.KeyCount, len(batch),
			telemetry.KeyError, err)
		select {
		case <-time.After(wait):
		case <-r.storeCtx.Done():
		}
	}
}

func (r *recorder) drop(reason string, batch []hit, err error) {
	r.dropped.WithLabelValues(reason).Add(float64(len(batch)))
	r.log.Error("cannot record opens and clicks", telemetry.KeyCount, len(batch), telemetry.KeyError, err)
}
