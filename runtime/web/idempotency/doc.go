// Package idempotency lets a caller repeat a request without repeating its effect.
//
// A caller names a request by an Idempotency-Key, unique within its account. The
// answer is stored in the transaction of the effect, so one exists exactly when
// the other does: a crash, a rollback or a lost connection leaves either both or
// neither. For 24 hours, by the database clock, the same key gives the stored
// answer again, byte for byte; with another operation or body it is a conflict.
//
// Two equal requests at once: the second one's insert waits for the first one's
// transaction. If that commits, the second gives up its own effect and replays;
// if it rolls back, the second goes on as the first. One that waits too long is
// told that the first is still running.
//
// The life of a request with a key:
//
//	claim, replay, err := store.Begin(ctx, account, "POST /api/emails", key, canonical)
//	if replay != nil { answer it }
//	in the transaction of the effect: claim.Store(ctx, tx, answer)
//	  ErrTaken: roll back, then answer store.Replay(ctx, claim)
//	the request is refused: answer store.Lookup(ctx, claim) if it has one, else the refusal
//
// A request without a key has a nil *Claim, on which all of this does nothing.
//
// Stored: 2xx. A request that was refused did nothing, so the same request under
// the same key is judged anew: by then the domain may be verified.
//
// # Keys that share a transaction
//
// StoreMany stores the answers of many requests with one statement. A key that
// another transaction holds makes the statement wait, and with it every request of
// the batch. TryStoreMany gives up soon, with ErrBusy: roll back, and store the
// requests apart, so that only the one whose key is held goes on waiting.
package idempotency
