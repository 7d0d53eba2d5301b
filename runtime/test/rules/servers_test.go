package rules_test

import (
	"regexp"
	"strings"
	"testing"
)

// Every HTTP server of the product uses runtime/web/server, which bounds its connections, bodies and
// responses. Any other server would serve clients outside the budget.
func TestEveryServerIsBounded(t *testing.T) {
	t.Parallel()
	serves := regexp.MustCompile(`\bhttp\.(Server\{|ListenAndServe|Serve\(|ServeTLS\()`)
	found := false
	for _, file := range sourceFiles(t, "cmd", "graph", "modules", "rest", "runtime") {
		switch inside := strings.HasPrefix(file.path, "runtime/web/server/"); {
		// these tests have proxies
		case strings.HasPrefix(file.path, "runtime/test/faults/"), !serves.MatchString(file.readCode(t)):
		case inside:
			found = true
		default:
			t.Errorf("%s serves HTTP itself: use runtime/web/server, which applies the gate and the budget", file.path)
		}
	}
	if !found {
		t.Error("found no server in runtime/web/server: correct the pattern")
	}
}
