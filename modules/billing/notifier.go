package billing

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/notices"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Mailer sends the installation's own email. It calls hold in the transaction that stores the email, and stores
// it only if hold returns true.
type Mailer interface {
	Send(ctx context.Context, n notices.Notice, hold func(ctx context.Context, tx db.Execer) (bool, error)) error
}

// Notifier sends mail to the members who manage billing (owners, and members with the role billing) about
// approaching and reached limits, failed payments and changed plans. Each email is sent once per person, kind
// and period: the transaction that stores an email also records that it was sent. It is safe for concurrent
// use, including across processes.
type Notifier struct {
	db      *db.DB
	mailer  Mailer
	baseURL string
}

// NewNotifier returns a new Notifier.
func NewNotifier(d *db.DB, m Mailer, baseURL string) *Notifier { return &Notifier{d, m, baseURL} }

// usedSQL selects the emails of accounts in the current month, and the thresholds of usage that they reached. The
// emails of a month are the larger of two counts: those counted toward a cap, and those sent.
const usedSQL = `
WITH month AS (SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM') AS name, date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' AS start),
used AS (
	SELECT a.id, m.name, least(p.monthly_emails, a.monthly_limit) AS cap, p.included_emails AS included,
		greatest(coalesce((SELECT emails FROM usages u WHERE u.account_id = a.id AND u.period = m.name), 0),
			coalesce((SELECT sum(emails) FROM usage_hours h WHERE h.account_id = a.id AND h.hour >= m.start), 0)) AS emails
	  FROM accounts a JOIN plans p ON p.id = a.plan_id CROSS JOIN month m
	 WHERE NOT a.system AND NOT a.unmetered AND (p.monthly_emails IS NOT NULL OR a.monthly_limit IS NOT NULL OR p.included_emails IS NOT NULL)
), reached AS (
	SELECT id AS account_id, CASE WHEN emails >= cap THEN 'limit_reached' ELSE 'limit_near' END AS kind, name AS period, cap AS number, emails FROM used WHERE emails >= cap * 0.8
	UNION ALL
	SELECT id, CASE WHEN emails >= included THEN 'included_reached' ELSE 'included_near' END, name, included, emails FROM used WHERE included > 0 AND emails >= included * 0.8
)`

// dueNoticesSQL selects the notices that are due. A failed payment causes a notice on the same day, after three
// days and after seven; a change of plan causes one within a day. Members can switch off those about usage.
const dueNoticesSQL = usedSQL + `, told AS (
	SELECT account_id, kind, period, number, true AS usage FROM reached
	UNION ALL
	SELECT id, 'payment_failed', to_char(payment_due_at, 'YYYY-MM-DD') || ' ' || d.days AS period, d.days, false FROM accounts, LATERAL (
		SELECT max(days) AS days FROM (VALUES (0), (3), (7)) v (days) WHERE payment_due_at + v.days * interval '1 day' <= now()) d WHERE payment_due_at IS NOT NULL
	UNION ALL
	SELECT account_id, 'plan_changed', id, 0, false FROM audit_entries WHERE action = 'billing.synced' AND changes ? 'plan' AND created_at > now() - interval '1 day'
)
SELECT t.account_id, t.kind, t.period || ' ' || u.id, t.number, a.name, p.name, u.email, u.name
  FROM told t JOIN accounts a ON a.id = t.account_id JOIN plans p ON p.id = a.plan_id
  JOIN memberships s ON s.account_id = t.account_id AND s.role IN ('owner', 'billing') JOIN users u ON u.id = s.user_id AND u.disabled_at IS NULL
 WHERE NOT (t.usage AND coalesce(s.muted_alerts ? 'usage', false))
   AND NOT EXISTS (SELECT FROM billing_notices n WHERE n.account_id = t.account_id AND n.kind = t.kind AND n.period = t.period || ' ' || u.id)
 ORDER BY t.account_id, t.kind LIMIT $1`

const noteSQL = `INSERT INTO billing_notices (account_id, kind, period) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`

const noticeBatch = 100

type dueNotice struct {
	accountID, kind, period  string
	number                   int64
	team, plan, email, named string
}

// kinds maps each kind of notice to its texts.
var kinds = map[string]notices.NoticeKind{
	"limit_near": notices.LimitNear, "limit_reached": notices.LimitReached, "included_near": notices.IncludedNear, "included_reached": notices.IncludedReached,
	"payment_failed": notices.PaymentFailed, "plan_changed": notices.PlanChanged,
}

// Run sends the notices that are due.
func (s *Notifier) Run(ctx context.Context) error {
	list, err := db.All(ctx, s.db.SQL, func(d *dueNotice) []any {
		return []any{&d.accountID, &d.kind, &d.period, &d.number, &d.team, &d.plan, &d.email, &d.named}
	}, dueNoticesSQL, noticeBatch)
	if err != nil {
		return fmt.Errorf("billing notices: %w", err)
	}
	var failed []error
	for _, d := range list {
		failed = append(failed, s.sendNotice(ctx, d))
	}
	return errors.Join(failed...)
}

func (s *Notifier) sendNotice(ctx context.Context, d dueNotice) error {
	n := notices.Notice{To: d.email, Kind: kinds[d.kind], BaseURL: s.baseURL, Path: accounts.UpgradeURL,
		Values: map[string]string{"name": d.named, "team": d.team, "plan": d.plan,
			"number": strconv.FormatInt(d.number, 10)}}
	return s.mailer.Send(ctx, n, func(ctx context.Context, tx db.Execer) (bool, error) {
		noted, err := db.Exec(ctx, tx, noteSQL, d.accountID, d.kind, d.period)
		return noted == 1, err
	})
}
