package body_test

import (
	"testing"
	"time"

	"github.com/postrider/postrider/rest/api/body"
)

func TestOffsetsOfTimes(t *testing.T) {
	t.Parallel()
	for text, valid := range map[string]bool{
		"2026-01-15T09:30:00Z": true, "2026-01-15t09:30:00z": true, "2026-01-15T09:30:00+14:00": true, "2026-01-15T09:30-12:00": true,
		"2026-01-15T09:30:00+23:59": true, "2026-01-15T09:30:00+24:00": false, "2026-01-15T09:30:00-24:00": false, "2026-01-15T09:30:00+2400": false,
		"2026-01-15T09:30:00+00:60": false, "2026-01-15T09:30:00-0199": false, "2026-01-15T09:30+24": false, "2026-01-15T09:30+0545": true,
		"2026-01-15T09:30:00": false, "2026-01-15": false,
	} {
		root, err := body.ParseObject([]byte(`{"at": "` + text + `"}`))
		if err != nil {
			t.Fatal(err)
		}
		type in struct{ at time.Time }
		_, err = body.Decode(root, func(i *in) body.Object {
			return body.Object{Fields: []body.Field{{Name: "at", Type: body.Time(&i.at)}}}
		})
		if (err == nil) != valid {
			t.Errorf("%s: %v, want valid %t", text, err, valid)
		}
	}
}
