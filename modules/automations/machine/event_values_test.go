package machine

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Expressions see an event with the same fields as in the API, including times with milliseconds.
func TestEventValuesMatchAPI(t *testing.T) {
	t.Parallel()
	at := time.Date(2027, 2, 3, 4, 5, 6, 0, time.FixedZone("", 3600))
	for want, e := range map[string]*Event{
		"2027-02-03T03:05:06.000Z": {ID: "ae_1", Name: "n", Source: "api", CreatedAt: at},
		"2027-02-03T03:05:06.120Z": {ID: "ae_1", Name: "n", Source: "api", CreatedAt: at.Add(120456 * time.Microsecond)},
	} {
		if diff := cmp.Diff(map[string]any{"id": "ae_1", "name": "n", "source": "api", "user_id": nil, "email": nil,
			"created_at": want, "data": map[string]any{}}, e.values()); diff != "" {
			t.Errorf("the values of an event (-want +got):\n%s", diff)
		}
	}
}
