package definition

// End is the type of steps that end the run.
const End = "end"

var _ = registerType(End, endStep{})

type endStep struct{ plainStep }

func (endStep) describe() string { return "ends the run as `completed` or `failed`" }

func (endStep) members() []member {
	return []member{{"outcome", oneOf("completed", "failed"), false, "Defaults to completed."}}
}

func (endStep) isLast() bool { return true }

func (endStep) summary(s *Step) string { return "End as " + firstNonEmpty(s.Outcome, "completed") }
