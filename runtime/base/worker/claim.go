package worker

import (
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
)

// spacing is the pause after a claim that was not full: under a stream of nudges, one claim collects the
// jobs of that time, instead of one transaction per job. NudgeNow cuts it short.
const spacing = 15 * time.Millisecond

func (w *Worker[J, R]) claimLoop() {
	health := condition{log: w.log, step: "claim"}
	empty := 0 // consecutive claims without a job since the last nudge
	for {
		limit, ok := w.waitForRoom()
		if !ok {
			return
		}
		sent := time.Now()
		w.room.takePlaces(limit)
		jobs, err := w.claimJobs(limit)
		w.room.returnPlaces(limit - len(jobs))
		w.cfg.Process.Report(err)
		if err == nil {
			health.recordSuccess()
			w.claiming.open()
		}
		switch {
		case err != nil:
			w.metrics.claimErrors.Inc()
			health.recordFailure(err)
			if fault.IsDatabaseUnavailable(err) {
				w.claiming.close()
			}
			ok = waitOrStop(w.cfg.Retry.Delay(health.failures), w.stopping)
		case len(jobs) == 0:
			var nudged bool
			if nudged, ok = w.waitForWork(empty); nudged {
				empty = 0
			} else {
				empty++
			}
		default:
			empty = 0
			w.enqueueJobs(jobs, sent)
			if len(jobs) < limit {
				ok = w.pauseClaims(spacing - time.Since(sent))
			}
		}
		if !ok {
			return
		}
	}
}

// minRoom is the room from which a claim is worthwhile, which is half a prefetch: with all runners busy that keeps
// claims large, and a free runner implies it.
func (w *Worker[J, R]) minRoom() int { return max(1, w.cfg.prefetchLimit()/2) }

// waitForRoom blocks until a claim is worthwhile.
func (w *Worker[J, R]) waitForRoom() (int, bool) {
	free, ok := w.room.waitForRoom(w.minRoom(), w.stopping)
	if !ok || !w.storing.waitUntilOpen(w.stopping) || !w.cfg.Process.AwaitClaim(w.stopping) {
		return 0, false
	}
	select {
	case <-w.stopping: // the gates may never have closed
		return 0, false
	case <-w.nudged: // this claim answers the nudge
	default:
	}
	select {
	case <-w.hurried:
	default:
	}
	return min(free, w.cfg.Batch), true
}

// pauseClaims waits, at most until NudgeNow is called. It returns false if the worker stops.
func (w *Worker[J, R]) pauseClaims(wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-w.hurried:
		return true
	case <-w.stopping:
		return false
	}
}

// waitForWork waits for a nudge or the next poll.
func (w *Worker[J, R]) waitForWork(empty int) (nudged, ok bool) {
	poll := time.NewTimer(varyPeriod(w.cfg.untilPoll(empty)))
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

// idlePolls is how many times longer than Config.Poll an idle worker waits at most, so that an idle process
// costs little. The wait doubles step by step: a job that becomes due again some time after its last run is
// late by no more than that time.
const idlePolls = 5

// untilPoll returns the wait after that many consecutive empty claims.
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

func (w *Worker[J, R]) claimJobs(limit int) (jobs []J, err error) {
	defer w.claiming.closeAfter(w.cfg.Stall)()
	defer recoverPanic(&err)
	return w.queue.Claim(w.writes, limit, w.cfg.Lease)
}

// enqueueJobs queues jobs whose places are taken.
func (w *Worker[J, R]) enqueueJobs(jobs []J, sent time.Time) {
	w.metrics.claimed.Add(float64(len(jobs)))
	for _, job := range jobs {
		it := &item[J]{job: job, sent: sent, lease: newLease(sent, w.cfg)}
		select {
		case w.waiting <- it:
		case <-w.stopping: // full only if Claim exceeded its limit, and no runner receives any more
			w.releaseJob(it)
		}
	}
}

// recoverPanic turns a panic in a function of the queue into an error: one bad row must not crash the process
// and with it every other queue.
func recoverPanic(err *error) {
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("panic: %v", cause)
	}
}
