package graph

import (
	"context"
	"net/http"
	"strings"
	"unicode"

	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/accounts/rights"
)

// operate calls an operation of the REST API below /operator. The fields of an input object have the names of the
// REST API in camel case.
func (r *Resolver) operate(ctx context.Context, method, path, id string, input map[string]any, key *string,
	into any) error {
	call := restCall{needs: rights.Operate, method: method, path: path, id: id, key: key}
	if input != nil {
		body := make(map[string]any, len(input))
		for name, value := range input {
			body[toSnakeCase(name)] = value
		}
		call.body = body
	}
	_, _, err := r.callREST(ctx, call, into)
	return err
}

func toSnakeCase(name string) string {
	var out strings.Builder
	for _, c := range name {
		if unicode.IsUpper(c) {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(c))
	}
	return out.String()
}

func (r *Resolver) createAccountAsOperator(ctx context.Context, account map[string]any,
	key *string) (*model.OperatorAccountDetails, error) {
	var made struct{ Account struct{ ID string } }
	if err := r.operate(ctx, http.MethodPost, "/operator/accounts", "", account, key, &made); err != nil {
		return nil, err
	}
	return r.readAccountAsOperator(ctx, made.Account.ID)
}

func (r *Resolver) readAccountAsOperator(ctx context.Context, accountID string) (*model.OperatorAccountDetails, error) {
	found, err := r.parts.Desk.Account(ctx, accountID)
	if err != nil {
		return nil, err
	}
	return &model.OperatorAccountDetails{Account: toOperatorAccount(found.Account), Usage: toUsage(found.Usage)}, nil
}

// changeUserAsOperator creates or updates a user, and returns the user with their memberships.
func (r *Resolver) changeUserAsOperator(ctx context.Context, method, path, id string, input map[string]any,
	key *string) (*model.OperatorUser, error) {
	var changed struct{ User struct{ ID string } }
	if err := r.operate(ctx, method, path, id, input, key, &changed); err != nil {
		return nil, err
	}
	found, err := r.parts.Teams.UserByID(ctx, changed.User.ID)
	if err != nil {
		return nil, err
	}
	return toOperatorUser(found), nil
}
