package worker

import (
	"fmt"
	"time"
)

// extendLoop prolongs the leases of jobs that run for long or whose results
// wait to be stored.
func (w *Worker[J, R]) extendLoop() {
	health := condition{log: w.log, step: "extend"}
	tick := time.NewTicker(max(time.Millisecond, w.cfg.Lease/6))
	defer tick.Stop()
	for {
		select {
		case <-w.settled:
			return
		case <-tick.C:
		}
		if err := w.extend(); err != nil {
			w.metrics.extendErrors.Inc()
			health.failed(err)
		} else {
			health.worked()
		}
	}
}

// extend prolongs what has used a third of its lease. It holds the writing lock
// while it chooses and while it writes: a job that is settled in between would
// come back to life, because its row would get a new due_at.
func (w *Worker[J, R]) extend() error {
	w.writing.Lock()
	defer w.writing.Unlock()
	due := w.held.where(func(it *item[J]) bool {
		left := it.lease.Remaining()
		return left > 0 && left < w.cfg.Lease*2/3-w.cfg.Margin
	})
	for len(due) > 0 {
		batch := due[:min(len(due), w.cfg.Batch)]
		due = due[len(batch):]
		sent := time.Now()
		held, err := w.callExtend(batch)
		if err != nil {
			return err
		}
		for i, it := range batch {
			if held[i] {
				it.lease.prolong(sent, w.cfg.Lease)
			} else {
				it.lease.revoke()
			}
		}
	}
	return nil
}

func (w *Worker[J, R]) callExtend(batch []*item[J]) (held []bool, err error) {
	defer recovered(&err)
	jobs := make([]J, len(batch))
	for i, it := range batch {
		jobs[i] = it.job
	}
	held, err = w.queue.Extend(w.writes, jobs, w.cfg.Lease)
	if err == nil && len(held) != len(jobs) {
		return nil, fmt.Errorf("extend answered for %d of %d jobs", len(held), len(jobs))
	}
	return held, err
}
