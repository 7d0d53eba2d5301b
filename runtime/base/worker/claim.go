package worker

import (
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
)

// spacing keeps claims apart that did not fill up: under a stream of nudges one
// claim takes what came in meanwhile, instead of one transaction for each job.
const spacing = 15 * time.Millisecond

func (w *Worker[J, R]) claimLoop() {
	health := condition{log: w.log, step: "claim"}
	empty := 0 // claims in a row that found nothing, since the last nudge
	for {
		limit, ok := w.waitForRoom()
		if !ok {
			return
		}
		sent := time.Now()
		jobs, err := w.claim(limit)
		w.cfg.Process.Report(err)
		if err == nil {
			health.worked()
			w.claiming.open()
		}
		switch {
		case err != nil:
			w.metrics.claimErrors.Inc()
			health.failed(err)
			if fault.IsDatabaseAway(err) {
				w.claiming.close()
			}
			ok = pause(w.cfg.Retry.Delay(health.failures), w.stopping)
		case len(jobs) == 0:
			var nudged bool
			if nudged, ok = w.idle(empty); nudged {
				empty = 0
			} else {
				empty++
			}
		default:
			empty = 0
			w.enqueue(jobs, sent)
			if len(jobs) < limit {
				ok = pause(spacing-time.Since(sent), w.stopping)
			}
		}
		if !ok {
			return
		}
	}
}

// waitForRoom blocks until a claim is worth while. Half a prefetch is: with all
// runners busy that keeps claims large, and a free runner implies it.
func (w *Worker[J, R]) waitForRoom() (int, bool) {
	free, ok := w.room.wait(max(1, w.cfg.prefetch()/2), w.stopping)
	if !ok || !w.storing.pass(w.stopping) || !w.cfg.Process.AwaitClaim(w.stopping) {
		return 0, false
	}
	select {
	case <-w.stopping: // the gates may have been open all the time
		return 0, false
	case <-w.nudged: // this claim answers it
	default:
	}
	return min(free, w.cfg.Batch), true
}

// idle waits for a nudge or the next poll.
func (w *Worker[J, R]) idle(empty int) (nudged, ok bool) {
	poll := time.NewTimer(spread(w.cfg.untilPoll(empty)))
	defer poll.Stop()
	select {
	case <-w.nudged:
		return true, true
	case <-poll.C:
		return false, true
	case <-w.stopping:
		return false, false
	}
}

// idlePolls is how many times as long as Config.Poll the wait becomes of a worker that finds
// nothing: a process with nothing to do costs little. The wait doubles, so that a job that is
// due again some time after a try is late by no more than that time.
const idlePolls = 5

// untilPoll is the wait after so many claims in a row that found nothing.
func (c Config) untilPoll(empty int) time.Duration {
	longest := idlePolls * c.Poll
	wait := c.Poll
	for range empty {
		if wait *= 2; wait >= longest {
			return longest
		}
	}
	return wait
}

func (w *Worker[J, R]) claim(limit int) (jobs []J, err error) {
	defer w.claiming.closeAfter(w.cfg.Stall)()
	defer recovered(&err)
	return w.queue.Claim(w.writes, limit, w.cfg.Lease)
}

func (w *Worker[J, R]) enqueue(jobs []J, sent time.Time) {
	w.metrics.claimed.Add(float64(len(jobs)))
	w.room.take(len(jobs))
	for _, job := range jobs {
		it := &item[J]{job: job, sent: sent, lease: newLease(sent, w.cfg)}
		select {
		case w.waiting <- it:
		case <-w.stopping: // full only if Claim exceeded its limit, and nobody takes from it any more
			w.release(it)
		}
	}
}

// recovered turns a panic of a queue's function into an error: one bad row must
// not take the process, and every other queue, down with it.
func recovered(err *error) {
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("panic: %v", cause)
	}
}
