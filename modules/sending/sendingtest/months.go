package sendingtest

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db/months"
	"github.com/postrider/postrider/runtime/work/event"
)

// ByMonth splits the delivery tables into four monthly partitions. Emails sent afterwards are distributed over
// them in turn.
func (p *Parts) ByMonth(t *testing.T) {
	t.Helper()
	tables, err := months.FindTables("facts", "emails", "recipients", "attempts")
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		if err := months.Move(t.Context(), p.DB, table, p.Logger, func(string) {}); err != nil {
			t.Fatal(err)
		}
		state, err := months.ReadTableState(t.Context(), p.DB.SQL, table)
		if err != nil {
			t.Fatal(err)
		}
		rest := state.Months[len(state.Months)-1]
		all, from := []string{`ALTER TABLE ` + table.Name + ` DETACH PARTITION ` + rest.Name, `DROP TABLE ` +
			rest.Name}, rest.From
		for n := range 2 {
			below := id.Since(table.Prefix, id.Time(from).AddDate(0, 1, 0))
			all = append(all, fmt.Sprintf(`CREATE TABLE %s_ahead_%d PARTITION OF %[1]s FOR VALUES FROM ('%[3]s') TO ('%[4]s')`, table.Name, n, from, below))
			from = below
		}
		p.Exec(t,
			strings.Join(append(all, fmt.Sprintf(`CREATE TABLE %s PARTITION OF %s FOR VALUES FROM ('%s') TO (MAXVALUE)`, rest.Name, table.Name, from)), "; "))
	}
}

// MoveToNextMonth moves an email to a different month than the previous one if the tables are partitioned by
// month, and returns its new id.
func (p *Parts) MoveToNextMonth(t *testing.T, emailID string) string {
	t.Helper()
	if split, err := months.Split(t.Context(), p.DB.SQL, "recipients"); err != nil || !split {
		if err != nil {
			t.Fatal(err)
		}
		return emailID
	}
	ahead := []int{0, 2, 3, 4}[p.spread.Add(1)%4] // the first partition of a table ends in two months at the latest
	if ahead == 0 {
		return emailID
	}
	moved := id.Since(id.Email, months.Begin(time.Now()).AddDate(0, ahead, 0))[:14] + emailID[14:]
	p.Exec(t, strings.NewReplacer("$1", "'"+emailID+"'", "$2", "'"+moved+"'").Replace(`
INSERT INTO emails SELECT (jsonb_populate_record(e, jsonb_build_object('id', $2))).* FROM emails e WHERE id = $1;
UPDATE recipients SET email_id = $2 WHERE email_id = $1;
UPDATE attachments SET email_id = $2 WHERE email_id = $1;
DELETE FROM emails WHERE id = $1`))
	if err := p.DB.InHotTx(t.Context(),
		func(tx *sql.Tx) error { return p.republishFacts(t.Context(), tx, emailID, moved) }); err != nil {
		t.Fatal(err)
	}
	return moved
}

// republishFacts publishes the facts of an email again under its new id.
func (p *Parts) republishFacts(ctx context.Context, tx *sql.Tx, emailID, moved string) error {
	told, err := p.Bus.Log().Facts(ctx, Account, emailID)
	if err != nil {
		return err
	}
	var facts []event.Fact
	for _, f := range told[emailID] {
		var data event.Email
		if err := json.Unmarshal(f.Data, &data); err != nil {
			return err
		}
		data.EmailID = moved
		facts = append(facts, event.New(f.AccountID, f.Type, f.CreatedAt, data))
	}
	if _, err := p.Bus.Forget(ctx, tx, Account, emailID); err != nil {
		return err
	}
	return p.Bus.Publish(ctx, tx, facts...)
}
