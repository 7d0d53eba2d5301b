package sms

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/smssettings"
	"github.com/postrider/postrider/modules/sms/handover"
	"github.com/postrider/postrider/modules/sms/textmsg"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Message is a text message to one number.
type Message struct {
	To   string // E.164
	From string // empty to let the provider choose
	Text string

	// The run that sends the message, if any.
	AutomationID, RunID string
	Version, Step       int
	UserID, EmailKey    string // id of the person
}

// Receipt describes a message that Send stored.
type Receipt struct {
	ID         string
	Encoding   textmsg.Encoding
	Segments   int
	Suppressed bool // the recipient replied STOP, so the message has failed
}

// StoreGuard decides, in the transaction that stores a message, whether it may be stored, and records the
// decision. It is called last, after the caps are counted.
type StoreGuard func(ctx context.Context, tx db.Execer, r Receipt) (held bool, err error)

// ErrNotHeld is returned if a guard refused to store its message. The transaction must be rolled back.
var ErrNotHeld = errors.New("the guard of the text message no longer holds")

// Error codes of rejected messages.
const (
	CodeRecipient  = "invalid_recipient"
	CodeSender     = "invalid_sender"
	CodeText       = "invalid_text"
	CodeTooLong    = "sms_too_long"
	CodeCountry    = "sms_country_not_allowed"
	CodeCap        = "sms_cap_reached"
	CodeNoProvider = "sms_no_provider"
)

// triesFor is how long a message is retried while its provider is unavailable.
const triesFor = 4 * time.Hour

// perHour is how many messages per hour an account can send to one number.
const perHour = 10

func newRefusal(kind fault.Kind, code, format string, args ...any) error {
	return &fault.Error{Kind: kind, Code: code, Message: fmt.Sprintf(format, args...)}
}

// validMessage is a message that passed the checks that do not depend on its account.
type validMessage struct {
	Message

	id       string
	number   textmsg.Number
	encoding textmsg.Encoding
	segments int
}

func validateMessage(m Message) (validMessage, error) {
	a := validMessage{Message: m, id: id.New(id.SMS)}
	var err error
	if a.number, err = textmsg.Parse(m.To); err != nil {
		return a, newRefusal(fault.Invalid, CodeRecipient, "to %s", err)
	}
	if m.From != "" {
		if err := textmsg.CheckSender(m.From); err != nil {
			return a, newRefusal(fault.Invalid, CodeSender, "from %s", err)
		}
	}
	switch {
	case strings.TrimSpace(m.Text) == "":
		return a, newRefusal(fault.Invalid, CodeText, "text cannot be empty")
	case !utf8.ValidString(m.Text) || strings.ContainsFunc(m.Text, isControl):
		return a, newRefusal(fault.Invalid, CodeText, "text cannot contain control characters or invalid UTF-8")
	}
	if a.encoding, a.segments = textmsg.Count(m.Text); a.segments > textmsg.Max {
		return a, newRefusal(fault.Invalid, CodeTooLong,
			"text has %d parts in the encoding %s, and must have at most %d",
			a.segments, a.encoding, textmsg.Max)
	}
	return a, nil
}

func isControl(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune("\n\r\f\t", r) }

// maxText exceeds the size in bytes of any text with segment.Max parts. The parts of longer texts are not
// counted.
const maxText = 64 << 10

func tooLong() error {
	return newRefusal(fault.Invalid, CodeTooLong, "text must be at most %d bytes", maxText)
}

// Send stores a message in a transaction. Call Wake after the commit to submit it. The error is ErrNotHeld, or
// a fault.Error that explains why the message cannot be sent; the transaction must then be rolled back. Caps
// are counted first and the guard is called last, so that locks are always acquired in the same order.
func (s *Service) Send(ctx context.Context, tx db.Execer, accountID string, m Message,
	guard StoreGuard) (Receipt, error) {
	if len(m.Text) > maxText {
		return Receipt{}, tooLong()
	}
	a, err := validateMessage(m)
	if err != nil {
		return Receipt{}, err
	}
	way, err := s.wayOf(ctx, tx, accountID, a.number)
	if err != nil {
		return Receipt{}, err
	}
	receipt := Receipt{ID: a.id, Encoding: a.encoding, Segments: a.segments}
	if receipt.Suppressed, err = s.optOuts.Has(ctx, tx, accountID, a.number.E164, way.Own); err != nil {
		return Receipt{}, err
	}
	if !receipt.Suppressed {
		if err := s.countMessage(ctx, tx, accountID, a, way); err != nil {
			return Receipt{}, err
		}
	}
	if guard != nil {
		held, err := guard(ctx, tx, receipt)
		if err != nil {
			return Receipt{}, err
		}
		if !held {
			return Receipt{}, ErrNotHeld
		}
	}
	return receipt, s.insertMessage(ctx, tx, accountID, a, way, receipt.Suppressed)
}

// routeLimits is the route of a message and its limits.
type routeLimits struct {
	handover.Route

	dailyCap int
	planCap  *int   // limit of messages through the operator's provider; nil if unlimited
	plan     string // name of the plan
}

// wayOf returns the route of a message and its limits. It fails if there is no provider, if the country is not
// allowed, or if the account is suspended.
func (s *Service) wayOf(ctx context.Context, tx db.Execer, accountID string, to textmsg.Number) (routeLimits, error) {
	if id.IsTestTenant(accountID) {
		return routeLimits{}, fault.Forbiddenf(fault.CodeInsufficientScope, "Text messages are not available in test mode")
	}
	account, err := s.accounts.Account(ctx, accountID)
	if err != nil {
		return routeLimits{}, err
	}
	if account.Suspended {
		return routeLimits{}, fault.Forbiddenf(fault.CodeAccountSuspended,
			"This account is suspended and cannot send; contact the operator of this service")
	}
	row, err := s.settings.Row(ctx, tx, accountID)
	if err != nil {
		return routeLimits{}, err
	}
	route, err := s.settings.RouteOf(accountID, row)
	if err != nil {
		return routeLimits{}, err
	}
	if reason := whyUnusable(row, route); reason != "" {
		return routeLimits{}, newRefusal(fault.Invalid, CodeNoProvider, "%s", reason)
	}
	if !route.Own && !account.IsUnlocked(true) {
		return routeLimits{}, fault.Forbiddenf(fault.CodeProductionLocked,
			"Production is not unlocked for this account, so it cannot send text messages through the operator's provider")
	}
	if row == nil || !slices.Contains(row.Countries, to.Region) {
		return routeLimits{}, newRefusal(fault.Invalid, CodeCountry,
			"to is a number in %s, which is not one of the countries that this account sends text messages to",
			to.Region)
	}
	w := routeLimits{Route: route, dailyCap: row.DailyCap, plan: account.Plan.Name}
	if !route.Own {
		w.planCap = account.Plan.DailySMS
	}
	return w, nil
}

// whyUnusable returns why no message can be sent, or an empty string.
func whyUnusable(row *ent.SMSSettings, route handover.Route) string {
	switch {
	case route.Provider != nil:
		return ""
	case row != nil && row.Provider == smssettings.ProviderNone:
		return "text messages are disabled for this account"
	}
	return "this account has no SMS provider, and the operator of this service offers none"
}

// Problem returns why an account cannot send text messages now, or an empty string.
func (s *Service) Problem(ctx context.Context, accountID string) (string, error) {
	row, err := s.settings.Row(ctx, s.db.SQL, accountID)
	if err != nil {
		return "", err
	}
	route, err := s.settings.RouteOf(accountID, row)
	if err != nil {
		return "the SMS provider cannot be used with its current settings; set it up again", nil //nolint:nilerr // the error is the problem
	}
	if reason := whyUnusable(row, route); reason != "" {
		return reason, nil
	}
	if row == nil || len(row.Countries) == 0 {
		return "this account has not allowed any country for text messages", nil
	}
	return "", nil
}

var insertSQL = db.Compile(`
INSERT INTO sms_messages (id, account_id, "to", number_hash, region, "from", text, encoding, segments, own_provider, provider, status, error_code, error, due_at, expires_at,
	automation_id, run_id, version, step_index, user_id, email_key, created_at, settled_at)
VALUES (@id, @account, @to, @hash, @region, @from, @text, @encoding, @segments, @own, @provider, CASE WHEN @suppressed THEN 'failed' ELSE 'queued' END,
	CASE WHEN @suppressed THEN 'suppressed' ELSE '' END, CASE WHEN @suppressed THEN 'the recipient replied STOP' ELSE '' END,
	CASE WHEN NOT @suppressed THEN now() END, now() + @tries * interval '1 second',
	NULLIF(@automation, ''), NULLIF(@run, ''), @version, @step, NULLIF(@user, ''), NULLIF(@email, ''), now(), CASE WHEN @suppressed THEN now() END)`)

func (s *Service) insertMessage(ctx context.Context, tx db.Execer, accountID string, a validMessage, w routeLimits,
	suppressed bool) error {
	_, err := tx.ExecContext(ctx, insertSQL.Text, insertSQL.Args(db.Arg("id", a.id), db.Arg("account", accountID),
		db.Arg("to", a.number.E164), db.Arg("hash", s.optOuts.Hash(a.number.E164)),
		db.Arg("region", a.number.Region), db.Arg("from", a.From), db.Arg("text", a.Text),
		db.Arg("encoding", string(a.encoding)), db.Arg("segments", a.segments),
		db.Arg("own", w.Own), db.Arg("provider", w.Provider.Name()), db.Arg("suppressed", suppressed),
		db.Arg("tries", triesFor.Seconds()),
		db.Arg("automation", a.AutomationID), db.Arg("run", a.RunID), db.Arg("version", a.Version),
		db.Arg("step", a.Step), db.Arg("user", a.UserID), db.Arg("email", a.EmailKey))...)
	if err != nil {
		return fmt.Errorf("store a text message: %w", err)
	}
	return nil
}
