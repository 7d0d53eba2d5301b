package journeys_test

import (
	"database/sql"
	"encoding/hex"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/harness"
)

// An erased recipient is in no column of any table, and remains suppressed.
func TestErasedRecipientIsRemovedEverywhere(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	app := harness.Start(t, func(s setting.RawValues) { s["DATABASE_URL"] = url })
	app.MailDomain(t, "example.net")
	send(t, app, `{"from":"ada@dev.test","to":"Bob <Bob@example.net>","subject":"one","text":"x"}`)
	shared := send(t, app,
		`{"from":"ada@dev.test","to":["bob@example.net","carol@example.net"],"subject":"two","text":"Dear Bob@example.net","unsubscribe":true}`)
	relayed := seedRelayed(t, app)
	app.MX.Wait(t, "six transactions", func(s smtptest.Stats) bool { return s.Accepted == 6 })
	waitForStatus(t, app, shared, "delivered")
	waitForStatus(t, app, relayed, "delivered")
	stored := slices.DeleteFunc(rowsWith(t, url, "dear bob@example.net of smtp"),
		func(row string) bool { return strings.HasPrefix(row, "api_requests:") })
	if len(stored) != 2 {
		t.Error("the search does not find the relayed mail")
	}
	app.Do(t, http.MethodPost, "/api/suppressions", map[string]string{"email": "bob@example.net"})
	for _, from := range []string{"From: Bob <Bob@example.net>", "From: eve@example.net\r\nCc: bob@example.net"} {
		receive(t, app, "support@dev.test", from+"\r\nSubject: Hello\r\n\r\nbob@example.net wrote this.\r\n")
	}

	var erased struct {
		OK     bool
		Erased struct{ Emails, Redacted, Suppressions, Received int }
	}
	app.Do(t, http.MethodDelete, "/api/contacts/bob@example.net/data", nil).JSON(t, &erased)
	if !erased.OK || erased.Erased.Emails != 2 || erased.Erased.Redacted != 3 || erased.Erased.Suppressions != 1 ||
		erased.Erased.Received != 2 {
		t.Errorf("the erasure returned %+v, want 2 emails, 3 redacted, 1 suppression and 2 received", erased)
	}
	for _, row := range rowsWith(t, url, "bob@example.net") {
		t.Errorf("still there: %s", row)
	}
	var blocked struct{ ID, Status string }
	app.Do(t, http.MethodPost, "/api/emails", map[string]any{"from": "ada@dev.test", "to": "bob@example.net",
		"subject": "three", "text": "x"}).JSON(t, &blocked)
	if blocked.Status != "failed" {
		t.Errorf("an email to the erased address is %s", blocked.Status)
	}
}

// An address belongs to no account: an erasure affects only the data of the requesting account.
func TestErasureIsLimitedToAccount(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	id := send(t, app, `{"from":"ada@dev.test","to":"bob@example.net","subject":"one","text":"x"}`)
	waitForStatus(t, app, id, "delivered")
	before := app.Do(t, http.MethodGet, "/api/emails/"+id, nil)
	answer := app.Stranger(t, "stranger").Do(t, http.MethodDelete, "/api/contacts/bob@example.net/data", nil)
	if want := `{"ok":true,"erased":{"emails":0,"redacted":0,"suppressions":0,"received":0,"events":0}}`; string(answer.Body) != want {
		t.Errorf("another account got %d %s", answer.Status, answer.Body)
	}
	if after := app.Do(t, http.MethodGet, "/api/emails/"+id, nil); string(after.Body) != string(before.Body) {
		t.Errorf("another account changed %s to %s", before.Body, after.Body)
	}
}

// seedRelayed relays to Bob alone, to him and another recipient (the id that it returns), and to both at a
// later time.
func seedRelayed(t *testing.T, app *harness.App) string {
	t.Helper()
	s, bob, both := signIn(t, app), []string{"bob@example.net"}, []string{"bob@example.net", "carol@example.net"}
	letter := func(fields, text string) string {
		return "From: ada@dev.test\nTo: Bob <Bob@Example.net>, carol@example.net\nSubject: relayed\nX-Customer: bob@example.net\n" + fields + "\n" + text + "\n"
	}
	s.mustRelay("ada@dev.test", bob, letter("", "Dear bob@example.net of SMTP"))
	s.mustRelay("ada@dev.test", both, letter("X-Postrider-Scheduled-At: "+time.Now().Add(time.Hour).UTC().
		Format(time.RFC3339)+"\n", "Dear all"))
	return s.mustRelay("ada@dev.test", both, letter("", "Dear bob@example.net of SMTP"))
}

// bytes returns a bytea as PostgreSQL writes it.
var octets = regexp.MustCompile(`\\x([0-9a-f]+)`)

// rowsWith searches every table, including bytea columns.
func rowsWith(t *testing.T, url, text string) []string {
	t.Helper()
	conn, err := sql.Open("postgres", url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var found []string
	for _, table := range queryColumn(t, conn,
		`SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`) {
		for _, row := range queryColumn(t, conn, fmt.Sprintf(`SELECT r::text FROM %q AS r`, table)) {
			row = octets.ReplaceAllStringFunc(row, func(written string) string {
				raw, err := hex.DecodeString(octets.FindStringSubmatch(written)[1])
				if err != nil {
					return written
				}
				return string(raw)
			})
			if strings.Contains(strings.ToLower(row), text) {
				found = append(found, table+": "+row)
			}
		}
	}
	return found
}

func queryColumn(t *testing.T, conn *sql.DB, query string) []string {
	t.Helper()
	rows, err := conn.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
