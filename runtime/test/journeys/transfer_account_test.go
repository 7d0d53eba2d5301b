package journeys_test

import (
	_ "embed"
	"encoding/json"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/statistics"
	"github.com/postrider/postrider/runtime/ops/store"
	"github.com/postrider/postrider/runtime/ops/transfer"
	"github.com/postrider/postrider/runtime/test/harness"
	"github.com/postrider/postrider/runtime/work/bus"
)

//go:embed testdata/moved_account.sql
var movedAccountSQL string

// richWorld adds to newEventfulWorld what it lacks, so that every table has rows. It returns the browser of a member
// who exists only at the source, and so has the same id at the target.
func richWorld(t *testing.T, source *harness.App) (*world, *harness.Person) {
	t.Helper()
	w := newEventfulWorld(t, source)
	for _, kind := range []string{"/category-opt-outs", "/smtp-credentials", "/sms-messages", "/template-images",
		"/api-keys"} {
		w.values[kind] = owned[kind].add(t, source)
	}
	source.MailDomain(t, "example.com")
	wantAnswer(t, "an invitation", w.owner.Do(t, http.MethodPost, "/api/invitations",
		asked{"email": "bob@example.com", "role": "owner"}), http.StatusOK)
	var token []string
	harness.Eventually(t, "the invitation arrives", func() bool {
		for _, m := range source.MX.Messages() {
			if found := invitationLink.FindStringSubmatch(string(m.Data)); found != nil {
				token = found
			}
		}
		return token != nil
	})
	bob := source.Browser(t)
	wantAnswer(t, "bob accepting", bob.Do(t, http.MethodPost, "/api/invitations/accept",
		asked{"token": token[1], "name": "Bob", "password": bobsPassword}), http.StatusOK)
	wantAnswer(t, "a brand", bob.Do(t, http.MethodPut, "/api/account/brand", asked{"name": "Acme"}), http.StatusOK)
	w.values["userId"] = idOf(t, bob)
	w.values["domain"] = devDomainID(t, source)
	for kind, html := range map[string]string{"layout": "<main>{{content}}</main>", "partial": "<p>Bye</p>"} {
		wantAnswer(t, "a component", bob.Do(t, http.MethodPost, "/api/templates",
			asked{"name": kind, "alias": kind, "kind": kind, "html": html}), http.StatusOK)
	}
	domain := "/api/domains/" + devDomainID(t, source)
	wantAnswer(t, "rules of addresses", bob.Do(t, http.MethodPut, domain+"/address-rules",
		asked{"catch_all": true, "rules": []asked{{"match": "spam", "action": "reject"}}}), http.StatusOK)
	wantAnswer(t, "a tracking host", bob.Do(t, http.MethodPut, domain+"/tracking-host",
		asked{"host": "links.dev.test"}), http.StatusOK)
	wantAnswer(t, "an email with a file and a key", source.Do(t, http.MethodPost, "/api/emails",
		json.RawMessage(`{"from":"ada@dev.test","to":"eve@example.net","subject":"File","text":"t",
			"attachments":[{"filename":"a.txt","content":"aGk="}]}`), "Idempotency-Key", "k"), http.StatusOK)
	visit(t, http.MethodPost, unsubscribeLink(t, source, "bob@example.net", `,"category":"News"`),
		"List-Unsubscribe=One-Click")
	receive(t, source, "support@dev.test",
		strings.Replace(questionMessage, "<juergen@example.net>", "<bob@example.net>", 1))
	wantAnswer(t, "a suppression", bob.Do(t, http.MethodPost, "/api/suppressions",
		asked{"email": "bob@example.net"}), http.StatusOK)
	addReports(t, source)
	withStoreOf(t, source, masterKey('s'), func(s *store.Store, _ transfer.Options) { // so that there is a day to copy
		counting := statistics.New(statistics.Params{DB: s.DB, Facts: bus.NewLog(s.DB),
			Logger: slog.New(slog.DiscardHandler)})
		if err := counting.Count(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	if _, err := openDatabase(t, source).ExecContext(t.Context(), movedAccountSQL); err != nil {
		t.Fatal(err)
	}
	wantAnswer(t, "a check of the domain", bob.Do(t, http.MethodPost, domain+"/verify", nil), http.StatusOK)
	w.findIDs(t, bob)
	harness.Eventually(t, "the last request is in the log", func() bool {
		latest := bob.Do(t, http.MethodPost, "/graphql", asked{"query": `{apiRequests(first:1){nodes{operation}}}`})
		return strings.Contains(string(latest.Body), "verifyDomain")
	})
	return w, bob
}

var invitationLink = regexp.MustCompile(`/invite#([0-9A-Za-z]+)`)

// findIDs adds an id of each kind by the name of its field.
func (w *world) findIDs(t *testing.T, p *harness.Person) {
	t.Helper()
	var found struct{ Data map[string]json.RawMessage }
	p.Do(t, http.MethodPost, "/graphql", asked{"query": `{
		template: templates(first:1){nodes{id}}
		apiKey: apiKeys(first:1){nodes{id}}
		suppression: suppressions(first:1){nodes{id}}
		receivedEmail: receivedEmails(last:1){nodes{id}}
		customEvent: customEvents(first:1){nodes{id}}
		automationRun: automationRuns(filter:{status:WAITING}){nodes{id}}
		webhook: webhooks(filter:{enabled:true}){nodes{id deliveries(first:1){id}}}
	}`}).JSON(t, &found)
	for field, raw := range found.Data {
		var list struct {
			Nodes []struct {
				ID         string
				Deliveries []struct{ ID string }
			}
		}
		if err := json.Unmarshal(raw, &list); err != nil || len(list.Nodes) == 0 {
			t.Fatalf("decode %s of %s: %v", field, raw, err)
		}
		w.values[field] = list.Nodes[0].ID
		if d := list.Nodes[0].Deliveries; len(d) > 0 {
			w.values["webhookDelivery"] = d[0].ID
		}
	}
	w.values["template"] = w.values["templateId"] // it has versions
	w.values["webhookStatistics"], w.values["automationStatistics"] = w.values["webhook"], w.values["automation"]
}

// compareTables checks that all rows of the account are at the target, and that there are rows of each kind.
func compareTables(t *testing.T, source, target *harness.App) {
	t.Helper()
	here, there := rowsByTable(t, source, source.AccountID), rowsByTable(t, target, source.AccountID)
	for name := range tablesThatStay {
		delete(here, name)
		delete(there, name)
	}
	if diff := cmp.Diff(here, there); diff != "" {
		t.Errorf("the numbers of rows differ (-source +target):\n%s", diff)
	}
	for name, rows := range here {
		if rows == 0 && withoutRows[name] == "" {
			t.Errorf("%s has no rows, so the move of its rows is not tested", name)
		}
	}
}

// tablesThatStay are tables that a move does not copy; the tests of runtime/ops/transfer have the reasons.
var tablesThatStay = map[string]bool{"invitations": true, "sessions": true, "rate_limits": true,
	"storage_allowances": true, "usage_recounts": true, "sources": true, "billing_notices": true,
	"retention_marks": true, "captured_mails": true, "usage_reports": true, "exceeded_rates": true,
	"body_moves": true, "domain_claims": true, "billing_subscriptions": true, "exports": true}

// withoutRows are tables without rows in this test, with the reason.
var withoutRows = map[string]string{
	"statistics":           "only earlier versions wrote it",
	"statistics_latencies": "only earlier versions wrote it",
	"statistics_months":    "days are packed after the end of their month",
}

// rowsByTable counts the rows of an account in each table that names accounts or domains.
func rowsByTable(t *testing.T, app *harness.App, account string) map[string]int {
	t.Helper()
	handle := openDatabase(t, app)
	rows, err := handle.QueryContext(t.Context(), `SELECT c.relname, a.attname
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname IN ('account_id', 'domain_id') AND a.attnum > 0
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY 1, 2 DESC`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns := map[string]string{}
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			t.Fatal(err)
		}
		columns[table] = column // account_id if it has both
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for table, column := range columns {
		where := map[string]string{"account_id": `account_id = $1`,
			"domain_id": `domain_id IN (SELECT id FROM domains WHERE account_id = $1)`}[column]
		var n int
		count := `SELECT count(*) FROM ` + table + ` WHERE ` + where
		if err := handle.QueryRowContext(t.Context(), count, account).Scan(&n); err != nil {
			t.Fatal(err)
		}
		counts[table] = n
	}
	return counts
}
