package worker

import (
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
)

// settleTries is how many times a result is tried that the database rejects for its content: a deadlock or
// a serialization failure goes away, bad data does not.
const settleTries = 5

func (w *Worker[J, R]) settleLoop() {
	defer close(w.settled)
	health := condition{log: w.log, step: "settle"}
	for first := range w.outcomes {
		ran, released := w.collectOutcomes(first)
		if len(ran) > 0 {
			w.settleBatch(ran, &health)
		}
		if len(released) > 0 {
			w.handBack(released)
		}
		// Not before the last result of an outage is stored: its lease may have ended, and a claim would
		// run the job again.
		if len(w.outcomes) == 0 {
			w.storing.open()
		}
	}
}

// collectOutcomes takes all outcomes that are ready, so that they share a commit.
func (w *Worker[J, R]) collectOutcomes(first outcome[J, R]) (ran []outcome[J, R], released []*item[J]) {
	for next, more := first, true; more; {
		if next.released {
			released = append(released, next.item)
		} else {
			ran = append(ran, next)
		}
		if len(ran) == w.cfg.Batch || len(released) == w.cfg.Batch {
			return ran, released
		}
		select {
		case next, more = <-w.outcomes:
		default:
			return ran, released
		}
	}
	return ran, released
}

// settleBatch stores a batch. While the database is unavailable, it retries. A batch that is
// rejected is split, to isolate the bad results.
func (w *Worker[J, R]) settleBatch(batch []outcome[J, R], health *condition) {
	for try := 1; ; try++ {
		back := w.cfg.Process.RecoverySignal()
		err := w.storeBatch(batch)
		w.cfg.Process.Report(err)
		if err == nil {
			health.recordSuccess()
			w.metrics.settled.Add(float64(len(batch)))
			w.forgetBatch(batch)
			return
		}
		w.metrics.settleErrors.Inc()
		switch {
		case fault.IsDatabaseUnavailable(err):
			w.storing.close()
			health.recordFailure(err)
		case len(batch) > 1:
			for i := range batch {
				w.settleBatch(batch[i:i+1], health)
			}
			return
		case try == settleTries:
			w.abandonBatch(batch, err)
			return
		}
		if !w.pauseUntilBack(w.cfg.Retry.Delay(try), back) {
			w.abandonBatch(batch, err)
			return
		}
	}
}

// pauseUntilBack waits before the next attempt, or until another operation of the process succeeds. It
// returns false if no time is left.
func (w *Worker[J, R]) pauseUntilBack(wait time.Duration, back <-chan struct{}) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-back:
	case <-w.writes.Done():
		return false
	}
	return true
}

// storeBatch calls Settle.
func (w *Worker[J, R]) storeBatch(batch []outcome[J, R]) (err error) {
	results := make([]Result[J, R], len(batch))
	for i, o := range batch {
		results[i] = Result[J, R]{Job: o.item.job, Value: o.value}
	}
	defer w.storing.closeAfter(w.cfg.Stall)()
	w.writing.Lock()
	defer w.writing.Unlock()
	defer recoverPanic(&err)
	return w.queue.Settle(w.writes, results)
}

func (w *Worker[J, R]) forgetBatch(batch []outcome[J, R]) {
	for _, o := range batch {
		w.held.remove(o.item)
	}
}

// abandonBatch gives up on results; their rows are due again when their leases end.
func (w *Worker[J, R]) abandonBatch(batch []outcome[J, R], err error) {
	w.metrics.abandoned.Add(float64(len(batch)))
	w.log.Error("worker: results could not be stored, the jobs will run again", "jobs", len(batch), "job",
		batch[0].item.job, "error", err)
	w.forgetBatch(batch)
}

func (w *Worker[J, R]) handBack(items []*item[J]) {
	w.metrics.released.Add(float64(len(items)))
	if w.queue.Release == nil {
		return
	}
	jobs := make([]J, len(items))
	for i, it := range items {
		jobs[i] = it.job
	}
	if err := w.callRelease(jobs); err != nil { // not retried: the end of the lease has the same effect
		w.metrics.releaseErrors.Inc()
		w.log.Debug("worker: jobs not handed back, they wait for the end of their leases", "jobs", len(jobs),
			"error", err)
	}
}

func (w *Worker[J, R]) callRelease(jobs []J) (err error) {
	w.writing.Lock()
	defer w.writing.Unlock()
	defer recoverPanic(&err)
	return w.queue.Release(w.writes, jobs)
}
