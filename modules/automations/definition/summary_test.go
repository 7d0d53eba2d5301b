package definition

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestSummary(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]string{
		`{"type": "send_email", "subject": "Hi {{event.data.name}}"}`:                                                              `Send "Hi {{event.data.name}}"`,
		`{"type": "send_email", "template": {"alias": "tips"}}`:                                                                    "Send the template tips",
		`{"type": "send_sms", "to": "{{event.data.phone}}"}`:                                                                       "Send a text message to {{event.data.phone}}",
		`{"type": "delay", "duration": "P1D"}`:                                                                                     "Wait P1D",
		`{"type": "wait_until", "window": {"from": "09:00", "to": "20:00", "days": ["mon", "tue"]}}`:                               "Wait until 09:00-20:00 mon, tue",
		`{"type": "wait_until", "at": "timestamp(event.data.ends)", "offset": "-P1D", "window": {"from": "09:00", "to": "20:00"}}`: "Wait until timestamp(event.data.ends) -P1D, then 09:00-20:00",
		`{"type": "wait_for_event", "event": ["paid", "refunded"], "timeout": "PT2H"}`:                                             "Wait for paid or refunded, at most PT2H",
		`{"type": "condition", "if": "event.data.n >\n 3"}`:                                                                        "If event.data.n > 3",
		`{"type": "branch", "cases": [{"if": "a", "goto": "x"}, {"if": "b", "goto": "y"}]}`:                                        "Branch by a; b",
		`{"type": "split", "variants": [{"key": "a", "weight": 1}, {"key": "b", "weight": 1}]}`:                                    "Split into a, b",
		`{"type": "webhook", "url": "https://example.com/x"}`:                                                                      "POST https://example.com/x",
		`{"type": "end", "outcome": "failed"}`:                                                                                     "End as failed",
		`{"type": "end"}`:                                                                                                          "End as completed",
	} {
		var s Step
		if err := json.Unmarshal([]byte(document), &s); err != nil {
			t.Errorf("read the step %s: %v", document, err)
			continue
		}
		if got := s.Summary(); got != want {
			t.Errorf("the summary of %s is %q, want %q", document, got, want)
		}
	}
	long := Step{Type: Condition, If: strings.Repeat("ü ", 300)}
	if got := []rune(long.Summary()); len(got) != maxSummary || got[maxSummary-1] != '…' {
		t.Errorf("the summary of a long condition has %d characters and ends with %c, want %d and …", len(got),
			got[len(got)-1], maxSummary)
	}
}
