package signin

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/modules/notices"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/secret"
	"github.com/postrider/postrider/runtime/worker"
)

// channel is where it is told that a link's mail is to be written.
const channel = "sign_in_links"

// post has the mails of links and invitations sent. What is due is a row; its token is made when its
// mail is stored, in one transaction, so no mail is lost or doubled.
type post struct {
	db      *db.DB
	teams   *team.Service
	mailer  Mailer // nil: there is none
	signals *db.Signals
	log     *slog.Logger
	baseURL string
	tasks   *worker.Tasks
}

const (
	postBatch    = 20
	postAttempts = 12 // over about ten hours
)

func (p *post) start(more ...worker.Task) {
	for _, channel := range []string{channel, team.Channel} {
		woken, end := p.signals.Subscribe(channel)
		p.tasks.Start(worker.Task{Name: "mails of " + channel, Woken: woken, After: end, Step: func(ctx context.Context) (time.Duration, error) {
			return p.step(ctx, channel)
		}})
	}
	p.tasks.Start(more...)
}

// step writes what is due of a channel.
func (p *post) step(ctx context.Context, of string) (time.Duration, error) {
	run := p.links
	if of == team.Channel {
		run = p.invitations
	}
	n, err := run(ctx)
	if n == postBatch && err == nil {
		return 0, nil
	}
	return mailEvery, err
}

// due is a link whose mail is to be written, taken until Until.
type due struct {
	id       int64
	purpose  string
	email    string
	userName string
	known    bool // a user who may sign in has the address
	attempts int
	until    time.Time
}

const takeLinksSQL = `
UPDATE sign_in_links l SET attempts = attempts + 1, due_at = now() + least(interval '30 seconds' * power(2, attempts), interval '1 hour')
 WHERE l.id IN (SELECT id FROM sign_in_links WHERE due_at <= now() ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED)
RETURNING l.id, l.purpose, l.email, l.attempts, l.due_at,
	coalesce((SELECT u.name FROM users u WHERE u.email = l.email), ''), EXISTS (SELECT FROM users u WHERE u.email = l.email AND u.disabled_at IS NULL)`

func (p *post) links(ctx context.Context) (int, error) {
	list, err := db.All(ctx, p.db.SQL, func(d *due) []any {
		return []any{&d.id, &d.purpose, &d.email, &d.attempts, &d.until, &d.userName, &d.known}
	}, takeLinksSQL, postBatch)
	if err != nil {
		return 0, err
	}
	var failed []error
	for _, d := range list {
		failed = append(failed, p.link(ctx, d))
	}
	return len(list), errors.Join(failed...)
}

// mailOf decides what a link's mail is; false: there is none to write.
func (d due) mail() (m notices.Notice, wanted bool) {
	m = notices.Notice{To: d.email, Names: map[string]string{"name": d.userName}}
	switch {
	case d.purpose == "reset" && d.known:
		m.Kind, m.Path = notices.Reset, PathReset
	case d.purpose == "sign_up" && d.known:
		m.Kind = notices.Already
	case d.purpose == "sign_up":
		m.Kind, m.Path = notices.SignUp, PathSignUp
	case d.purpose == "email" && !d.known:
		m.Kind, m.Path = notices.Email, PathEmail
	default:
		return m, false
	}
	return m, true
}

const (
	mailedLinkSQL = `UPDATE sign_in_links SET token_hash = $3, due_at = NULL WHERE id = $1 AND due_at = $2 AND expires_at > now()`
	dropLinkSQL   = `DELETE FROM sign_in_links WHERE id = $1 AND due_at = $2`
)

func (p *post) link(ctx context.Context, d due) error {
	m, wanted := d.mail()
	if !wanted || p.mailer == nil || d.attempts > postAttempts {
		if wanted {
			p.log.WarnContext(ctx, "a sign-in mail is given up; `postrider user link` prints the same link", "purpose", d.purpose, "attempts", d.attempts)
		}
		_, err := db.Exec(ctx, p.db.SQL, dropLinkSQL, d.id, d.until)
		return err
	}
	token, hash := secret.NewToken("")
	m.Token, m.BaseURL = token, p.baseURL
	return p.mailer.Send(ctx, m, func(ctx context.Context, tx db.Execer) (bool, error) {
		n, err := db.Exec(ctx, tx, mailedLinkSQL, d.id, d.until, hash)
		return n > 0, err
	})
}

func (p *post) invitations(ctx context.Context) (int, error) {
	list, err := p.teams.TakeDue(ctx, postBatch)
	if err != nil {
		return 0, err
	}
	var failed []error
	for _, d := range list {
		failed = append(failed, p.invitation(ctx, d))
	}
	return len(list), errors.Join(failed...)
}

func (p *post) invitation(ctx context.Context, d team.Due) error {
	if p.mailer == nil || d.Attempts > postAttempts {
		p.log.WarnContext(ctx, "the mail of an invitation is given up", "invitation", d.ID, "attempts", d.Attempts)
		return p.teams.GiveUp(ctx, d)
	}
	token, hash := secret.NewToken("")
	m := notices.Notice{To: d.Email, Kind: notices.Invite, Path: PathInvite, Token: token, BaseURL: p.baseURL,
		Names: map[string]string{"team": d.AccountName, "inviter": d.Inviter, "role": string(d.Role)}}
	return p.mailer.Send(ctx, m, func(ctx context.Context, tx db.Execer) (bool, error) { return team.Mailed(ctx, tx, d, hash) })
}
