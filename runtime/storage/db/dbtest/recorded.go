package dbtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// RecordStatements restarts the server, which from then on keeps what clients let it run.
func (s *Server) RecordStatements() {
	s.t.Helper()
	s.Stop()
	s.settings["logging_collector"], s.settings["log_destination"], s.settings["log_statement"] = "on", "jsonlog", "all"
	s.Start()
}

// executed is how the server logs a statement of the extended protocol: its name, which
// only a statement that a client keeps has, and its text.
var executed = regexp.MustCompile(`(?s)^execute ([^:]+): (.*)$`)

// Prepared gives the texts of the statements that clients prepared, kept and ran since
// RecordStatements, each once and in order.
func (s *Server) Prepared() []string {
	s.t.Helper()
	texts := map[string]bool{}
	for _, message := range s.messages() {
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

// Between gives the statements that ran after one that holds a text and before one that holds another,
// since RecordStatements; none, while the server has not written of the second.
func (s *Server) Between(first, second string) (texts []string, done bool) {
	s.t.Helper()
	begun := false
	for _, message := range s.messages() {
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

// ran is how the server logs that a statement ran, by either protocol.
var ran = regexp.MustCompile(`^(execute [^:]+|statement): `)

// messages are those of the server's log, in order.
func (s *Server) messages() (all []string) {
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
			if json.Unmarshal([]byte(line), &entry) == nil { // the last line may be half written
				all = append(all, entry.Message)
			}
		}
	}
	return all
}
