// Package id creates the public identifiers: a prefix that names the resource and a time-ordered suffix
// (UUIDv7 in Crockford base 32, the TypeID form), for example `msg_01kabm5yq3e0tv2w6z9j7r4d5c`. Clients
// must treat them as opaque.
package id

import (
	"strings"
	"time"

	"github.com/google/uuid"
	"go.jetify.com/typeid"

	"github.com/postrider/postrider/runtime/base/clock"
)

// Prefix names a resource in its ids.
type Prefix string

// The prefixes in use.
const (
	Account Prefix = "acc"
	User    Prefix = "usr"
	APIKey  Prefix = "key"

	Invitation Prefix = "inv"
	AuditEntry Prefix = "aud"
	Session    Prefix = "ses"
	Passkey    Prefix = "psk"
	Challenge  Prefix = "chl"

	Domain  Prefix = "dom"
	DKIMKey Prefix = "dkm"
	Claim   Prefix = "clm"
	Email   Prefix = "msg"
	Fact    Prefix = "evt"

	Suppression Prefix = "sup"
	OptOut      Prefix = "opt"
	Template    Prefix = "tpl"
	Image       Prefix = "img"

	Smarthost Prefix = "smh"
	Source    Prefix = "src"

	Automation  Prefix = "aut"
	CustomEvent Prefix = "ae"
	Run         Prefix = "run"

	SMS Prefix = "sms"

	Webhook         Prefix = "wh"
	WebhookDelivery Prefix = "whd"

	ReceivedEmail  Prefix = "inb"
	SMTPCredential Prefix = "smtp"
)

// New returns a new id. The ids of one process never go backwards, so `ORDER BY id` is the order of
// creation. It fails only if the system has no randomness.
func New(p Prefix) string {
	id, err := typeid.FromUUIDBytesWithPrefix(string(p), newV7())
	if err != nil {
		panic("id: prefix " + string(p) + " is not a TypeID prefix: " + err.Error())
	}
	return id.String()
}

// newV7 uses the time that all processes share, so that ids of several machines are in order of time.
func newV7() []byte {
	u := uuid.Must(uuid.NewV7())
	if by := clock.Offset(); by != 0 {
		setMilliseconds(&u, readMilliseconds(u[:])-by.Milliseconds())
	}
	return u[:]
}

// readMilliseconds returns the first 48 bits, RFC 9562 section 5.7.
func readMilliseconds(u []byte) (ms int64) {
	for _, octet := range u[:6] {
		ms = ms<<8 | int64(octet)
	}
	return ms
}

func setMilliseconds(u *uuid.UUID, ms int64) {
	ms = max(ms, 0)
	for i := range 6 {
		u[i] = byte(ms >> (40 - 8*i))
	}
}

// Is reports whether s is a well-formed id with the given prefix. No other id can exist, so callers can
// skip the lookup.
func Is(p Prefix, s string) bool {
	rest, found := strings.CutPrefix(s, string(p)+"_")
	if !found || len(rest) != 26 {
		return false
	}
	parsed, err := typeid.FromString(s)
	return err == nil && parsed.Prefix() == string(p)
}

// Since returns the smallest id that can have been created at t or later, by the clock of the process that
// creates ids: `id >= Since(p, t)` reads a range of an index.
func Since(p Prefix, t time.Time) string {
	var u uuid.UUID
	setMilliseconds(&u, t.UnixMilli())
	id, err := typeid.FromUUIDBytesWithPrefix(string(p), u[:])
	if err != nil {
		panic("id: prefix " + string(p) + " is not a TypeID prefix: " + err.Error())
	}
	return id.String()
}

// Time returns the time in milliseconds at which a well-formed id was created, by the clock of its creator.
// It returns the zero time for any other text.
func Time(s string) time.Time {
	parsed, err := typeid.FromString(s)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(readMilliseconds(parsed.UUIDBytes()))
}
