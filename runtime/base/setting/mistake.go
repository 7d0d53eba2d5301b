package setting

import (
	"fmt"
	"strings"
)

// Mistake is one invalid setting.
type Mistake struct {
	Setting string // the environment variable, or a place in the file
	Problem string // "is required: …"
}

// Mistakes are all invalid settings of a start.
type Mistakes []Mistake //nolint:errname,recvcheck // the name that its readers use; appending needs the pointer

func (m Mistakes) Error() string {
	var text strings.Builder
	if len(m) == 1 {
		text.WriteString("1 setting is invalid:")
	} else {
		fmt.Fprintf(&text, "%d settings are invalid:", len(m))
	}
	for _, mistake := range m {
		fmt.Fprintf(&text, "\n  %s %s", mistake.Setting, mistake.Problem)
	}
	return text.String()
}

// Add records a mistake.
func (m *Mistakes) Add(setting, format string, args ...any) {
	*m = append(*m, Mistake{setting, fmt.Sprintf(format, args...)})
}

// Err returns the mistakes as an error, or nil if there are none.
func (m Mistakes) Err() error {
	if len(m) == 0 {
		return nil
	}
	return m
}
