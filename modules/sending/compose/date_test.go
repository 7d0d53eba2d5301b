package compose

import (
	"testing"

	"github.com/postrider/postrider/modules/sending/sendingtest"
)

// The Date of a released message is the time of its release.
func TestReleasedMessageHasReleaseDate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.send(t, simpleMessage("a@example.net"))
	f.Exec(t, `UPDATE emails SET created_at = created_at - interval '5 days'`)
	f.Exec(t, `UPDATE recipients SET created_at = created_at - interval '5 days'`)
	e, err := f.records.Get(t.Context(), sendingtest.Account, id)
	if err != nil {
		t.Fatal(err)
	}
	if loaded := f.load(t, id); !loaded.date.Equal(*e.SentAt) {
		t.Errorf("the message is dated %s, want %s", loaded.date, e.SentAt)
	}
}
