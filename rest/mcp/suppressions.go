package mcp

import "context"

// suppression is an address that the account does not send to.
type suppression struct {
	ID        string  `json:"id"`
	Email     *string `json:"email" jsonschema:"null after the person was erased"`
	Reason    string  `json:"reason" jsonschema:"bounce, failure, complaint, unsubscribe or manual"`
	EmailID   *string `json:"email_id" jsonschema:"The email that caused the suppression"`
	CreatedAt string  `json:"created_at"`
}

type listSuppressionsInput struct {
	Email  string `json:"email,omitempty" jsonschema:"Only this address"`
	Reason string `json:"reason,omitempty" jsonschema:"Only this reason: bounce, failure, complaint, unsubscribe or manual"`
	Limit  int    `json:"limit,omitempty" jsonschema:"1 to 100; defaults to 25"`
	Cursor string `json:"cursor,omitempty" jsonschema:"next_cursor of the previous page"`
}

type listSuppressionsOutput struct {
	Suppressions []suppression `json:"suppressions"`
	page
}

type addSuppressionInput struct {
	Email string `json:"email" jsonschema:"Address to suppress"`
}

type suppressionOutput struct {
	Suppression suppression `json:"suppression"`
}

type removeSuppressionInput struct {
	Suppression string `json:"suppression" jsonschema:"The address, or the ID (sup_…) of the suppression"`
}

type removedOutput struct {
	Removed bool `json:"removed" jsonschema:"false if there was no such suppression"`
}

func suppressionTools() []tool {
	return []tool{
		define(spec{name: "list_suppressions", title: "List suppressed addresses", effect: reads,
			operations: []string{"listSuppressions"},
			about:      "Lists addresses that the account does not send to, newest first, with the reason."},
			func(ctx context.Context, s *session, in listSuppressionsInput) (out listSuppressionsOutput, _ string, err error) {
				_, err = s.call(ctx, request{operation: "listSuppressions", query: valuesOf("email", in.Email,
					"reason", in.Reason, "limit", limitText(in.Limit), "cursor", in.Cursor)}, &out)
				return out, countWords(len(out.Suppressions), "suppression", out.page), err
			}),
		define(spec{name: "add_suppression", title: "Suppress an address", effect: adds,
			operations: []string{"addSuppression"}, about: "Blocks all emails of the account to an address."},
			func(ctx context.Context, s *session, in addSuppressionInput) (out suppressionOutput, _ string, err error) {
				_, err = s.call(ctx, request{operation: "addSuppression", body: map[string]any{"email": in.Email}}, &out)
				return out, "The address is suppressed.", err
			}),
		define(spec{name: "remove_suppression", title: "End a suppression", effect: changes,
			operations: []string{"deleteSuppression"},
			about: "Allows emails to a suppressed address again. After an unsubscribe or complaint, do this only at the " +
				"person's request."},
			func(ctx context.Context, s *session, in removeSuppressionInput) (removedOutput, string, error) {
				_, err := s.call(ctx, request{operation: "deleteSuppression", id: in.Suppression}, nil)
				if isNotFound(err) {
					return removedOutput{}, "There was no such suppression.", nil
				}
				return removedOutput{Removed: err == nil}, "The address can receive emails again.", err
			}),
	}
}
