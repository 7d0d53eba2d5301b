package expression_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/automations/expression"
)

func TestExplainShowsEveryPart(t *testing.T) {
	t.Parallel()
	values := decodeScope(t, `{"name": "e", "data": {"amount": 20, "plan": "pro", "list": [1, 2], "zero": 0}}`)
	for text, want := range map[string]string{
		`event.data.amount > 50`: `false: event.data.amount > 50 = false, event.data.amount = 20`,
		`event.data.amount > 50 && event.data.plan == "pro"`: `false: event.data.amount > 50 && event.data.plan == "pro" = false, event.data.amount > 50 = false, ` +
			`event.data.amount = 20, event.data.plan == "pro" = true, event.data.plan = "pro"`,
		`event.data.gone == 1 || event.data.amount == 20`: `true: event.data.gone == 1 || event.data.amount == 20 = true, event.data.gone == 1: no such key: gone, ` +
			`event.data.gone: no such key: gone, event.data.amount == 20 = true, event.data.amount = 20`,
		`has(event.data.gone)`:                      `false: has(event.data.gone) = false`,
		`event.data.list.exists(x, x == 2)`:         `true: event.data.list.exists(x, x == 2) = true, event.data.list = [1,2]`,
		`event.data.gone`:                           `false (no such key: gone): event.data.gone: no such key: gone`,
		`event.data.plan.startsWith("p")`:           `true: event.data.plan.startsWith("p") = true, event.data.plan = "pro"`,
		`1 / event.data.zero == 1`:                  `false (division by zero): 1 / event.data.zero == 1: division by zero, 1 / event.data.zero: division by zero, event.data.zero = 0`,
		`event.data.?gone.orValue("free") == "pro"`: `false: event.data.?gone.orValue("free") == "pro" = false, event.data.?gone.orValue("free") = "free", event.data.?gone = null, event.data = {"amount":20,"list":[1,2],"plan":"pro","zero":0}`,
		`now > timestamp("2026-01-01T00:00:00Z")`:   `true: now > timestamp("2026-01-01T00:00:00Z") = true, now = "2026-01-15T09:00:00Z", timestamp("2026-01-01T00:00:00Z") = "2026-01-01T00:00:00Z"`,
	} {
		p, err := expression.Compile(text, expression.Boolean)
		if err != nil {
			t.Errorf("%s does not compile: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, formatLine(t, p.Explain(t.Context(), values))); diff != "" {
			t.Errorf("the explanation of %s (-want +got):\n%s", text, diff)
		}
	}
}

// formatLine formats an explanation as one line.
func formatLine(t *testing.T, e expression.Explanation) string {
	t.Helper()
	var list []string
	for _, part := range e.Parts {
		value, err := json.Marshal(part.Value)
		if err != nil {
			t.Fatalf("the value of %s cannot be encoded as JSON: %v", part.Text, err)
		}
		if part.Error != "" {
			list = append(list, part.Text+": "+part.Error)
		} else {
			list = append(list, part.Text+" = "+string(value))
		}
	}
	result := fmt.Sprint(e.Result)
	if e.Error != "" {
		result += " (" + e.Error + ")"
	}
	return result + ": " + strings.Join(list, ", ")
}

// Neither the author's text nor the event can make an explanation too large.
func TestLimitsSizeOfExplanation(t *testing.T) {
	t.Parallel()
	values := decodeScope(t, `{"data": {"text": "`+strings.Repeat("x", 100_000)+`"}}`)
	p, err := expression.Compile(strings.Repeat(`event.data.text == "" || `, 100)+`false`, expression.Boolean)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(p.Explain(t.Context(), values))
	if err != nil || len(encoded) > 256<<10 {
		t.Errorf("the explanation has %d bytes (%v), want at most 256 KB", len(encoded), err)
	}
}
