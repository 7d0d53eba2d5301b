package idempotency

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"net/http"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Header is the header field that contains the key of a request.
const Header = "Idempotency-Key"

// maxKeyLength is the maximum length of a key in bytes.
const maxKeyLength = 255

// ErrTaken means that another request holds the key: roll back, then Replay.
var ErrTaken = errors.New("idempotency key taken by another request")

// Execer is a pool or a transaction. The APIs use this name because they cannot import db.
type Execer = db.Execer

// Response is the response to a request.
type Response struct {
	Status   int
	Body     []byte
	Replayed bool // repeated, not created by this request
}

// isStorable reports whether the response belongs to a request that had an effect.
func (a Response) isStorable() bool {
	return a.Status >= http.StatusOK && a.Status < http.StatusMultipleChoices
}

// Claim is a request's claim on its key. Only one request at a time has it. A nil Claim is a request without
// a key.
type Claim struct {
	accountID string
	operation string
	key       string
	hash      [sha256.Size]byte
}

func newClaim(accountID, operation, key string, canonicalBody []byte) (*Claim, error) {
	if len(key) > maxKeyLength {
		return nil, fault.InvalidField(Header, "is longer than %d characters", maxKeyLength)
	}
	for _, b := range []byte(key) {
		if b < 0x20 || b > 0x7e {
			return nil, fault.InvalidField(Header, "must contain printable ASCII characters only")
		}
	}
	return &Claim{accountID: accountID, operation: operation, key: key, hash: requestHash(operation, canonicalBody)}, nil
}

// requestHash covers the operation, so that using a key for another operation with the same body is a
// conflict. The length prefix separates the two parts.
func requestHash(operation string, canonicalBody []byte) [sha256.Size]byte {
	h := sha256.New()
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(operation))))
	h.Write([]byte(operation))
	h.Write(canonicalBody)
	return [sha256.Size]byte(h.Sum(nil))
}

// ClaimedResponse is a response to be stored under a claim.
type ClaimedResponse struct {
	Claim  *Claim // nil: there is no key, so nothing is stored
	Answer Response
	// Refused: the request had no effect that a repetition must not have again. Equal requests still take
	// turns, but the key is free after the transaction.
	Refused bool
}

// statusRefused is stored for a refused request. Lookups ignore rows with this status.
const statusRefused = http.StatusConflict

func (a *ClaimedResponse) storedStatus() int {
	if a.Refused {
		return statusRefused
	}
	return a.Answer.Status
}

// Store stores the response under the claim's key. Call it in the transaction of the effect, before the
// effect. ErrTaken means that another request has the key, so this transaction must be rolled back.
// InProgress means that another request held the key for too long: roll back and return that error.
func (c *Claim) Store(ctx context.Context, tx Execer, a Response) error {
	taken, err := StoreMany(ctx, tx, []ClaimedResponse{{Claim: c, Answer: a}})
	if err != nil {
		return err
	}
	if taken[0] {
		return ErrTaken
	}
	return nil
}
