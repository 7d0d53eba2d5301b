package figures

import "github.com/postrider/postrider/modules/automations/machine"

// Runs says what became of runs.
type Runs struct {
	Started, Running, Waiting, Completed, Failed, Cancelled int
}

// Step says how many runs came to a step and what became of them there. A run that was tried
// again counts once for each time that the step ended.
type Step struct {
	Waiting   int // live runs that are there: the step waits, or begins next
	Completed int // the step did what it says, or its wait was over
	TimedOut  int // of these: no event came in time
	Skipped   int // suppressed or expired: nothing was sent
	Failed    int // it ended with an error, also where the run went on
	Cancelled int // runs that were cancelled there
}

// Entered is how often the step was entered.
func (s Step) Entered() int { return s.Waiting + s.Completed + s.Skipped + s.Failed + s.Cancelled }

func (s Step) plus(o Step) Step {
	return Step{Waiting: s.Waiting + o.Waiting, Completed: s.Completed + o.Completed, TimedOut: s.TimedOut + o.TimedOut, Skipped: s.Skipped + o.Skipped,
		Failed: s.Failed + o.Failed, Cancelled: s.Cancelled + o.Cancelled}
}

// Texts says what became of text messages of a step.
type Texts struct{ Sent, Delivered, Failed int }

// Place is a step in a version.
type Place struct {
	Version int
	Key     string
}

// Figures are those of one automation.
type Figures struct {
	Runs     Runs
	Steps    map[Place]Step
	Messages map[Place]Texts
}

// Step gives the figures of the step with a key, in all versions, or in one; 0: all.
func (f *Figures) Step(key string, version int) (sum Step) {
	for p, s := range f.Steps {
		if p.Key == key && (version == 0 || p.Version == version) {
			sum = sum.plus(s)
		}
	}
	return sum
}

// Texts gives the figures of the text messages of a step, as Step does.
func (f *Figures) Texts(key string, version int) (sum Texts) {
	for p, t := range f.Messages {
		if p.Key == key && (version == 0 || p.Version == version) {
			sum.Sent += t.Sent
			sum.Delivered += t.Delivered
			sum.Failed += t.Failed
		}
	}
	return sum
}

// ended is n steps that ended with a status.
func ended(status string, n int) Step {
	switch status {
	case machine.StatusFailed:
		return Step{Failed: n}
	case machine.StatusSuppressed, machine.StatusExpired:
		return Step{Skipped: n}
	case machine.StatusTimedOut:
		return Step{TimedOut: n, Completed: n}
	default:
		return Step{Completed: n}
	}
}
