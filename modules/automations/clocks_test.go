package automations

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The clocks of processes may differ by minutes, so the database clock decides how long runs wait. The packages
// that make these decisions do not read the process clock. The exception is runs/claim.go, which measures the
// time since the database reported its time.
func TestProcessClocksAreNotUsed(t *testing.T) {
	t.Parallel()
	for _, room := range []string{"machine", "runs", "ingest", "expression", "definition", "clock"} {
		files, err := filepath.Glob(filepath.Join(room, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("package %s has %d files (%v)", room, len(files), err)
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
				t.Errorf("%s reads the process clock %d times, want %d: use the database clock", file, n, allowed)
			}
		}
	}
}
