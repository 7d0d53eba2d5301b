package rules_test

import (
	"regexp"
	"strings"
	"testing"
)

// logLine matches a call that writes a log line visible to operators.
var logLine = regexp.MustCompile(`(?:\b\w*(?i:log|logger)\.(?:(?:Warn|Info|Error)(?:Context)?|Log(?:Attrs)?)|\btelemetry\.LogFailure)\((.*)`)

// boundedLines are log lines on unauthenticated paths whose number is bounded by something else. The key is
// a part of the line, the value the reason.
var boundedLines = map[string]string{
	`"request failed"`:                                "of a known caller, whose rate is limited; others are collapsed right above",
	`"request", append(`:                              "collapseRequest decides",
	`"audit log entry lost`:                           "of a known caller",
	`"cannot record a mutation in the audit log"`:     "of a known caller",
	`"cannot read the last actor from the audit log"`: "of a known caller",
	`"cannot resolve a GraphQL field"`:                "of a known caller",
	`"GraphQL resolver panicked"`:                     "of a known caller",
	`"cannot encode a GraphQL response"`:              "a defect, of a known caller",
	`"MCP request failed"`:                            "of a known caller; others are collapsed right above",
	`"MCP tool failed"`:                               "of a known caller, whose rate is limited",
	`"MCP tool panicked"`:                             "of a known caller, whose rate is limited",
	`"webhook receiver of development mode"`:          "development mode listens on loopback",
	`"development inbox"`:                             "development mode listens on loopback",
	`"smtp server: "+text`:                            "at the debug level, or after a panic",
	`"message relayed"`:                               "of a known credential, whose rate is limited",
	`"mail received"`:                                 "one line for each message that is stored",
	`"report received"`:                               "one line for each report that is stored",
	`"alert not mailed"`:                              "of the worker that writes mails, which is bounded",
	`"sign-in mail not sent; `:                        "of the worker that writes mails, which is bounded",
	`"cannot ask other cells about`:                   "of the worker that writes mails; a cell that fails is asked twice a minute",
	`"invitation not mailed"`:                         "of the worker that writes mails, which is bounded",
	`"sms receipt"`:                                   "after the authentication of the provider",
	`"sms reply"`:                                     "after the authentication of the provider",
	`cannot move a received message, will retry`:      "of a worker",
}

// A log line that an unauthenticated client can cause must be collapsed by package loglimit or bounded by
// something else. Otherwise a flood of rejected requests fills the disk.
func TestLogLinesOfUnauthenticatedClientsAreBounded(t *testing.T) {
	t.Parallel()
	doors := []string{"rest", "graph", "modules/signin", "modules/relay", "modules/inbound", "modules/bounces",
		"modules/sms/callback", "runtime/mail/smtpserver", "runtime/app/probes"}
	found, used := 0, map[string]bool{}
	for _, f := range append(sourceFiles(t, doors...),
		sourceFile{"runtime/base/telemetry/http.go", "../../base/telemetry/http.go"}) {
		if f.isGenerated(t) {
			continue
		}
		for line := range strings.Lines(f.readCode(t)) {
			call := logLine.FindStringSubmatch(line)
			if call == nil || strings.HasPrefix(strings.TrimSpace(line), "//") {
				continue
			}
			found++
			bounded := strings.Contains(call[1], "loglimit.")
			for part := range boundedLines {
				if strings.Contains(line, part) {
					bounded, used[part] = true, true
				}
			}
			if !bounded {
				t.Errorf("%s: unauthenticated clients can cause this line at any rate: mark its context with loglimit.Collapse, or add what bounds it to boundedLines:\n\t%s", f.path, strings.TrimSpace(line))
			}
		}
	}
	if found < 25 {
		t.Errorf("found %d log lines, want at least 25: has their form changed?", found)
	}
	for part := range boundedLines {
		if !used[part] {
			t.Errorf("no log line still contains %s: remove it from boundedLines", part)
		}
	}
}
