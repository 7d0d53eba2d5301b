package worker

import (
	"runtime/debug"
	"time"
)

func (w *Worker[J, R]) runLoop() {
	for {
		select {
		case <-w.stopping:
			return
		case it := <-w.waiting:
			w.beginJob(it)
		}
	}
}

// beginJob starts the job, unless its lease is invalid or it has waited too long.
func (w *Worker[J, R]) beginJob(it *item[J]) {
	defer w.room.returnPlace()
	open := w.storing.waitUntilOpen(w.stopping) && w.claiming.waitUntilOpen(w.stopping) &&
		w.cfg.Process.AwaitRun(w.stopping)
	if !open || w.isStopping() || time.Since(it.sent) > w.cfg.startWithin() || !it.lease.IsValid() {
		w.releaseJob(it)
		return
	}
	w.held.add(it)
	if value, ok := w.runJob(it); ok {
		w.outcomes <- outcome[J, R]{item: it, value: value}
	} else {
		w.held.remove(it)
	}
}

func (w *Worker[J, R]) runJob(it *item[J]) (value R, ok bool) {
	ctx, unbind := it.lease.bindContext(w.runs)
	began := time.Now()
	w.metrics.running.Inc()
	defer func() {
		unbind()
		w.metrics.running.Dec()
		w.metrics.duration.Observe(time.Since(began).Seconds())
		if !it.lease.IsValid() {
			w.metrics.late.Inc()
		}
		if cause := recover(); cause != nil { // no result: the row is due again when its lease ends
			w.metrics.panics.Inc()
			w.log.Error("worker: a run panicked", "panic", cause, "stack", string(debug.Stack()))
			ok = false
		}
	}()
	return w.queue.Run(ctx, it.job, it.lease), true
}

func (w *Worker[J, R]) isStopping() bool {
	select {
	case <-w.stopping:
		return true
	default:
		return false
	}
}

// releaseJob hands a job back through the goroutine that writes.
func (w *Worker[J, R]) releaseJob(it *item[J]) {
	w.outcomes <- outcome[J, R]{item: it, released: true}
}

// releaseWaiting releases claimed jobs that no runner will start any more.
func (w *Worker[J, R]) releaseWaiting() {
	for {
		select {
		case it := <-w.waiting:
			w.releaseJob(it)
		default:
			return
		}
	}
}
