package desk

import (
	"context"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// requireOperator returns an error if a key calls: a leaked operator key must not create another one. The zero Caller
// is the command line.
func requireOperator(c accounts.Caller) error {
	if c.Operator != nil || c.KeyID != "" {
		return fault.Forbiddenf(fault.CodeInsufficientScope,
			"Operator keys are managed by operators who are signed in, and by the command line")
	}
	return nil
}

// Keys returns one page of the operator keys, newest first. Errors: Forbidden; Invalid.
func (s *Service) Keys(ctx context.Context, c accounts.Caller, r page.Request) (page.Page[*ent.OperatorKey], error) {
	if err := requireOperator(c); err != nil {
		return page.Page[*ent.OperatorKey]{}, err
	}
	return s.accounts.OperatorKeys(ctx, r)
}

// CreateKey creates an operator key. keep, if not nil, runs in the transaction. Errors: Forbidden; Invalid.
func (s *Service) CreateKey(ctx context.Context, c accounts.Caller, in accounts.NewOperatorKey,
	keep func(ctx context.Context, tx idempotency.Execer, made *ent.OperatorKey, token secret.String) error,
) (*ent.OperatorKey, secret.String, error) {
	if err := requireOperator(c); err != nil {
		return nil, secret.String{}, err
	}
	in.CreatedBy = c.ID()
	in.Keep = func(ctx context.Context, tx *ent.Tx, made *ent.OperatorKey, token secret.String) error {
		if err := audit.Write(ctx, tx, keyEntry(c, "operator.key_created", made)); err != nil {
			return err
		}
		if keep == nil {
			return nil
		}
		return keep(ctx, tx, made, token)
	}
	return s.accounts.CreateOperatorKey(ctx, in)
}

// RevokeKey revokes an operator key. Errors: Forbidden; NotFound.
func (s *Service) RevokeKey(ctx context.Context, c accounts.Caller, keyID string) (*ent.OperatorKey, error) {
	if err := requireOperator(c); err != nil {
		return nil, err
	}
	return s.accounts.RevokeOperatorKey(ctx, keyID, func(ctx context.Context, tx *ent.Tx, k *ent.OperatorKey) error {
		return audit.Write(ctx, tx, keyEntry(c, "operator.key_revoked", k))
	})
}

func keyEntry(c accounts.Caller, action string, k *ent.OperatorKey) audit.Entry {
	return audit.Entry{Actor: audit.OperatorOf(c), Action: action, Target: k.ID, Changes: map[string]any{"name": k.Name}}
}
