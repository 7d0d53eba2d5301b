package admission

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// Limits returns the account of a caller, whose plan sets the rate limit.
type Limits interface {
	Account(ctx context.Context, accountID string) (accounts.Account, error)
}

// RateLimit counts one request of an account and sets the ratelimit header fields. If the limit is exceeded,
// it returns a fault of kind Limit.
type RateLimit interface {
	Admit(ctx context.Context, account accounts.Account, header http.Header) error
}

// Admit authenticates a request, loads its account and applies the rate limit. rate may be nil. Errors: those
// of Authenticate; Limit; Unavailable if this takes too long.
func (d *Authenticator) Admit(w http.ResponseWriter, r *http.Request, limits Limits,
	rate RateLimit) (accounts.Caller, error) {
	ctx, cancel := context.WithTimeout(r.Context(), fault.AnswerWithin)
	defer cancel()
	caller, err := d.Authenticate(r.WithContext(ctx))
	if err != nil {
		return accounts.Caller{}, err
	}
	telemetry.SetCaller(r.Context(), caller.AccountID, caller.ID())
	intake.SetTenant(w, intake.Tenant{Account: caller.AccountID})
	if rate == nil || caller.AccountID == "" {
		return caller, nil
	}
	account, err := limits.Account(ctx, caller.AccountID)
	if err != nil {
		return accounts.Caller{}, err
	}
	return caller, rate.Admit(ctx, caller.RateAccount(account), w.Header())
}

type countedKey struct{}

// WithCounted returns a context for a request that is part of another one, which the rate limit has counted.
func WithCounted(ctx context.Context) context.Context {
	return context.WithValue(ctx, countedKey{}, true)
}

// IsCounted reports whether the request of the context was counted as part of another one.
func IsCounted(ctx context.Context) bool { return ctx.Value(countedKey{}) != nil }
