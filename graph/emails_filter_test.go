package graph

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/sending/records"
)

func TestEveryFilterIsPassedOn(t *testing.T) {
	t.Parallel()
	status, to, from, tag, domain, q := email.StatusBounced, "to", "from", "tag", "domain", "q"
	since, until := time.Unix(1, 0), time.Unix(2, 0)
	got := emailFilter(&model.EmailFilter{Status: &status, To: &to, From: &from, Tag: &tag, Domain: &domain, Since: &since, Until: &until, Q: &q})
	want := records.Filter{Status: "bounced", To: "to", From: "from", Tag: "tag", Domain: "domain", Since: &since, Until: &until, Q: "q"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("filter (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(records.Filter{}, emailFilter(nil)); diff != "" {
		t.Errorf("no filter (-want +got):\n%s", diff)
	}
}
