package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Blocker is the reason why a step was tried but not finished. The run waits, and the step is retried.
type Blocker struct {
	Code    string    `json:"code"`
	Message string    `json:"message"`
	Since   time.Time `json:"since"` // time of the first of consecutive tries

	Until     time.Time `json:"-"` // time of the next try
	ByAccount bool      `json:"-"` // a change to the account or its plan makes the step due earlier
	Counted   bool      `json:"-"` // the try counts toward the limit after which the run fails
}

// String returns a code, a colon and a sentence, like the errors of runs.
func (b *Blocker) String() string { return b.Code + ": " + b.Message }

// encode encodes the reason. It returns "" for a step that is not blocked.
func (b *Blocker) encode() string {
	if b == nil {
		return ""
	}
	text, err := json.Marshal(b)
	if err != nil {
		panic("runs: a reason cannot be encoded: " + err.Error()) // contains only strings and a time
	}
	return string(text)
}

// ReadBlocked decodes the reason stored in a row of work. It returns nil for an empty document.
func ReadBlocked(document []byte) (*Blocker, error) {
	if len(document) == 0 {
		return nil, nil //nolint:nilnil // the step is not blocked
	}
	b := &Blocker{}
	return b, json.Unmarshal(document, b)
}

// HomeAccount returns the SQL expression for id.HomeAccount of a column. The prefixes of accounts and test tenants have
// the same length.
func HomeAccount(column string) string {
	return fmt.Sprintf(`'%s' || substr(%s, %d)`, id.Account, column, len(id.Account)+1)
}

// believed is how long a process may use outdated account data.
const believed = `interval '5 seconds'`

// retryRefusedSQL makes steps due that were rejected because of their account, once the account or its plan has
// changed; those of a test tenant depend on its account. Steps rejected before the change become due immediately. Steps
// rejected shortly after it, by a process that had not seen it yet, become due when every process has. The query skips
// from one account to the next in the index of rejected work.
var retryRefusedSQL = `
WITH RECURSIVE refused AS (
	(SELECT account_id FROM automation_works WHERE refused_at IS NOT NULL ORDER BY account_id LIMIT 1)
	UNION ALL
	SELECT (SELECT w.account_id FROM automation_works w WHERE w.refused_at IS NOT NULL AND w.account_id > r.account_id ORDER BY w.account_id LIMIT 1)
	FROM refused r WHERE r.account_id IS NOT NULL
), changed AS (
	SELECT r.account_id AS id, greatest(a.changed_at, p.changed_at) AS at FROM refused r JOIN accounts a ON a.id = ` + HomeAccount("r.account_id") + ` JOIN plans p ON p.id = a.plan_id
), due AS (
	SELECT w.id FROM changed c CROSS JOIN LATERAL (
		SELECT w.id FROM automation_works w
		WHERE w.account_id = c.id AND w.refused_at < c.at + CASE WHEN now() > c.at + ` + believed + ` THEN ` + believed + ` ELSE interval '0' END AND w.due_at > now()
		ORDER BY w.refused_at LIMIT $1 FOR UPDATE SKIP LOCKED
	) w
)
UPDATE automation_works w SET due_at = now() FROM due d WHERE w.id = d.id`

// RetryRefused makes steps due that were rejected because of accounts that have changed since, up to limit per
// account, and returns how many there were.
func RetryRefused(ctx context.Context, on db.Execer, limit int) (int, error) {
	n, err := db.Exec(ctx, on, retryRefusedSQL, limit)
	return n, wrapError(err, "retry steps rejected because of accounts")
}
