package ingest

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/fault"
)

// White space at either end is a mistake that is hard to see, and would name another event or person.
func TestRejectsSurroundingWhiteSpace(t *testing.T) {
	t.Parallel()
	for field, p := range map[string]Post{
		"name":    {Name: "order.paid "},
		"user_id": {Name: "order.paid", UserID: "\u00a0u-1"},
	} {
		if _, err := validatePost(p); fault.Classify(err).Fields[field] != "cannot begin or end with white space" {
			t.Errorf("%q with user_id %q returned %v, want an error in field %s", p.Name, p.UserID, err, field)
		}
	}
	if _, err := validatePost(Post{Name: "order paid", UserID: "u 1"}); err != nil {
		t.Errorf("white space inside the name returned %v", err)
	}
}

// Data with several mistakes always gets the same error.
func TestErrorsOfDataDoNotDependOnMapOrder(t *testing.T) {
	t.Parallel()
	data := []byte(`{"a":"\u0000","b":[1` + strings.Repeat(",1", maxValues) + `],"\u0000":2}`)
	for range 20 {
		if _, _, err := judgeData(data); err == nil || !strings.HasPrefix(err.Error(), "cannot contain more than") {
			t.Fatalf("data with NUL characters and too many values returned %v, want always the limit on values", err)
		}
	}
	if _, _, err := judgeData([]byte(`{"a":{"\u0000":1}}`)); err == nil || !strings.Contains(err.Error(), "NUL") {
		t.Errorf("a name with a NUL character returned %v, want an error", err)
	}
}
