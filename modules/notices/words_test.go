package notices

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/accounts/alerts"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/web/theme"
)

// allKinds are the kinds of notices that the product sends.
var allKinds = append(func() (kinds []NoticeKind) {
	for _, k := range alerts.Kinds() {
		kinds = append(kinds, NoticeKind(k))
	}
	return kinds
}(), Reset, SignUp, AlreadyRegistered, Email, Invite, EmailAsked, LimitNear, LimitReached, IncludedNear,
	IncludedReached,
	PaymentFailed, PlanChanged)

var placeholder = regexp.MustCompile(`\{\w+\}`)

func findPlaceholders(texts ...string) []string {
	found := placeholder.FindAllString(strings.Join(texts, " "), -1)
	slices.Sort(found)
	return found
}

// Each language has texts for every notice, with the same placeholders as English.
func TestEveryLanguageHasEveryNotice(t *testing.T) {
	t.Parallel()
	english := wordsFor("en")
	for _, name := range theme.Languages() {
		w := wordsFor(name)
		if w.Language != name {
			t.Errorf("the file of the language %s has the texts of %s", name, w.Language)
		}
		if len(w.Kinds) != len(allKinds) {
			t.Errorf("%s: texts for %d notices, want %d", name, len(w.Kinds), len(allKinds))
		}
		for _, kind := range allKinds {
			got, want := w.Kinds[kind], english.Kinds[kind]
			if got.Subject == "" || len(got.Lines) != len(want.Lines) || (got.Button == "") != (want.Button == "") ||
				(got.End == "") != (want.End == "") {
				t.Errorf("%s: notice %s differs from the English structure: %+v", name, kind, got)
			}
			if diff := cmp.Diff(findPlaceholders(want.Subject), findPlaceholders(got.Subject)); diff != "" {
				t.Errorf("%s: the subject of %s has other placeholders (-English +%s):\n%s", name, kind, name, diff)
			}
			if diff := cmp.Diff(findPlaceholders(want.Lines...), findPlaceholders(got.Lines...)); diff != "" {
				t.Errorf("%s: the lines of %s have other placeholders (-English +%s):\n%s", name, kind, name, diff)
			}
		}
		for what, text := range map[string]string{"hello": w.Hello, "hello_name": w.HelloName, "someone": w.Someone,
			"a_team": w.ATeam, "unknown": w.Unknown, "security_button": w.SecurityButton, "security_end": w.SecurityEnd,
			"team_end": w.TeamEnd, "billing_button": w.BillingButton, "paying_end": w.PayingEnd,
			"alert_end": w.AlertEnd, "alert_off": w.AlertOff} {
			if text == "" {
				t.Errorf("%s: %s is empty", name, what)
			}
		}
		for cause := range english.Causes {
			if w.Causes[cause] == "" || len(w.Causes) != len(english.Causes) {
				t.Errorf("%s: the causes are %q, want texts for those in English", name, w.Causes)
			}
		}
		if diff := cmp.Diff([]string{"{profile}"}, findPlaceholders(w.AlertOff)); diff != "" {
			t.Errorf("%s: the sentence on how to switch alerts off has other placeholders:\n%s", name, diff)
		}
		if diff := cmp.Diff(findPlaceholders(english.Details...), findPlaceholders(w.Details...)); diff != "" {
			t.Errorf("%s: the details have other placeholders:\n%s", name, diff)
		}
	}
}

// User-chosen names never become a link, a line or a header of an email, even if they are older than the
// rules for names.
func TestSanitizesNamesInNotices(t *testing.T) {
	t.Parallel()
	hostile := []string{"URGENT: open https://evil.example now", "x\r\nBcc: eve@evil.example", "see evil.com today",
		"{{unsubscribe_url}}", "a\u202eb", strings.Repeat("long ", 40), `<a href="https://evil.example">x</a>`,
		"{role}"}
	for _, name := range theme.Languages() {
		for _, kind := range allKinds {
			for _, bad := range hostile {
				n := Notice{To: "bob@example.com", Kind: kind, Language: name, BaseURL: "https://mail.example.com",
					Path: "/page", Token: secret.New("token"),
					Values: map[string]string{"name": bad, "team": bad, "inviter": bad, "plan": bad, "role": "viewer",
						"host": bad, "domain": bad, "share": "6.25%", "limit": "5%", "provider": bad, "previous": "1%", "cause": bad,
						"before": "owner", "number": "1", "email": "new@example.com", "time": "2026-01-15 09:30"}}
				m, err := n.buildMessage("Postrider <no-reply@example.com>")
				if err != nil {
					t.Fatal(err)
				}
				if strings.ContainsAny(m.Subject, "\r\n") || len(m.Subject) > 400 {
					t.Errorf("%s, %s, name %q: the subject is %q", name, kind, bad, m.Subject)
				}
				for what, text := range map[string]string{"subject": m.Subject, "text": m.Text, "HTML": m.HTML} {
					if strings.Contains(text, "evil") || strings.Contains(text, "{{") ||
						strings.Contains(text, "\u202e") {
						t.Errorf("%s, %s, name %q: the %s is %q", name, kind, bad, what, text)
					}
				}
				if left := placeholder.FindString(strings.NewReplacer("{role}", "").
					Replace(m.Subject + m.Text)); left != "" {
					t.Errorf("%s, %s: placeholder %s is not replaced", name, kind, left)
				}
			}
		}
	}
}

// Team names are quoted, so that they cannot be mistaken for text of the installation.
func TestQuotesTeamNames(t *testing.T) {
	t.Parallel()
	for _, name := range theme.Languages() {
		for kind, s := range wordsFor(name).Kinds {
			for _, text := range append(slices.Clone(s.Lines), s.Subject) {
				before, _, found := strings.Cut(text, "{team}")
				if !found {
					continue
				}
				before = strings.TrimRight(before, " \u00a0")
				if !slices.ContainsFunc([]string{"“", "„", "«", "‘", "「"},
					func(quote string) bool { return strings.HasSuffix(before, quote) }) {
					t.Errorf("%s, %s: the team name is not quoted in %q", name, kind, text)
				}
			}
		}
	}
}
