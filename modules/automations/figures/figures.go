package figures

import "github.com/postrider/postrider/modules/automations/machine"

// Runs counts the outcomes of runs.
type Runs struct {
	Started, Running, Waiting, Completed, Failed, Cancelled int

	WithGoal  int // the part of Started whose version has a goal
	Converted int // the part of WithGoal that reached it
}

// StepFigures counts the runs that reached a step and their outcomes there. A retried run counts once for each
// time that the step ended.
type StepFigures struct {
	Waiting   int // live runs at the step, which waits or is next
	Completed int // the step succeeded, or its wait ended
	TimedOut  int // the part of Completed whose wait timed out
	Skipped   int // suppressed or expired, so nothing was sent
	Failed    int // the step ended with an error, even if the run continued
	Cancelled int // runs that were cancelled at the step
}

// Entered returns how often runs reached the step.
func (s StepFigures) Entered() int {
	return s.Waiting + s.Completed + s.Skipped + s.Failed + s.Cancelled
}

func (s StepFigures) add(o StepFigures) StepFigures {
	return StepFigures{Waiting: s.Waiting + o.Waiting, Completed: s.Completed + o.Completed,
		TimedOut: s.TimedOut + o.TimedOut, Skipped: s.Skipped + o.Skipped,
		Failed: s.Failed + o.Failed, Cancelled: s.Cancelled + o.Cancelled}
}

// Texts counts the outcomes of a step's text messages.
type Texts struct{ Sent, Delivered, Failed int }

// StepPosition is a step in a version.
type StepPosition struct {
	Version int
	Key     string
}

// Figures are the figures of one automation.
type Figures struct {
	Runs     Runs
	Steps    map[StepPosition]StepFigures
	Messages map[StepPosition]Texts
}

// Step returns the figures of the step with a key in one version; 0 means all versions.
func (f *Figures) Step(key string, version int) (sum StepFigures) {
	for p, s := range f.Steps {
		if p.Key == key && (version == 0 || p.Version == version) {
			sum = sum.add(s)
		}
	}
	return sum
}

// Texts returns the figures of a step's text messages, like Step.
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

// countEnded counts n steps that ended with a status.
func countEnded(status string, n int) StepFigures {
	switch status {
	case machine.StatusFailed:
		return StepFigures{Failed: n}
	case machine.StatusSuppressed, machine.StatusExpired:
		return StepFigures{Skipped: n}
	case machine.StatusTimedOut:
		return StepFigures{TimedOut: n, Completed: n}
	default:
		return StepFigures{Completed: n}
	}
}
