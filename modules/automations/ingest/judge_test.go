package ingest

import (
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
