package automations

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The clocks of processes may be minutes apart: what runs wait for is decided by the clock of
// the database. So the rooms that decide do not ask for the time of the process. runs/claim.go
// measures how much of it has passed since the database said what time it is.
func TestClocksOfProcessesDecideNothing(t *testing.T) {
	t.Parallel()
	for _, room := range []string{"machine", "runs", "ingest", "expression", "definition", "clock", "versions"} {
		files, err := filepath.Glob(filepath.Join(room, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("the room %s has %d files (%v)", room, len(files), err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			allowed := 0
			if file == filepath.Join("runs", "claim.go") {
				allowed = 1
			}
			if n := strings.Count(string(source), "time.Now()"); n > allowed {
				t.Errorf("%s asks %d times for the time of the process, want %d: use that of the database", file, n, allowed)
			}
		}
	}
}
