package rules_test

import (
	"regexp"
	"strings"
	"testing"
)

// Every HTTP server of the product is one of runtime/web/server, which bounds its connections, bodies and
// responses. A server of another make would serve strangers outside the budget.
func TestEveryServerIsBounded(t *testing.T) {
	t.Parallel()
	serves := regexp.MustCompile(`\bhttp\.(Server\{|ListenAndServe|Serve\(|ServeTLS\()`)
	found := false
	for _, file := range sourceFiles(t, "cmd", "graph", "modules", "rest", "runtime") {
		switch inside := strings.HasPrefix(file.path, "runtime/web/server/"); {
		case strings.HasPrefix(file.path, "runtime/test/faults/"), !serves.MatchString(file.code(t)): // tests of the whole have proxies
		case inside:
			found = true
		default:
			t.Errorf("%s serves HTTP itself: use runtime/web/server, so that the server has a gate and the budget", file.path)
		}
	}
	if !found {
		t.Error("the rule finds no server in runtime/web/server: it looks for the wrong words")
	}
}
