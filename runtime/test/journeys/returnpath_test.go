package journeys_test

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/returnpath"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/test/harness"
)

// Every recipient's copy has its own envelope sender, from which only the service can determine the recipient
// and the message.
func TestReturnPathIdentifiesRecipient(t *testing.T) {
	t.Parallel()
	key := secret.NewKey()
	app := harness.Start(t, func(s setting.RawValues) { s["POSTRIDER_MASTER_KEY"] = key.Setting().Reveal() })
	app.MailDomain(t, "example.net")
	id := send(t, app, `{"from":"ada@dev.test","to":["bob@example.net","carol@example.net"],"subject":"s","text":"t"}`)
	waitForStatus(t, app, id, "delivered")
	app.MX.Wait(t, "two transactions", func(s smtptest.Stats) bool { return s.Accepted == 2 })

	box, err := secret.NewBox(key)
	if err != nil {
		t.Fatal(err)
	}
	paths, err := returnpath.New(box.DeriveEach("return path")...)
	if err != nil {
		t.Fatal(err)
	}
	recipients := recipientIDs(t, app, id)
	for _, m := range app.MX.Messages() {
		got, err := paths.Parse(m.From, time.Now())
		if err != nil {
			t.Errorf("the return path %s does not parse: %v", m.From, err)
		}
		if got.EmailID != id || got.RecipientID != recipients[m.To[0]] {
			t.Errorf("to %s: names %s and %d, want %s and %d", m.To[0], got.EmailID, got.RecipientID, id,
				recipients[m.To[0]])
		}
	}
}

func recipientIDs(t *testing.T, app *harness.App, emailID string) map[string]int64 {
	t.Helper()
	d, err := sql.Open("postgres", app.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	rows, err := d.QueryContext(t.Context(), `SELECT address, id FROM recipients WHERE email_id = $1`, emailID)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	ids := map[string]int64{}
	for rows.Next() {
		var address string
		var id int64
		if err := rows.Scan(&address, &id); err != nil {
			t.Fatal(err)
		}
		ids[address] = id
	}
	if err := rows.Err(); err != nil || len(ids) == 0 {
		t.Fatal(fmt.Errorf("recipients %v: %w", ids, err))
	}
	return ids
}
