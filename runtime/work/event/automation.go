package event

// Run is the payload of the automation events.
type Run struct {
	AutomationID   string  `json:"automation_id" doc:"The ID of the automation."`
	AutomationName string  `json:"automation_name" doc:"The name of the automation."`
	RunID          string  `json:"run_id" doc:"The ID of the run."`
	Status         string  `json:"status" doc:"running, waiting, completed, failed or cancelled."`
	EventName      string  `json:"event_name" doc:"The event that started the run."`
	StepIndex      int     `json:"step_index" doc:"Index of the step, from 0."`
	StepType       string  `json:"step_type" doc:"The type of the step."`
	Error          *string `json:"error" doc:"Why the run failed; null otherwise."`
}

// SubjectID returns the run.
func (r Run) SubjectID() string { return r.RunID }

var sampleRunError = "the template welcome is not published"

func sampleRun(status string, step int, stepType string, failure *string) Run {
	return Run{AutomationID: "aut_01kf0m4w7he6x8q2v5b3n9c1ta", AutomationName: "Welcome",
		RunID:  "run_01kf0m4w7he6x8q2v5b3n9c1ta",
		Status: status, EventName: "user.signed_up", StepIndex: step, StepType: stepType, Error: failure}
}
