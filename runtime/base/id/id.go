// Package id creates the public identifiers: a prefix that names the resource and a time-ordered suffix
// (UUIDv7 in Crockford base 32, the TypeID form), for example `msg_01kabm5yq3e0tv2w6z9j7r4d5c`. Clients
// must treat them as opaque.
//
// # Cells
//
// An installation can consist of several cells (docs/clusters.md). An id names the cell that created it, so
// that a proxy can route requests by the ids in them:
//
//	                  first 10 characters  next character  last 2 characters
//	cell 0 (UUIDv7)   milliseconds         e or f          random
//	cells 1 to 1023   milliseconds         g or h          the cell
//	(UUIDv8)
//
// All other bits are the same in both forms: 12 bits of sequence after the milliseconds, then random bits. The
// cell takes 10 of the 62 random bits, which leaves 52. Versions without cells created only UUIDv7, so their
// ids belong to cell 0.
//
// The cell is a routing hint. Clients can write any cell into an id, and an account can move to another cell
// with its ids, so nothing else may depend on it.
//
// # Uniqueness
//
// The sequence increases with every id of a process, so no process creates an id twice. Two processes of one cell
// create the same id only if the milliseconds, the sequence and all random bits are equal. The sequence allows a
// process 4,096 ids per millisecond. Two processes that both create that many all the time repeat an id once in
// 35 years with 52 random bits, and once in 36,000 years with 62. With one id per millisecond each, it is once in
// 580 million years with 52. A primary key then rejects the second row. Cells with different numbers never create
// the same id.
package id

import (
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"go.jetify.com/typeid"

	"github.com/postrider/postrider/runtime/base/clock"
)

// Prefix names a resource in its ids.
type Prefix string

// The prefixes in use.
const (
	Account     Prefix = "acc"
	TestTenant  Prefix = "tst" // see TestTenantOf
	User        Prefix = "usr"
	APIKey      Prefix = "key"
	OperatorKey Prefix = "opk"

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

// MaxCell is the highest cell number, which the last two characters of an id can express.
const MaxCell = 1<<cellBits - 1

const (
	cellBits    = 10
	cellVersion = 8 // of UUIDs that contain a cell
)

// cell is the number of the cell that this process belongs to.
var cell atomic.Uint32

// SetCell sets the cell of new ids, 0 to MaxCell, for the whole process.
func SetCell(n int) { cell.Store(uint32(n)) }

// OwnCell returns the number set by SetCell.
func OwnCell() int { return int(cell.Load()) }

// KeyTag returns what the cell adds to the prefix of new keys and passwords, for example `7_` for `svc_7_…`. It
// is empty in cell 0. It always begins with a digit, so other tags such as `test_` remain available.
func KeyTag() string {
	n := OwnCell()
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n) + "_"
}

// Cell returns the cell that an id names, and 0 for any other text. It is a routing hint (see the package).
func Cell(s string) int {
	parsed, err := typeid.FromString(s)
	if err != nil {
		return 0
	}
	u := parsed.UUIDBytes()
	if u[6]>>4 != cellVersion {
		return 0
	}
	return (int(u[14])<<8 | int(u[15])) & MaxCell
}

// New returns a new id. The ids of one process never go backwards, so `ORDER BY id` is the order of
// creation. It fails only if the system has no randomness.
func New(p Prefix) string {
	id, err := typeid.FromUUIDBytesWithPrefix(string(p), newUUID(cell.Load()))
	if err != nil {
		panic("id: prefix " + string(p) + " is not a TypeID prefix: " + err.Error())
	}
	return id.String()
}

// newUUID uses the time that all processes share, so that ids of several machines are in order of time.
func newUUID(cell uint32) []byte {
	u := uuid.Must(uuid.NewV7())
	if by := clock.Offset(); by != 0 {
		setMilliseconds(&u, readMilliseconds(u[:])-by.Milliseconds())
	}
	if cell != 0 {
		u[6] = cellVersion<<4 | u[6]&0x0f
		u[14] = u[14]&^(MaxCell>>8) | byte(cell>>8)
		u[15] = byte(cell)
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
