package bus

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
)

// importedAge limits RecordImported to groups that run: the mark of one that is off may be years old.
const importedAge = time.Hour

const recordImported = `
INSERT INTO bus_handled (consumer, first_id, last_id, fact_ids)
SELECT consumer, min(id), max(id), array_agg(id ORDER BY id)
FROM (SELECT m.consumer, f.id, row_number() OVER (PARTITION BY m.consumer ORDER BY f.id) AS n
	FROM bus_marks m JOIN facts f ON f.account_id = $1 AND f.id >= m.until_id WHERE m.until_id >= $2) f
GROUP BY consumer, n / 1000`

// RecordImported records in tx that all groups have handled the facts of an account, which were imported together with
// what the handlers of another installation have written.
func RecordImported(ctx context.Context, tx db.Execer, accountID string) error {
	now, err := db.One(ctx, tx, db.Value[time.Time], `SELECT now()`)
	if err == nil {
		_, err = tx.ExecContext(ctx, recordImported, accountID, id.Since(id.Fact, now.Add(-importedAge)))
	}
	if err != nil {
		return fmt.Errorf("record imported facts: %w", err)
	}
	return nil
}
