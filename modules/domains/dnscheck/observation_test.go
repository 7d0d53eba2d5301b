package dnscheck

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/schema/shape"
)

func TestUnansweredRecordKeepsItsState(t *testing.T) {
	t.Parallel()
	known := []shape.RecordState{
		{Purpose: "ownership", Status: "verified", Found: []string{"a"}},
		{Purpose: "dkim", Status: "mismatch", Found: []string{"b"}, Error: "Replace it."},
	}
	seen := []Observation{
		{Purpose: Ownership, Unanswered: true, Advice: "Wait."},
		{Purpose: DKIM, Unanswered: true, Advice: "Wait."},
		{Purpose: SPF, Unanswered: true, Advice: "Wait."},
		{Purpose: DMARC, Status: Verified, Found: []string{"c"}},
	}
	want := []shape.RecordState{
		known[0], known[1],
		{Purpose: "spf", Status: "missing", Found: []string{}, Error: "Wait."},
		{Purpose: "dmarc", Status: "verified", Found: []string{"c"}},
	}
	if diff := cmp.Diff(want, Merge(known, seen)); diff != "" {
		t.Error(diff)
	}
}
