package definition

import "strings"

// maxSummary is the maximum number of characters of a summary.
const maxSummary = 200

// Summary describes the step in one line.
func (s *Step) Summary() string {
	line := []rune(strings.Join(strings.Fields(s.summary()), " "))
	if len(line) > maxSummary {
		line = append(line[:maxSummary-1], '…')
	}
	return string(line)
}

func (s *Step) summary() string {
	t := stepTypes[s.Type]
	if t == nil {
		return s.Type
	}
	return t.summary(s)
}

func collectNames[T any](list []T, name func(T) string) []string {
	out := make([]string, len(list))
	for i, element := range list {
		out[i] = name(element)
	}
	return out
}

func firstNonEmpty(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
