package sending

import (
	"testing"
)

// The statement and the transaction must store the same: the same message is sent both ways, and every column
// is compared.
func TestStatementStoresTheSameAsTheTransaction(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.send(t, simpleMessage("bob@example.net"))
	f.Near.Left = 10 // capped: the transaction
	second := f.send(t, simpleMessage("bob@example.net"))
	for _, table := range []struct{ query string }{
		{`SELECT to_jsonb(e) - 'id' - 'message_id' - 'created_at' - 'sent_at' FROM emails e WHERE id = $1`},
		{`SELECT to_jsonb(r) - 'id' - 'email_id' - 'created_at' - 'due_at' - 'queued_at' FROM recipients r WHERE email_id = $1 ORDER BY id`},
		{`SELECT to_jsonb(f) - 'id' - 'created_at' - 'subject_id' #- '{data,email_id}' #- '{data,created_at}' FROM facts f WHERE subject_id = $1`},
	} {
		var a, b string
		for id, into := range map[string]*string{first: &a, second: &b} {
			if err := f.DB.SQL.QueryRowContext(t.Context(), table.query, id).Scan(into); err != nil {
				t.Fatal(err)
			}
		}
		if a != b {
			t.Errorf("%s\none statement: %s\ntransaction:   %s", table.query, a, b)
		}
	}
}
