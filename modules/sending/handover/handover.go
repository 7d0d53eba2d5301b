package handover

import (
	"context"
	"sync"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/batch"
)

// Email is an accepted email as it is stored.
type Email struct {
	*ent.Email

	Size int // bytes of bodies and attachments
}

// MaxSize is the largest email, by Size, that is handed over. Larger ones are read when they are claimed.
const MaxSize = 256 << 10

// Recipient is a recipient that is about to be stored and is due immediately.
type Recipient struct {
	Email       *Email
	Address     string
	Destination string
}

// Claim is how a recipient is stored as claimed.
type Claim struct {
	EmailID string
	Address string
	Way     string // label of the way out
	Ahead   bool   // no connection is free for it
	Node    int32  // ID of this process; 0: none
	Lease   time.Duration
}

// Stored is a recipient that was stored as claimed.
type Stored struct {
	ID      int64
	EmailID string
	Address string
	Due     int64 // when it would have been due unclaimed, in microseconds since 1970 by the database clock
}

// Offer lists which recipients a process claims. Begin, Release or Abandon ends it. A nil Offer claims none.
type Offer struct {
	claims []*Claim
	finish func(stored []Stored, doubtful bool)
	end    sync.Once
}

// Claimer decides which recipients this process claims.
type Claimer interface {
	// Offer reserves what the deliveries of the recipients need. The caller ends the offer.
	Offer(ctx context.Context, list []Recipient) *Offer
}

// NewOffer returns a new offer with a claim, or nil, for each recipient. finish is called once, with the recipients
// that were stored as claimed. doubtful means that any of them may have been stored.
func NewOffer(claims []*Claim, finish func(stored []Stored, doubtful bool)) *Offer {
	return &Offer{claims: claims, finish: finish}
}

// Claim returns the claim of a recipient, by its index, or nil.
func (o *Offer) Claim(i int) *Claim {
	if o == nil {
		return nil
	}
	return o.claims[i]
}

// Begin starts the deliveries of the recipients that were stored as claimed, after the commit.
func (o *Offer) Begin(stored []Stored) {
	if o != nil {
		o.end.Do(func() { o.finish(stored, false) })
	}
}

// Release ends the offer if no recipient was stored as claimed. It does nothing if the offer has ended.
func (o *Offer) Release() { o.Begin(nil) }

// Abandon ends the offer if it is unknown whether the recipients were stored. Their claims are undone.
func (o *Offer) Abandon() {
	if o != nil {
		o.end.Do(func() { o.finish(nil, true) })
	}
}

// claimRows contains the columns of claims.
var claimRows = batch.New("claim",
	batch.Text("email_id", func(c *Claim) string { return c.EmailID }),
	batch.Text("address", func(c *Claim) string { return c.Address }),
	batch.Text("way", func(c *Claim) string { return c.Way }),
	batch.Bool("ahead", func(c *Claim) bool { return c.Ahead }),
	batch.Int("node", func(c *Claim) int32 { return c.Node }).OrNull().As("int"),
)

// Rows passes the claims to a statement with OpenSQL.
func Rows(claims []*Claim) db.Argument { return claimRows.Rows(claims) }

// StoredColumns is the RETURNING list of the part of a statement that stores recipients.
const StoredColumns = `id, email_id, account_id, address, fence, attempts, queued_at`

// OpenSQL returns the part of a statement that stores the attempts of claimed recipients. The part called recipients
// stores the recipients and returns StoredColumns.
func OpenSQL(recipients string) string {
	return `INSERT INTO attempts (recipient_id, email_id, account_id, number, fence, started_at, phase, reply, remote_host, remote_addr, tls, way, node, ahead)
SELECT r.id, r.email_id, r.account_id, r.attempts, r.fence, now(), '', '', '', '', '', claim.way, NULLIF(claim.node, 0)::int, claim.ahead
FROM ` + recipients + ` r JOIN ` + claimRows.Source() + ` ON claim.email_id = r.email_id AND claim.address = r.address WHERE r.attempts > 0`
}

// FoundSQL selects, from the part called recipients, the columns of Stored for each claimed recipient.
func FoundSQL(recipients string) string {
	return `SELECT id, email_id, address, (extract(epoch FROM queued_at) * 1000000)::bigint FROM ` + recipients + ` WHERE attempts > 0`
}

// ScanStored returns the destinations of the columns of FoundSQL.
func ScanStored(s *Stored) []any { return []any{&s.ID, &s.EmailID, &s.Address, &s.Due} }
