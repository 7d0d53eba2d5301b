package automations

import (
	"fmt"
	"testing"

	"github.com/postrider/postrider/modules/automations"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// A definition that spells out a default is the same request under an idempotency key.
func TestDefinitionsWithDefaultsAreEqual(t *testing.T) {
	t.Parallel()
	canonical := func(text string) string {
		t.Helper()
		if _, wrong := automations.ParseDefinition([]byte(text)); len(wrong) > 0 {
			t.Errorf("%s is refused: %v", text, wrong)
		}
		got, err := idempotency.CanonicalBody([]byte(text), newBody(new(members)).Form())
		if err != nil {
			t.Fatal(err)
		}
		return string(got)
	}
	const document = `{"name":"n","trigger":{"event":"e"%s},"steps":[{"key":"s","type":%s%s}]}`
	const email = `"send_email","from":"a@dev.test","subject":"s","text":"t"`
	for step, defaults := range map[string][]string{
		`"delay","duration":"PT1H"`: {`,"next":"continue"`, `,"name":""`},
		email: {`,"to":"{{event.email}}"`, `,"to":["{{event.email}}"]`, `,"on_error":"fail"`,
			`,"on_suppressed":"continue"`, `,"unsubscribe":false`, `,"headers":{}`},
		`"wait_for_event","event":"z","timeout":"P1D"`:        {`,"since":"run","on_timeout":"continue","on_event":"continue"`},
		`"condition","if":"true"`:                             {`,"on_true":"continue","on_false":"end"`},
		`"webhook","url":"https://example.com/"`:              {`,"method":"POST","capture":false`},
		`"wait_until","window":{"from":"09:00","to":"10:00"}`: {`,"on_past":"continue"`},
		`"end"`: {`,"outcome":"completed"`},
	} {
		want := canonical(fmt.Sprintf(document, "", step, ""))
		for _, fields := range defaults {
			if got := canonical(fmt.Sprintf(document, `,"re_entry":"every_time","conditions":""`, step, fields)); got != want {
				t.Errorf("with defaults the canonical form is %s, want %s", got, want)
			}
		}
	}
	for _, other := range []string{`,"on_error":"continue"`, `,"unsubscribe":true`, `,"to":"b@dev.test"`} {
		if canonical(fmt.Sprintf(document, "", email, other)) == canonical(fmt.Sprintf(document, "", email, "")) {
			t.Errorf("a step with %s equals one without", other)
		}
	}
}
