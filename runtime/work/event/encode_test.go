package event_test

import (
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/work/event"
)

func TestEncode(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 10, 0, 0, 123456789, time.FixedZone("", 3600))
	data := []byte(`{ "from": "Ada <a@x.test>", "n": 1 }`)
	for id, want := range map[string]string{
		"":      `{"type":"email.sent","created_at":"2026-03-01T09:00:00.123Z","data":{"from":"Ada <a@x.test>","n":1}}`,
		"evt_1": `{"id":"evt_1","type":"email.sent","created_at":"2026-03-01T09:00:00.123Z","data":{"from":"Ada <a@x.test>","n":1}}`,
	} {
		if got, err := event.Encode("acc_1", id, event.EmailSent, at, data); err != nil || string(got) != want {
			t.Errorf("an event with the id %q was encoded as %s, %v; want %s", id, got, err, want)
		}
	}
	const inTestMode = `{"type":"email.sent","mode":"test","created_at":"2026-03-01T09:00:00.123Z","data":{"from":"Ada <a@x.test>","n":1}}`
	if got, err := event.Encode("tst_1", "", event.EmailSent, at, data); err != nil || string(got) != inTestMode {
		t.Errorf("an event of test mode was encoded as %s, %v; want %s", got, err, inTestMode)
	}
	if got, err := event.Encode("acc_1", "", event.EmailSent, at, []byte(`{`)); err == nil {
		t.Errorf("data that is not JSON was encoded as %s", got)
	}
}
