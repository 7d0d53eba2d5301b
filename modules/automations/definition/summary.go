package definition

import (
	"fmt"
	"strings"
)

// maxSummary is how many characters a summary has.
const maxSummary = 200

// Summary says in a line what the step does.
func (s *Step) Summary() string {
	line := []rune(strings.Join(strings.Fields(s.summary()), " "))
	if len(line) > maxSummary {
		line = append(line[:maxSummary-1], '…')
	}
	return string(line)
}

func (s *Step) summary() string {
	switch s.Type {
	case SendEmail:
		if s.Template != nil {
			return "Send the template " + s.Template.ID + s.Template.Alias
		}
		return fmt.Sprintf("Send %q", s.Subject)
	case SendSMS:
		return "Send a text message to " + strings.Join(s.To, ", ")
	case Delay:
		return "Wait " + s.Duration.Text
	case WaitUntil:
		return s.untilSummary()
	case WaitForEvent:
		return fmt.Sprintf("Wait for %s, at most %s", strings.Join(s.Event, " or "), s.Timeout.Text)
	case Condition:
		return "If " + s.If
	case Branch:
		return "Branch by " + strings.Join(named(s.Cases, func(c Case) string { return c.If }), "; ")
	case Split:
		return "Split into " + strings.Join(named(s.Variants, func(v Variant) string { return v.Key }), ", ")
	case Webhook:
		return or(s.Method, "POST") + " " + s.URL
	default:
		return "End as " + or(s.Outcome, "completed")
	}
}

func (s *Step) untilSummary() string {
	var parts []string
	if s.At != "" {
		parts = append(parts, strings.TrimSpace(s.At+" "+s.Offset.Text))
	}
	if w := s.Window; w != nil {
		parts = append(parts, strings.TrimSpace(w.From+"-"+w.To+" "+strings.Join(w.Days, ", ")))
	}
	return "Wait until " + strings.Join(parts, ", then ")
}

func named[T any](list []T, name func(T) string) []string {
	out := make([]string, len(list))
	for i, element := range list {
		out[i] = name(element)
	}
	return out
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
