package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postrider/postrider/modules/statistics/rollup"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/batch"
)

// Reasons is the table of rejection reasons. A rebuild uses its own table.
const (
	Reasons        = "statistics_reasons"
	RebuiltReasons = "rebuilt_statistics_reasons"
)

// hostsMost is the maximum number of reasons with a host per account and hour. Beyond it, hosts are not stored.
const hostsMost = 200

// refusal is a row of statistics_reasons.
type refusal struct {
	rollup.Reason
	rollup.Refused
}

var refusalRows = batch.New("v",
	batch.Text("account_id", func(r refusal) string { return r.AccountID }),
	batch.Time("start", func(r refusal) time.Time { return r.Hour }),
	batch.Text("domain_id", func(r refusal) string { return r.DomainID }),
	batch.Text("api_key_id", func(r refusal) string { return r.APIKeyID }),
	batch.Text("template_id", func(r refusal) string { return r.TemplateID }),
	batch.Text("automation_id", func(r refusal) string { return r.AutomationID }),
	batch.Text("class", func(r refusal) string { return r.Class }),
	batch.Text("enhanced_code", func(r refusal) string { return r.EnhancedCode }),
	batch.Text("host", func(r refusal) string { return r.Host }),
	batch.Int("recipients", func(r refusal) int64 { return r.Recipients }),
	batch.Text("email_id", func(r refusal) string { return r.EmailID }),
)

// ReasonKey identifies a row of Reasons.
const ReasonKey = `account_id, start, domain_id, api_key_id, template_id, automation_id, class, enhanced_code, host`

var reasonStatements = map[string]*db.Statement{Reasons: addReasonsTo(Reasons),
	RebuiltReasons: addReasonsTo(RebuiltReasons)}

func addReasonsTo(table string) *db.Statement {
	return db.Compile(`INSERT INTO ` + table + ` AS s (` + refusalRows.Columns() + `) SELECT ` + refusalRows.Values() + ` FROM ` + refusalRows.Source() + `
ON CONFLICT (` + ReasonKey + `) DO UPDATE SET recipients = s.recipients + excluded.recipients, email_id = excluded.email_id`)
}

// AddReasons adds rejections to a table, in the order of their keys.
func AddReasons(ctx context.Context, tx db.Execer, table string, reasons map[rollup.Reason]*rollup.Refused) error {
	if len(reasons) == 0 {
		return nil
	}
	if err := forgetHosts(ctx, tx, table, reasons); err != nil {
		return err
	}
	rows := make([]refusal, 0, len(reasons))
	for reason, refused := range reasons {
		rows = append(rows, refusal{reason, *refused})
	}
	slices.SortFunc(rows, func(a, b refusal) int { return compareReasons(a.Reason, b.Reason) })
	statement := reasonStatements[table]
	if _, err := db.Exec(ctx, tx, statement.Text, statement.Args(refusalRows.Rows(rows))...); err != nil {
		return fmt.Errorf("count reasons: %w", err)
	}
	return nil
}

func compareReasons(a, b rollup.Reason) int {
	return cmp.Or(cmp.Compare(a.AccountID, b.AccountID), a.Hour.Compare(b.Hour), cmp.Compare(a.DomainID, b.DomainID),
		cmp.Compare(a.APIKeyID, b.APIKeyID),
		cmp.Compare(a.TemplateID, b.TemplateID), cmp.Compare(a.AutomationID, b.AutomationID),
		cmp.Compare(a.Class, b.Class), cmp.Compare(a.EnhancedCode, b.EnhancedCode), cmp.Compare(a.Host, b.Host))
}

// forgetHosts merges the reasons of an hour that has too many, dropping their hosts: those not stored yet, the
// least frequent ones first.
func forgetHosts(ctx context.Context, tx db.Execer, table string, reasons map[rollup.Reason]*rollup.Refused) error {
	type hour struct {
		account string
		start   time.Time
	}
	byHour := map[hour][]rollup.Reason{}
	for reason := range reasons {
		if reason.Host != "" {
			at := hour{reason.AccountID, reason.Hour}
			byHour[at] = append(byHour[at], reason)
		}
	}
	for at, list := range byHour {
		stored, err := db.All(ctx, tx, func(r *rollup.Reason) []any {
			return []any{&r.DomainID, &r.APIKeyID, &r.TemplateID, &r.AutomationID, &r.Class, &r.EnhancedCode, &r.Host}
		}, `SELECT domain_id, api_key_id, template_id, automation_id, class, enhanced_code, host FROM `+table+
			` WHERE account_id = $1 AND start = $2 AND host <> ''`, at.account, at.start)
		if err != nil {
			return fmt.Errorf("read reasons: %w", err)
		}
		known := map[rollup.Reason]bool{}
		for _, reason := range stored {
			reason.AccountID, reason.Hour = at.account, at.start
			known[reason] = true
		}
		slices.SortFunc(list, func(a, b rollup.Reason) int {
			return cmp.Or(cmp.Compare(reasons[b].Recipients, reasons[a].Recipients), compareReasons(a, b))
		})
		room := hostsMost - len(known)
		for _, reason := range list {
			if known[reason] {
				continue
			}
			if room--; room >= 0 {
				continue
			}
			refused := reasons[reason]
			delete(reasons, reason)
			reason.Host = ""
			if together := reasons[reason]; together != nil {
				together.Recipients += refused.Recipients
				together.EmailID = max(together.EmailID, refused.EmailID)
			} else {
				reasons[reason] = refused
			}
		}
	}
	return nil
}
