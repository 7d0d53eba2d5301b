package openapi_test

import (
	"testing"
	"time"

	"github.com/postrider/postrider/rest/api/openapi"
)

func TestTomorrowIsTheDayAfterTheMomentByUTC(t *testing.T) {
	t.Parallel()
	late := time.Date(2027, 12, 31, 20, 0, 0, 0, time.FixedZone("", -5*60*60)) // the next year by UTC
	got := string(openapi.OfToday([]byte(`{"at":"`+openapi.Tomorrow+
		`T09:30:00Z","created_at":"2026-01-15T09:30:00.000Z"}`), late))
	if want := `{"at":"2028-01-02T09:30:00Z","created_at":"2026-01-15T09:30:00.000Z"}`; got != want {
		t.Errorf("OfToday of a document gave %s, want %s", got, want)
	}
}
