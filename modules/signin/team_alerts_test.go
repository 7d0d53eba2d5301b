package signin_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/alerts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/notices"
	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/runtime/work/event"
)

// newTeamFacts returns an event of each kind of alert, by the kind of its notice.
func newTeamFacts(accountID string) map[notices.NoticeKind]event.Fact {
	fact := func(typ event.Type, data event.Payload) event.Fact {
		return event.New(accountID, typ, time.Now(), data)
	}
	domain := event.Domain{DomainID: "dom_1", Name: "example.com"}
	webhook := event.DisabledWebhook{WebhookID: "wh_1", URL: "https://hooks.example.com:8443/secret?key=1", Reason: "failing"}
	refused := event.Degradation{DomainID: "dom_1", Name: "example.com", Provider: "Gmail", Problem: event.MailRefused,
		Share: 0.4, PreviousShare: 0.0125, Cause: "block"}
	deferred := refused
	deferred.Problem = event.MailDeferred
	gone := webhook
	gone.Reason = "gone"
	return map[notices.NoticeKind]event.Fact{
		notices.EndpointFailing: fact(event.WebhookDisabled, webhook),
		notices.EndpointGone:    fact(event.WebhookDisabled, gone),
		notices.DomainBroken:    fact(event.DomainTemporaryFailure, domain),
		notices.DomainFailed:    fact(event.DomainFailed, domain),
		notices.DomainLost:      fact(event.DomainLost, domain),
		notices.BounceRate: fact(event.AccountRateExceeded,
			event.ExceededRate{AccountID: accountID, Rate: event.BounceRate, Share: 0.0625, Limit: 0.05}),
		notices.ComplaintRate: fact(event.AccountRateExceeded,
			event.ExceededRate{AccountID: accountID, Rate: event.ComplaintRate, Share: 0.0015, Limit: 0.001}),
		notices.MailRefused:  fact(event.DomainDeliverabilityDegraded, refused),
		notices.MailDeferred: fact(event.DomainDeliverabilityDegraded, deferred),
	}
}

// consume handles facts like the bus does.
func (w *world) consume(t *testing.T, facts ...event.Fact) {
	t.Helper()
	for _, f := range facts {
		if err := w.db.InTx(t.Context(), func(tx *ent.Tx) error {
			return alerts.NewConsumer().Handle(t.Context(), tx, f)
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// wantAlerts sends due mail and compares it with the expected recipients and kinds.
func (w *world) wantAlerts(t *testing.T, what string, want ...string) (sent []notices.Notice) {
	t.Helper()
	var got []string
	sent = w.sendDueMail(t)
	for _, m := range sent {
		got = append(got, fmt.Sprint(m.To, " ", m.Kind))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s: the mails are %q, want %q", what, got, want)
	}
	return sent
}

// newTeamWithRoles returns the owner, and a developer, a billing manager and a viewer named after their roles.
func (w *world) newTeamWithRoles(t *testing.T) (owner accounts.Caller, byRole map[rights.Role]accounts.Caller) {
	t.Helper()
	owner = w.callerOf(t, w.setUp(t))
	byRole = map[rights.Role]accounts.Caller{}
	for _, r := range []rights.Role{rights.RoleDeveloper, rights.RoleBilling, rights.RoleViewer} {
		byRole[r] = w.addMember(t, owner, string(r)+"@example.com", r)
	}
	w.sendDueMail(t)
	return owner, byRole
}

// Each event of a team causes one email to each member who can act on it, with a link to the page concerned. A
// repeated event causes none, and other teams get none.
func TestMailsTeamAlertsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, _ := w.newTeamWithRoles(t)
	if _, err := w.CreateTeam(t.Context(), ada, "Another"); err != nil {
		t.Fatal(err)
	}
	paths := map[notices.NoticeKind]string{notices.EndpointFailing: "/webhooks/wh_1", notices.EndpointGone: "/webhooks/wh_1",
		notices.DomainBroken: "/domains/dom_1", notices.DomainFailed: "/domains/dom_1", notices.DomainLost: "/domains/dom_1",
		notices.BounceRate: "/statistics", notices.ComplaintRate: "/statistics",
		notices.MailRefused:  "/domains/dom_1?tab=deliverability",
		notices.MailDeferred: "/domains/dom_1?tab=deliverability"}
	facts := newTeamFacts(ada.AccountID)
	for _, kind := range slices.Sorted(maps.Keys(facts)) {
		w.consume(t, facts[kind], facts[kind])
		for _, m := range w.wantAlerts(t, string(kind), "ada@example.com "+string(kind),
			"developer@example.com "+string(kind)) {
			if m.Path != paths[kind] || m.BaseURL != base || m.Values["team"] != "Acme" {
				t.Errorf("%s: the mail links to %s%s for the team %q, want %s%s for Acme", kind, m.BaseURL, m.Path,
					m.Values["team"], base, paths[kind])
			}
			if host := m.Values["host"]; m.Path == "/webhooks/wh_1" && host != "hooks.example.com" {
				t.Errorf("%s: the mail names the endpoint %q, want its host only", kind, host)
			}
			if v := m.Values; v["provider"] != "" && (v["share"] != "40%" || v["previous"] != "1.25%" || v["cause"] != "block") {
				t.Errorf("%s: the values are %q, want 40%% after 1.25%% because of a block", kind, v)
			}
			if share := m.Values["share"]; kind == notices.ComplaintRate && share != "0.15%" {
				t.Errorf("%s: the share is %q, want 0.15%%", kind, share)
			}
		}
		w.consume(t, facts[kind])
		w.wantAlerts(t, string(kind)+" again")
	}
}

// A member can switch off each topic in each team. Other topics, members and teams are not affected.
func TestSwitchesTeamAlertsOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, byRole := w.newTeamWithRoles(t)
	other, err := w.CreateTeam(t.Context(), ada, "Another")
	if err != nil {
		t.Fatal(err)
	}
	change := func(c accounts.Caller, p alerts.Preferences) alerts.Preferences {
		t.Helper()
		got, err := w.ChangeUser(t.Context(), c, signin.UserChange{Alerts: p})
		if err != nil {
			t.Fatal(err)
		}
		return got.Alerts
	}
	change(ada, alerts.Preferences{alerts.Domains: false, alerts.Usage: false})
	got := change(ada, alerts.Preferences{alerts.Usage: true})
	if want := (alerts.Preferences{alerts.Webhooks: true, alerts.Domains: false, alerts.Rates: true,
		alerts.Deliverability: true, alerts.Usage: true}); !maps.Equal(got, want) {
		t.Errorf("the preferences are %v, want %v", got, want)
	}
	broken, disabled := string(notices.DomainBroken), string(notices.EndpointGone)
	facts, others := newTeamFacts(ada.AccountID), newTeamFacts(other)
	w.consume(t, facts[notices.DomainBroken])
	w.wantAlerts(t, "a topic that ada switched off", "developer@example.com "+broken)
	w.consume(t, facts[notices.EndpointGone])
	w.wantAlerts(t, "another topic", "ada@example.com "+disabled, "developer@example.com "+disabled)
	w.consume(t, others[notices.DomainBroken])
	w.wantAlerts(t, "another team", "ada@example.com "+broken)

	facts = newTeamFacts(ada.AccountID)
	w.consume(t, facts[notices.DomainBroken], facts[notices.EndpointGone])
	change(byRole[rights.RoleDeveloper], alerts.Preferences{alerts.Domains: false})
	if _, err := w.teams.SetRole(t.Context(), ada, byRole[rights.RoleDeveloper].Person.UserID,
		rights.RoleViewer); err != nil {
		t.Fatal(err)
	}
	w.wantAlerts(t, "a developer who became a viewer while the mail was queued", "ada@example.com "+disabled,
		"developer@example.com "+string(notices.RoleChanged))
}

// The preferences of a member end with the membership, and a former member gets no alerts.
func TestForgetsAlertPreferencesOfFormerMembers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, byRole := w.newTeamWithRoles(t)
	bob := byRole[rights.RoleDeveloper]
	if _, err := w.ChangeUser(t.Context(), bob,
		signin.UserChange{Alerts: alerts.Preferences{alerts.Webhooks: false}}); err != nil {
		t.Fatal(err)
	}
	facts := newTeamFacts(ada.AccountID)
	w.consume(t, facts[notices.DomainLost])
	if err := w.teams.Remove(t.Context(), ada, bob.Person.UserID); err != nil {
		t.Fatal(err)
	}
	w.wantAlerts(t, "a member who left while the mail was queued", "ada@example.com "+string(notices.DomainLost),
		"developer@example.com "+string(notices.MemberRemoved))
	if p, err := alerts.ReadPreferences(t.Context(), w.db.SQL, ada.AccountID, bob.Person.UserID); err != nil || p != nil {
		t.Errorf("the preferences of a former member are %v, %v; want none", p, err)
	}
	_, token := w.inviteUser(t, ada, "developer@example.com", rights.RoleDeveloper)
	if _, err := w.AcceptInvitation(t.Context(), signin.AcceptInput{Token: token, Password: bobsPassword}); err != nil {
		t.Fatal(err)
	}
	p, err := alerts.ReadPreferences(t.Context(), w.db.SQL, ada.AccountID, bob.Person.UserID)
	if err != nil || !p[alerts.Webhooks] {
		t.Errorf("the preferences of a member who joined again are %v, %v; want all topics", p, err)
	}
}

// A person gets at most five emails of a kind per day and team, even if many objects break together. Old events
// cause none.
func TestLimitsTeamAlerts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.callerOf(t, w.setUp(t))
	other, err := w.CreateTeam(t.Context(), ada, "Another")
	if err != nil {
		t.Fatal(err)
	}
	w.sendDueMail(t)
	var storm []event.Fact
	for range 30 {
		storm = append(storm, newTeamFacts(ada.AccountID)[notices.DomainBroken])
	}
	w.consume(t, storm...)
	mail := "ada@example.com " + string(notices.DomainBroken)
	w.wantAlerts(t, "30 domains", mail, mail, mail, mail, mail)
	w.consume(t, newTeamFacts(other)[notices.DomainBroken])
	w.wantAlerts(t, "another team", mail)
	old := newTeamFacts(ada.AccountID)[notices.DomainFailed]
	old.CreatedAt = time.Now().Add(-25 * time.Hour)
	w.consume(t, old)
	w.wantAlerts(t, "an event of yesterday")
}
