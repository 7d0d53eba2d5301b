// Package idempotency lets a client repeat a request without repeating its effect.
//
// A client identifies a request by an Idempotency-Key, unique within its account. The response is stored in
// the transaction of the effect, so after a crash, a rollback or a lost connection either both exist or
// neither. For 24 hours, by the database clock, the same key returns the stored response again, byte for
// byte; with another operation or body it is a conflict.
//
// Two equal concurrent requests: the second one's insert waits for the first one's transaction. If the first
// commits, the second rolls back its own effect and replays the response. If the first rolls back, the second
// takes its place. A request that waits too long gets an error that the first request is still running.
//
// The life of a request with a key:
//
//	claim, replay, err := store.Begin(ctx, account, "POST /api/emails", key, canonical)
//	if replay != nil { return it }
//	in the transaction of the effect: claim.Store(ctx, tx, answer)
//	  ErrTaken: roll back, then return store.Replay(ctx, claim)
//	the request is refused: return store.Lookup(ctx, claim) if it has one, else the refusal
//
// A request without a key has a nil *Claim, for which all of this does nothing.
//
// Only 2xx responses are stored. A refused request had no effect, so the same request under the same key is
// processed again: the domain may be verified by then.
//
// # Keys that share a transaction
//
// StoreMany stores the responses of many requests with one statement. A key that another transaction holds
// blocks the statement, and with it every request of the batch. TryStoreMany gives up soon, with ErrBusy:
// roll back, and store the requests separately, so that only the one whose key is held keeps waiting.
package idempotency
