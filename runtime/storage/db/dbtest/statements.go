package dbtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// RecordStatements restarts the server with logging of all statements.
func (s *Server) RecordStatements() {
	s.t.Helper()
	s.Stop()
	s.settings["logging_collector"], s.settings["log_destination"], s.settings["log_statement"] = "on", "jsonlog", "all"
	s.Start()
}

// executed matches the log line of a statement of the extended protocol: its name, which only a prepared
// statement has, and its text.
var executed = regexp.MustCompile(`(?s)^execute ([^:]+): (.*)$`)

// Prepared returns the texts of the statements that clients prepared and executed since RecordStatements,
// sorted and without duplicates.
func (s *Server) Prepared() []string {
	s.t.Helper()
	texts := map[string]bool{}
	for _, message := range s.logMessages() {
		if parts := executed.FindStringSubmatch(message); parts != nil && parts[1] != "<unnamed>" {
			texts[parts[2]] = true
		}
	}
	sorted := make([]string, 0, len(texts))
	for text := range texts {
		sorted = append(sorted, text)
	}
	slices.Sort(sorted)
	return sorted
}

// Between returns the statements executed since RecordStatements after one that contains first and before one
// that contains second. done is false until the server has logged the second one.
func (s *Server) Between(first, second string) (texts []string, done bool) {
	s.t.Helper()
	begun := false
	for _, message := range s.logMessages() {
		_, text, _ := strings.Cut(message, ": ")
		switch {
		case strings.Contains(text, first):
			begun = true
		case strings.Contains(text, second):
			return texts, true
		case begun && ran.MatchString(message):
			texts = append(texts, text)
		}
	}
	return nil, false
}

// ran matches the log line of a statement, in either protocol.
var ran = regexp.MustCompile(`^(execute [^:]+|statement): `)

// logMessages returns the messages in the server's log, in order.
func (s *Server) logMessages() (all []string) {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join(s.data, "postgres", "log", "*.json"))
	if err != nil || len(files) == 0 {
		s.t.Fatalf("the log of the test server: %v, %v", files, err)
	}
	slices.Sort(files)
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			s.t.Fatal(err)
		}
		for line := range strings.Lines(string(content)) {
			var entry struct{ Message string }
			if json.Unmarshal([]byte(line), &entry) == nil { // the last line may be incomplete
				all = append(all, entry.Message)
			}
		}
	}
	return all
}
