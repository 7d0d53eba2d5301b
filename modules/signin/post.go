package signin

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/signinlink"
	"github.com/postrider/postrider/modules/accounts/alerts"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/modules/notices"
	"github.com/postrider/postrider/modules/signin/cells"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
)

// channel is the notification channel for links whose mail is due.
const channel = "sign_in_links"

// mailQueue sends the mail of links, invitations and alerts. Each queued email is a row. The token in its link
// is created in the transaction that stores the email, so no email is lost or sent twice.
type mailQueue struct {
	db      *db.DB
	teams   *team.Service
	mailer  Mailer // nil disables mail
	cells   *cells.Cells
	signals *db.Signals
	log     *slog.Logger
	baseURL string
	tasks   *worker.Tasks
}

const (
	mailsFreely  = 5 // emails per mailbox, day and purpose; then none is sent while the latest link is valid
	postBatch    = 20
	postAttempts = 12 // over about ten hours
	askAttempts  = 5  // at other cells, over about eight minutes
)

func (p *mailQueue) start(more ...worker.Task) {
	for _, channel := range []string{channel, team.Channel, alerts.Channel} {
		woken, end := p.signals.Subscribe(channel)
		p.tasks.Start(worker.Task{Name: "mails of " + channel, Woken: woken, After: end,
			Step: func(ctx context.Context) (time.Duration, error) {
				return p.processBatch(ctx, channel)
			}})
	}
	p.tasks.Start(more...)
}

// processBatch processes a batch of due mail of a channel.
func (p *mailQueue) processBatch(ctx context.Context, of string) (time.Duration, error) {
	run := map[string]func(context.Context) (int, error){channel: p.sendLinks, team.Channel: p.sendInvitations,
		alerts.Channel: p.sendAlerts}[of]
	n, err := run(ctx)
	if n == postBatch && err == nil {
		return 0, nil
	}
	return mailEvery, err
}

// dueLink is a link whose email is due, claimed until the time until.
type dueLink struct {
	id        int64
	purpose   string
	email     string
	userName  string
	newEmail  string // the new address, for a link that cancels the change
	known     bool   // an enabled user has the address
	overLimit bool   // skip the email: the mailbox got mailsFreely emails today, and one of their links is still valid
	attempts  int
	until     time.Time
}

const takeLinksSQL = `
UPDATE sign_in_links l SET attempts = attempts + 1, due_at = now() + least(interval '30 seconds' * power(2, attempts), interval '1 hour')
 WHERE l.id IN (SELECT id FROM sign_in_links WHERE due_at <= now() ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED)
RETURNING l.id, l.purpose, l.email, l.attempts, l.due_at,
	coalesce((SELECT u.name FROM users u WHERE u.email = l.email), ''), EXISTS (SELECT FROM users u WHERE u.email = l.email AND u.disabled_at IS NULL),
	coalesce((SELECT n.email FROM sign_in_links n WHERE l.purpose = 'email_stop' AND n.user_id = l.user_id AND n.purpose = 'email' LIMIT 1), ''),
	l.purpose IN ('reset', 'sign_up') AND NOT l.known_device
		AND (SELECT count(*) FROM sign_in_links o WHERE o.email = l.email AND o.purpose = l.purpose AND o.due_at IS NULL AND o.created_at > now() - interval '1 day') >= $2
		AND EXISTS (SELECT FROM sign_in_links o WHERE o.email = l.email AND o.purpose = l.purpose AND o.due_at IS NULL AND o.used_at IS NULL AND o.expires_at > now() + interval '15 minutes')`

func (p *mailQueue) sendLinks(ctx context.Context) (int, error) {
	list, err := db.All(ctx, p.db.SQL, func(d *dueLink) []any {
		return []any{&d.id, &d.purpose, &d.email, &d.attempts, &d.until, &d.userName, &d.known, &d.newEmail,
			&d.overLimit}
	}, takeLinksSQL, postBatch, mailsFreely)
	if err != nil {
		return 0, err
	}
	var failed []error
	var unknown []dueLink
	for _, d := range list {
		if d.purpose == string(signinlink.PurposeReset) && !d.known && p.cells.Exist() {
			unknown = append(unknown, d)
			continue
		}
		failed = append(failed, p.sendLink(ctx, d))
	}
	if len(unknown) > 0 {
		failed = append(failed, p.askCells(ctx, unknown))
	}
	return len(list), errors.Join(failed...)
}

// buildNotice returns the notice for a link, and false if no email must be sent.
func (d dueLink) buildNotice() (m notices.Notice, wanted bool) {
	m = notices.Notice{To: d.email, Values: map[string]string{"name": d.userName}}
	switch {
	case d.purpose == "reset" && d.known:
		m.Kind, m.Path = notices.Reset, PathReset
	case d.purpose == "sign_up" && d.known:
		m.Kind = notices.AlreadyRegistered
	case d.purpose == "sign_up":
		m.Kind, m.Path = notices.SignUp, PathSignUp
	case d.purpose == "email" && !d.known:
		m.Kind, m.Path = notices.Email, PathEmail
	case d.purpose == "email_stop":
		m.Kind, m.Path = notices.EmailAsked, PathStop
		m.Values["email"] = d.newEmail
	default:
		return m, false
	}
	return m, true
}

const (
	mailedLinkSQL = `UPDATE sign_in_links SET token_hash = $3, due_at = NULL WHERE id = $1 AND due_at = $2 AND expires_at > now()`
	dropLinkSQL   = `DELETE FROM sign_in_links WHERE id = $1 AND due_at = $2`
)

func (p *mailQueue) drop(ctx context.Context, d dueLink) error {
	_, err := db.Exec(ctx, p.db.SQL, dropLinkSQL, d.id, d.until)
	return err
}

func (p *mailQueue) sendLink(ctx context.Context, d dueLink) error {
	m, wanted := d.buildNotice()
	wanted = wanted && !d.overLimit
	if !wanted || p.mailer == nil || d.attempts > postAttempts {
		if wanted {
			p.log.WarnContext(ctx, "sign-in mail not sent; run `postrider admin user link` to create a sign-in link",
				"purpose", d.purpose, "attempts", d.attempts)
		}
		return p.drop(ctx, d)
	}
	token, hash := secret.NewToken("")
	m.Token, m.BaseURL = token, p.baseURL
	return p.mailer.Send(ctx, m, func(ctx context.Context, tx db.Execer) (bool, error) {
		n, err := db.Exec(ctx, tx, mailedLinkSQL, d.id, d.until, hash)
		return n > 0, err
	})
}

func (p *mailQueue) sendAlerts(ctx context.Context) (int, error) {
	list, err := alerts.Claim(ctx, p.db.SQL, postBatch)
	if err != nil {
		return 0, err
	}
	var failed []error
	for _, d := range list {
		failed = append(failed, p.sendAlert(ctx, d))
	}
	return len(list), errors.Join(failed...)
}

// sendAlert sends the email of an alert. Security alerts over the daily limit of their kind are only recorded
// in the audit log.
func (p *mailQueue) sendAlert(ctx context.Context, d alerts.ClaimedAlert) error {
	if d.Kind == alerts.Locked {
		return p.db.InTx(ctx, func(tx *ent.Tx) error { return alerts.SettleLock(ctx, tx, d) })
	}
	if !d.IsWanted() {
		return alerts.GiveUp(ctx, p.db.SQL, d)
	}
	if p.mailer == nil || d.OverDailyLimit || d.Attempts > postAttempts {
		p.log.WarnContext(ctx, "alert not mailed", "kind", d.Kind, "user_id", d.UserID, "attempts", d.Attempts,
			"limit_reached", d.OverDailyLimit)
		return alerts.GiveUp(ctx, p.db.SQL, d)
	}
	m := notices.Notice{To: d.Email, Kind: notices.NoticeKind(d.Kind), Values: d.Names, BaseURL: p.baseURL,
		Path: d.Names["path"]}
	if m.Kind.IsSecurity() {
		m.Path = PathReset
	}
	return p.mailer.Send(ctx, m, func(ctx context.Context,
		tx db.Execer) (bool, error) {
		return alerts.MarkMailed(ctx, tx, d)
	})
}

func (p *mailQueue) sendInvitations(ctx context.Context) (int, error) {
	list, err := p.teams.TakeDue(ctx, postBatch)
	if err != nil {
		return 0, err
	}
	var failed []error
	for _, d := range list {
		failed = append(failed, p.sendInvitation(ctx, d))
	}
	return len(list), errors.Join(failed...)
}

func (p *mailQueue) sendInvitation(ctx context.Context, d team.Due) error {
	if p.mailer == nil || d.Attempts > postAttempts {
		p.log.WarnContext(ctx, "invitation not mailed", "invitation", d.ID, "attempts", d.Attempts)
		return p.teams.GiveUp(ctx, d)
	}
	token, hash := secret.NewToken("")
	m := notices.Notice{To: d.Email, Kind: notices.Invite, Path: PathInvite, Token: token, BaseURL: p.baseURL,
		Values: map[string]string{"team": d.AccountName, "inviter": d.Inviter, "role": string(d.Role)}}
	return p.mailer.Send(ctx, m, func(ctx context.Context,
		tx db.Execer) (bool, error) {
		return team.SetInvitationToken(ctx, tx, d, hash)
	})
}
