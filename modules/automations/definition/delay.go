package definition

// Delay is the type of steps that wait for a duration.
const Delay = "delay"

var _ = registerType(Delay, delayStep{})

type delayStep struct{ plainStep }

func (delayStep) describe() string {
	return "waits for a `duration`, such as `PT30M` or `P3D`. A day has 24 hours"
}

func (delayStep) members() []member {
	return []member{{"duration", duration, true, "ISO 8601 duration, such as PT30M or P3D. A day has 24 hours."}}
}

func (delayStep) summary(s *Step) string { return "Wait " + s.Duration.Text }
