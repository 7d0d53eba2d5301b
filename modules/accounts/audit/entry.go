package audit

import (
	"context"
	"maps"
	"net/netip"
	"strings"
	"unicode"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/auditentry"
	"github.com/postrider/postrider/ent/membership"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/id"
)

// The kinds of actors.
const (
	ByUser     = "user"
	ByKey      = "key"
	ByOperator = "operator" // the command line, or the operator pages
	BySystem   = "system"
)

// Actor is the author of an action. Name is the name at the time of the action.
type Actor struct{ Kind, ID, Name string }

// ActorOf returns the actor for the caller of a request.
func ActorOf(c accounts.Caller) Actor {
	if p := c.Person; p != nil {
		return Actor{ByUser, p.UserID, p.Email}
	}
	if o := c.Operator; o != nil {
		return Actor{ByOperator, o.KeyID, o.Name}
	}
	return Actor{ByKey, c.KeyID, ""}
}

// OperatorOf returns the operator, or the operator key, that makes a change. The zero Caller is the command line.
func OperatorOf(c accounts.Caller) Actor {
	actor := ActorOf(c)
	actor.Kind = ByOperator
	return actor
}

// Origin describes the source of a request.
type Origin struct {
	Addr      netip.Addr // zero if unknown
	Agent     string     // the unchanged User-Agent header
	RequestID string
	Languages string // the unchanged Accept-Language header
	Device    string // the unchanged device cookie, which identifies a browser
}

// IP returns the address as text, or "" if it is unknown.
func (o Origin) IP() string {
	if !o.Addr.IsValid() {
		return ""
	}
	return o.Addr.String()
}

const maxUserAgent = 300 // bytes

// UserAgent returns the header, sanitized for storage and display.
func (o Origin) UserAgent() string {
	clean := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(o.Agent[:min(len(o.Agent), 2*maxUserAgent)], ""))
	return strings.ToValidUTF8(clean[:min(len(clean), maxUserAgent)], "")
}

type originKey struct{}

// WithOrigin returns a context with the origin of a request.
func WithOrigin(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// OriginOf returns the origin in a context, or the zero Origin.
func OriginOf(ctx context.Context) Origin {
	o, _ := ctx.Value(originKey{}).(Origin)
	return o
}

// Entry is one line of the log.
type Entry struct {
	AccountID string // empty if the entry is about the installation
	Actor     Actor
	Action    string         // for example member.removed
	Target    string         // id
	Changes   map[string]any // never a secret
}

// WriteForMember writes an entry about a person to the log of each of their teams, in the transaction of the
// change. If the person has no team, it writes to the log of the installation.
func WriteForMember(ctx context.Context, tx *ent.Tx, userID string, e Entry) error {
	teams, err := tx.Membership.Query().Where(membership.UserID(userID)).Order(ent.Asc(membership.FieldID)).
		Select(membership.FieldAccountID).Strings(ctx)
	if err != nil {
		return err
	}
	if len(teams) == 0 {
		teams = []string{""}
	}
	for _, e.AccountID = range teams {
		if err := Write(ctx, tx, e); err != nil {
			return err
		}
	}
	return nil
}

// Write writes an entry in the transaction of the change. What an operator key does for an account is also written to
// the log of the installation, with the account.
func Write(ctx context.Context, tx *ent.Tx, e Entry) error {
	if err := insert(ctx, tx, e); err != nil || e.AccountID == "" || !id.Is(id.OperatorKey, e.Actor.ID) {
		return err
	}
	changes := map[string]any{"account": e.AccountID}
	maps.Copy(changes, e.Changes)
	e.AccountID, e.Changes = "", changes
	return insert(ctx, tx, e)
}

func insert(ctx context.Context, tx *ent.Tx, e Entry) error {
	o := OriginOf(ctx)
	create := tx.AuditEntry.Create().SetID(id.New(id.AuditEntry)).SetActorKind(auditentry.ActorKind(e.Actor.Kind)).
		SetActorID(e.Actor.ID).
		SetActorName(e.Actor.Name).SetAction(e.Action).SetTarget(e.Target).SetIP(o.IP()).SetUserAgent(o.UserAgent()).
		SetRequestID(o.RequestID)
	if e.AccountID != "" {
		create.SetAccountID(e.AccountID)
	}
	if len(e.Changes) > 0 {
		create.SetChanges(e.Changes)
	}
	return create.Exec(ctx)
}
