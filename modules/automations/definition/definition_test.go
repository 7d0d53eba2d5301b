package definition_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/automations/clock"
	"github.com/postrider/postrider/modules/automations/definition"
)

const verify = `{"name": "Verify", "timezone": "Europe/Berlin", "goal": {"event": "order.paid", "within_days": 90}, "trigger": {"event": "user.created", "re_entry": "once", "cancel_on_events": ["user.deleted", {"event": "user.updated", "conditions": "event.data.gone"}]},
 "steps": [{"type": "send_email", "from": "hi@example.com", "template": {"alias": "verify"}},
           {"key": "verified", "type": "wait_for_event", "event": ["user.verified", "user.paid"], "timeout": "P2D", "on_timeout": "fail"},
           {"type": "condition", "if": "true", "on_false": {"goto": "over"}},
           {"type": "webhook", "url": "https://example.com/x", "headers": {"X-A": "b"}, "body": {"user": "{{event.user_id}}"}},
           {"type": "wait_until", "window": {"from": "09:00", "to": "20:00", "days": ["mon"]}, "at": "timestamp(event.data.at)", "offset": "-P3D"},
           {"type": "split", "variants": [{"key": "a", "weight": 1}, {"key": "b", "weight": 2, "goto": "over"}]},
           {"type": "send_email", "from": "hi@example.com", "subject": "S", "text": "T", "next": "end"},
           {"key": "over", "type": "end", "outcome": "failed"}]}`

func TestDefinitionSurvivesEncoding(t *testing.T) {
	t.Parallel()
	d, wrong := definition.Decode([]byte(verify))
	if len(wrong) > 0 {
		t.Fatalf("a valid definition is rejected: %v", wrong)
	}
	var keys []string
	for i := range d.Steps {
		keys = append(keys, d.Steps[i].Key)
	}
	want := []string{"send_email_1", "verified", "condition_1", "webhook_1", "wait_until_1", "split_1", "send_email_2",
		"over"}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Errorf("generated keys (-want +got):\n%s", diff)
	}
	written, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	again, wrong := definition.Decode(written)
	if len(wrong) > 0 {
		t.Fatalf("the encoded definition is rejected: %v\n%s", wrong, written)
	}
	if diff := cmp.Diff(d, again); diff != "" {
		t.Errorf("decoded, encoded and decoded again (-first +second):\n%s", diff)
	}
}

// withStep returns the definition of an automation with a single step.
func withStep(step string) string {
	return `{"name": "N", "trigger": {"event": "e"}, "steps": [` + step + `]}`
}

// withGoal returns the definition of an automation with a goal.
func withGoal(goal string) string {
	return `{"name": "N", "trigger": {"event": "e"}, "steps": [{"type": "end"}], "goal": ` + goal + `}`
}

// refused lists invalid definitions with the paths of their errors.
var refused = map[string]struct {
	document string
	paths    []string
}{
	"not JSON":                {`{`, []string{"definition"}},
	"an empty goal":           {withGoal(`{}`), []string{"goal.event", "goal.within_days"}},
	"a goal of 91 days":       {withGoal(`{"event": "paid", "within_days": 91}`), []string{"goal.within_days"}},
	"a goal of 0 days":        {withGoal(`{"event": "paid", "within_days": 0}`), []string{"goal.within_days"}},
	"a goal of half a day":    {withGoal(`{"event": "paid", "within_days": 0.5}`), []string{"goal.within_days"}},
	"a built-in goal":         {withGoal(`{"event": "$email.opened", "within_days": 7}`), []string{"goal.event"}},
	"an unknown goal":         {withGoal(`{"event": "paid", "within_days": 7, "rate": 1}`), []string{"goal.rate"}},
	"two values":              {`{} {}`, []string{"definition"}},
	"an array":                {`[]`, []string{"definition"}},
	"nothing":                 {`{}`, []string{"name", "steps", "trigger"}},
	"unknown fields":          {`{"name": "N", "x": 1, "trigger": {"event": "e", "y": 1}, "steps": [{"type": "end", "z": 1}]}`, []string{"steps[0].z", "trigger.y", "x"}},
	"no steps":                {withStep(``), []string{"steps"}},
	"51 steps":                {withStep(strings.Repeat(`{"type": "end"},`, 50) + `{"type": "end"}`), []string{"steps"}},
	"an unknown type":         {withStep(`{"type": "loop"}`), []string{"steps[0].type"}},
	"no type":                 {withStep(`{}`), []string{"steps[0].type"}},
	"null":                    {withStep(`{"type": "end", "key": null}`), []string{"steps[0].key"}},
	"a field of another type": {withStep(`{"type": "end", "duration": "P1D"}`), []string{"steps[0].duration"}},
	"duplicate key":           {withStep(`{"key": "a", "type": "end"}, {"key": "a", "type": "end"}`), []string{"steps[1].key"}},
	"key with a dash":         {withStep(`{"key": "a-b", "type": "end"}`), []string{"steps[0].key"}},
	"reserved keys":           {withStep(`{"key": "in", "type": "end"}, {"key": "size", "type": "end"}`), []string{"steps[0].key", "steps[1].key"}},
	"backward goto":           {withStep(`{"key": "a", "type": "delay", "duration": "P1D"}, {"type": "delay", "duration": "P1D", "next": {"goto": "a"}}`), []string{"steps[1].next.goto"}},
	"goto to itself":          {withStep(`{"key": "a", "type": "delay", "duration": "P1D", "next": {"goto": "a"}}`), []string{"steps[0].next.goto"}},
	"goto to an unknown step": {withStep(`{"type": "wait_for_event", "event": "x", "timeout": "P1D", "on_timeout": {"goto": "b"}}`), []string{"steps[0].on_timeout.goto"}},
	"an unknown target": {withStep(`{"type": "condition", "if": "true", "on_false": "stop"}, {"type": "condition", "if": "true", "on_true": {"go": 1}}`),
		[]string{"steps[0].on_false", "steps[1].on_true.go", "steps[1].on_true.goto"}},
	"backward case":     {withStep(`{"key": "a", "type": "end"}, {"type": "branch", "cases": [{"if": "true", "goto": "a"}]}`), []string{"steps[1].cases[0].goto"}},
	"weights":           {withStep(`{"type": "split", "variants": [{"key": "a", "weight": 0}, {"key": "b", "weight": 1.5}]}`), []string{"steps[0].variants[0].weight", "steps[0].variants[1].weight"}},
	"duplicate variant": {withStep(`{"type": "split", "variants": [{"key": "a", "weight": 1}, {"key": "a", "weight": 1}]}`), []string{"steps[0].variants[1].key"}},
	"name with NUL":     {`{"name": "a\u0000", "trigger": {"event": "e"}, "steps": [{"type": "end"}]}`, []string{"name"}},
	"a reserved event":  {`{"name": "a", "trigger": {"event": "$x.y"}, "steps": [{"type": "end"}]}`, []string{"trigger.event"}},
	"blanks around event names": {`{"name": "a", "trigger": {"event": " e", "cancel_on_events": ["c\u0020", {"event": "\td"}]},
		"steps": [{"type": "wait_for_event", "event": ["x", "y "], "timeout": "P1D"}]}`,
		[]string{"steps[0].event[1]", "trigger.cancel_on_events[0]", "trigger.cancel_on_events[1].event", "trigger.event"}},
	"blank required texts": {`{"name": " ", "trigger": {"event": ""}, "steps": [{"type": "delay", "duration": ""}]}`,
		[]string{"name", "steps[0].duration", "trigger.event"}},
	"a long header": {withStep(`{"type": "send_email", "template": {"id": "a"}, "headers": {"X-A": "` + strings.Repeat("x", 999) + `"}}`),
		[]string{"steps[0].headers.X-A"}},
	"zones": {`{"name": "a", "timezone": "Local", "trigger": {"event": "e"}, "steps": [{"type": "wait_until", "at": "now", "timezone": "../etc"}]}`, []string{"steps[0].timezone", "timezone"}},
	"cancel": {`{"name": "a", "trigger": {"event": "e", "cancel_on_events": ["a", 3, {"conditions": "true"}], "re_entry": "twice"}, "steps": [{"type": "end"}]}`,
		[]string{"trigger.cancel_on_events[1]", "trigger.cancel_on_events[2].event", "trigger.re_entry"}},
	"an email without required fields": {withStep(`{"type": "send_email"}`), []string{"steps[0].from", "steps[0].html", "steps[0].subject"}},
	"an invalid sender":                {withStep(`{"type": "send_email", "from": "x", "subject": "s", "text": "t"}`), []string{"steps[0].from"}},
	"line breaks in headers":           {withStep(`{"type": "send_email", "from": "a@example.com", "subject": "a\r\nBcc: x", "text": "t", "headers": {"X-A": "b\nc"}}`), []string{"steps[0].headers.X-A", "steps[0].subject"}},
	"template and body": {withStep(`{"type": "send_email", "template": {"id": "a", "alias": "b"}, "html": "x"}`),
		[]string{"steps[0].html", "steps[0].template"}},
	"URLs":                     {withStep(`{"type": "webhook", "url": "https://u:p@example.com"}, {"type": "webhook", "url": "ftp://example.com"}, {"type": "webhook", "url": "https://{{event.data.x}}/"}, {"type": "webhook", "url": "http://example.com"}`), []string{"steps[0].url", "steps[1].url", "steps[2].url", "steps[3].url"}},
	"headers of requests":      {withStep(`{"type": "webhook", "url": "https://example.com", "headers": {"Host": "a", "X Y": "b"}}`), []string{"steps[0].headers.Host", "steps[0].headers.X Y"}},
	"an empty window":          {withStep(`{"type": "wait_until", "window": {"from": "09:00", "to": "09:00"}}`), []string{"steps[0].window.to"}},
	"times of day":             {withStep(`{"type": "wait_until", "window": {"from": "9:00", "to": "25:00", "days": ["monday"]}}`), []string{"steps[0].window.days[0]", "steps[0].window.from", "steps[0].window.to"}},
	"a wait without a time":    {withStep(`{"type": "wait_until"}`), []string{"steps[0].window"}},
	"an offset without a time": {withStep(`{"type": "wait_until", "window": {"from": "09:00", "to": "10:00"}, "offset": "P1D"}`), []string{"steps[0].offset"}},
	"a condition too long":     {withStep(`{"type": "condition", "if": "` + strings.Repeat("x", 5000) + `"}`), []string{"steps[0].if"}},
	"eleven events":            {withStep(`{"type": "wait_for_event", "event": ["1","2","3","4","5","6","7","8","9","10","11"], "timeout": "P1D"}`), []string{"steps[0].event"}},
	"a next after an end":      {withStep(`{"type": "end", "next": "end"}`), []string{"steps[0].next"}},
}

func TestDecodeReportsErrorsByPath(t *testing.T) {
	t.Parallel()
	for name, test := range refused {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, wrong := definition.Decode([]byte(test.document))
			if diff := cmp.Diff(test.paths, slices.Sorted(maps.Keys(wrong))); diff != "" {
				t.Errorf("paths of invalid fields (-want +got):\n%s\n%v", diff, wrong)
			}
		})
	}
}

// A blank text in an optional member means the same as omitting it, as in the requests of the API.
func TestBlankTextsOfOptionalMembersAreOmitted(t *testing.T) {
	t.Parallel()
	want, wrong := definition.Decode([]byte(`{"name": "N", "trigger": {"event": "e"}, "steps": [
		{"type": "send_email", "template": {"id": "tpl_x", "variables": {"a": ""}}}, {"type": "webhook", "url": "https://example.com", "body": ""}]}`))
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	got, wrong := definition.Decode([]byte(`{"name": "N", "description": "", "timezone": " ",
		"trigger": {"event": "e", "conditions": "", "re_entry": ""}, "steps": [
		{"type": "send_email", "key": "", "name": "\u3000", "next": "", "to": "", "cc": " ", "from": "", "subject": "\n", "html": "", "text": "",
			"template": {"id": "tpl_x", "alias": "", "variables": {"a": ""}}, "category": "", "expires_after": "", "on_error": ""},
		{"type": "webhook", "url": "https://example.com", "method": "", "body": ""}]}`))
	if diff := cmp.Diff(want, got); diff != "" || len(wrong) > 0 {
		t.Errorf("with blank texts (-omitted +blank): %s%v", diff, wrong)
	}
}

// References grow with a thread and are folded, so they have more room than other fields.
func TestHeadersOfThreadsMayBeLong(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("<0123456789@example.com> ", 200)
	document := withStep(`{"type": "send_email", "template": {"id": "a"}, "headers": {"References": "` + long + `"}}`)
	if _, wrong := definition.Decode([]byte(document)); len(wrong) > 0 {
		t.Errorf("References of %d bytes: %v", len(long), wrong)
	}
}

func TestParseDuration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"PT1S": time.Second, "PT1.5S": 1500 * time.Millisecond, "P1W": 7 * 24 * time.Hour,
		"P1W2DT3H4M5S": 9*24*time.Hour + 3*time.Hour + 4*time.Minute + 5*time.Second,
		"P366D":        366 * 24 * time.Hour,
	} {
		got, err := clock.ParseDuration(text)
		if err != nil || got.Duration != want {
			t.Errorf("%s is parsed as %s (%v), want %s", text, got.Duration, err, want)
		}
	}
	for _, text := range []string{"", "P", "PT", "P1DT", "P1M", "P1Y", "PT0S", "PT0.5S", "-PT5S", "P-1D", "P1D1D",
		"PT9999999999H", "P367D", "PT1H1D", "1D", "pt1s", "P1.5D", " PT1S"} {
		if got, err := clock.ParseDuration(text); err == nil {
			t.Errorf("%q is parsed as %s, want an error", text, got.Duration)
		}
	}
	if got, err := clock.ParseOffset("-P3D"); err != nil || got.Duration != -72*time.Hour {
		t.Errorf("the offset -P3D is parsed as %s (%v)", got.Duration, err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(verify))
	f.Add([]byte(withStep(`{"type": "delay", "duration": "P1D"}`)))
	for _, test := range refused {
		f.Add([]byte(test.document))
	}
	schema := compileSchema(f)
	f.Fuzz(func(t *testing.T, document []byte) {
		d, wrong := definition.Decode(document)
		if len(wrong) > 0 {
			return
		}
		written, err := json.Marshal(d)
		if err != nil {
			t.Fatalf("an accepted definition cannot be encoded: %v", err)
		}
		if _, wrong := definition.Decode(written); len(wrong) > 0 {
			t.Errorf("the encoded definition is rejected: %v", wrong)
		}
		if err := schema.Validate(parseInstance(t, document)); err != nil {
			t.Errorf("the schema rejects a definition that Decode accepts: %v\n%s", err, document)
		}
	})
}
