package definition

// Condition is the type of steps that take one of two paths.
const Condition = "condition"

var _ = registerType(Condition, conditionStep{})

type conditionStep struct{ plainStep }

func (conditionStep) describe() string {
	return "continues depending on a CEL expression, such as `event.data.amount > 500`. An expression that cannot be evaluated is false, for example if a field is missing or a call exceeds its limits"
}

func (conditionStep) members() []member {
	return []member{{"if", expression, true, "CEL."}, {"on_true", target, false, "Defaults to continue."},
		{"on_false", target, false, "Defaults to end."}}
}

func (conditionStep) ways(s *Step) []StepTarget {
	return []StepTarget{newWay("on_true", s.OnTrue, Continue), newWay("on_false", s.OnFalse, Ends)}
}

func (conditionStep) summary(s *Step) string { return "If " + s.If }
