package setting

import (
	"fmt"
	"strings"
)

// Mistake is one setting that is wrong.
type Mistake struct {
	Setting string // as the environment variable, or a place in the file
	Problem string // "is required: …"
}

// Mistakes are all that is wrong with the settings.
type Mistakes []Mistake //nolint:errname,recvcheck // the name that its readers use; appending needs the pointer

func (m Mistakes) Error() string {
	var text strings.Builder
	if len(m) == 1 {
		text.WriteString("1 setting is wrong:")
	} else {
		fmt.Fprintf(&text, "%d settings are wrong:", len(m))
	}
	for _, mistake := range m {
		fmt.Fprintf(&text, "\n  %s %s", mistake.Setting, mistake.Problem)
	}
	return text.String()
}

// Add notes what is wrong with a setting.
func (m *Mistakes) Add(setting, format string, args ...any) {
	*m = append(*m, Mistake{setting, fmt.Sprintf(format, args...)})
}

// Err is nil where nothing is wrong.
func (m Mistakes) Err() error {
	if len(m) == 0 {
		return nil
	}
	return m
}
