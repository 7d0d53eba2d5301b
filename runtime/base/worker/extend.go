package worker

import (
	"fmt"
	"time"
)

// extendLoop extends the leases of jobs that run for a long time or whose results are not stored yet.
func (w *Worker[J, R]) extendLoop() {
	health := condition{log: w.log, step: "extend"}
	tick := time.NewTicker(max(time.Millisecond, w.cfg.Lease/6))
	defer tick.Stop()
	for back := w.cfg.Process.RecoverySignal(); ; {
		upTo := w.cfg.Lease*2/3 - w.cfg.Margin // of the remaining time
		select {
		case <-w.settled:
			return
		case <-tick.C:
		case <-back: // leases claimed before the outage may be in doubt
			upTo, back = w.cfg.Lease, w.cfg.Process.RecoverySignal()
		}
		if err := w.extendLeases(upTo); err != nil {
			w.metrics.extendErrors.Inc()
			health.recordFailure(err)
		} else {
			health.recordSuccess()
		}
	}
}

// extendLeases extends the leases that have at most upTo left; mostly those that have used a third. It holds the
// writing lock while it selects and while it writes: a job settled in between would get a new due_at and
// run again.
func (w *Worker[J, R]) extendLeases(upTo time.Duration) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	due := w.held.findItems(func(it *item[J]) bool {
		left := it.lease.Remaining()
		return left > 0 && left < upTo
	})
	for len(due) > 0 {
		batch := due[:min(len(due), w.cfg.Batch)]
		due = due[len(batch):]
		sent := time.Now()
		held, err := w.callExtend(batch)
		w.cfg.Process.Report(err)
		if err != nil {
			return err
		}
		for i, it := range batch {
			if held[i] {
				it.lease.extendFrom(sent, w.cfg.Lease)
			} else {
				it.lease.revoke()
			}
		}
	}
	return nil
}

func (w *Worker[J, R]) callExtend(batch []*item[J]) (held []bool, err error) {
	defer recoverPanic(&err)
	jobs := make([]J, len(batch))
	for i, it := range batch {
		jobs[i] = it.job
	}
	held, err = w.queue.Extend(w.writes, jobs, w.cfg.Lease)
	if err == nil && len(held) != len(jobs) {
		return nil, fmt.Errorf("extend returned results for %d of %d jobs", len(held), len(jobs))
	}
	return held, err
}

// heldBefore returns how many jobs are held under leases from before t.
func (w *Worker[J, R]) heldBefore(t time.Time) int {
	return len(w.held.findItems(func(it *item[J]) bool { return it.lease.isRenewedBefore(t) }))
}
