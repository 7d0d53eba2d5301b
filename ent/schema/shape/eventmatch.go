package shape

// EventMatch is the reaction of one automation to a custom event.
type EventMatch struct {
	AutomationID string `json:"automation_id"`
	Version      int    `json:"version"`
	Outcome      string `json:"outcome"`
	RunID        string `json:"run_id,omitempty"`
	Error        string `json:"error,omitempty"`
}
