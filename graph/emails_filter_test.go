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
	status, last, to, from, domain, key, template, automation, class, q := email.StatusBounced, "email.bounced", "to",
		"from", "domain", "key", "template", "automation", "class", "q"
	since, until := time.Unix(1, 0), time.Unix(2, 0)
	got := emailFilter(&model.EmailFilter{Status: &status, LastEvent: &last, To: &to, From: &from,
		Tag: &model.TagInput{Name: "env", Value: "prod"}, DomainID: &domain,
		APIKeyID: &key, TemplateID: &template, AutomationID: &automation, BounceClass: &class, Opened: new(true),
		Clicked:   new(false),
		CreatedAt: &model.DateTimeFilter{Gte: &since, Lt: &until}, Query: &q}, []string{"dom_1"})
	want := records.Filter{Status: "bounced", LastEvent: "email.bounced", To: "to", From: "from", Tag: "env:prod",
		Domain: "domain", APIKeyID: "key", TemplateID: "template",
		AutomationID: "automation", BounceClass: "class", Opened: new(true), Clicked: new(false), Since: &since,
		Until: &until, Q: "q",
		DomainIDs: []string{"dom_1"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("filter (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(records.Filter{}, emailFilter(nil, nil)); diff != "" {
		t.Errorf("no filter (-want +got):\n%s", diff)
	}
}
