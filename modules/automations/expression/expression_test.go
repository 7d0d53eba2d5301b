package expression_test

import (
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/automations/expression"
)

func decodeScope(t *testing.T, event string) expression.Scope {
	t.Helper()
	values, err := expression.Decode([]byte(event))
	if err != nil {
		t.Fatalf("decode %s: %v", event, err)
	}
	return expression.Scope{Event: values, Trigger: values, Now: time.Date(2026, 1, 15, 9, 0, 0, 0, time.UTC)}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	values := decodeScope(t,
		`{"data": {"n": 3, "f": 2.5, "big": 9007199254740993, "s": "Ada", "list": [1, 2], "empty": {}}}`)
	for text, want := range map[string]bool{
		`event.data.n == 3`:                        true,
		`event.data.n == 3.0`:                      true,
		`event.data.n > 2.5`:                       true,
		`event.data.big == 9007199254740993`:       true,
		`event.data.s.startsWith("A")`:             true,
		`has(event.data.gone)`:                     false,
		`event.data.?gone.orValue(1) == 1`:         true,
		`size(event.data.list) == 2`:               true,
		`event.data.list.exists(x, x == 2)`:        true,
		`now == timestamp("2026-01-15T09:00:00Z")`: true,
		`trigger.data.n == event.data.n`:           true,
	} {
		p, err := expression.Compile(text, expression.Boolean)
		if err != nil {
			t.Errorf("%s does not compile: %v", text, err)
			continue
		}
		if got, err := p.IsTrue(t.Context(), values); err != nil || got != want {
			t.Errorf("%s is %t (%v), want %t", text, got, err, want)
		}
	}
}

func TestEvaluationErrors(t *testing.T) {
	t.Parallel()
	values := decodeScope(t, `{"data": {"n": 3, "zero": 0}}`)
	for text, want := range map[string]string{
		`event.data.gone == 1`:              "no such key: gone",
		`1 / event.data.zero == 1`:          "zero",
		`event.data.n == "3" || event.data`: "overload",
		`event.data.n`:                      "not true or false",
		`[1,2,3,4,5,6,7,8,9,10].map(a, [1,2,3,4,5,6,7,8,9,10].map(b, [1,2,3,4,5,6,7,8,9,10].map(c, [1,2,3,4,5,6,7,8,9,10].map(d, [1,2,3,4,5,6,7,8,9,10].map(e, a*b*c*d*e))))).size() > 0`: "cost",
	} {
		p, err := expression.Compile(text, expression.Boolean)
		if err != nil {
			t.Errorf("%s does not compile: %v", text, err)
			continue
		}
		if got, err := p.IsTrue(t.Context(), values); got || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is %t with the error %v, want false and an error that contains %q", text, got, err, want)
		}
	}
}

func TestCompileRejectsExpressions(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		``, `1 +`, `"text"`, `1`, `unknown.x`, `event.data.x = 1`, `steps.in.x`, strings.Repeat("(", 60) + "true" +
			strings.Repeat(")", 60), strings.Repeat(" ", 5000) + "true",
	} {
		if _, err := expression.Compile(text, expression.Boolean); err == nil {
			t.Errorf("%.40q was accepted as a condition", text)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("the error for %.40q has several lines: %v", text, err)
		}
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	values := decodeScope(t, `{"data": {"at": "2026-02-01T10:00:00+01:00", "n": 1}}`)
	want := time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC)
	for _, text := range []string{`timestamp(event.data.at)`, `event.data.at`} {
		p, err := expression.Compile(text, expression.Timestamp)
		if err != nil {
			t.Fatalf("%s does not compile: %v", text, err)
		}
		if got, err := p.Time(t.Context(), values); err != nil || !got.Equal(want) {
			t.Errorf("%s is %s (%v), want %s", text, got, err, want)
		}
	}
	p, err := expression.Compile(`event.data.n`, expression.Timestamp)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.Time(t.Context(), values); err == nil {
		t.Errorf("a number was accepted as the time %s", got)
	}
}

func FuzzCompile(f *testing.F) {
	f.Add(`event.data.n > 1`)
	f.Add(`steps.a.event.data.x.exists(y, y == trigger.user_id)`)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := expression.Compile(text, expression.Boolean)
		if err != nil {
			return
		}
		_, _ = p.IsTrue(t.Context(), expression.Scope{})
	})
}
