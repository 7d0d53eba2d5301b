package contacts

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/retention"
	"github.com/postrider/postrider/rest/api"
)

// Service erases the stored data of a person.
type Service interface {
	Erase(ctx context.Context, accountID, email string) (retention.Erased, error)
	EraseUser(ctx context.Context, accountID, userID string) error
}

var _ Service = (*retention.Service)(nil)

const tagContacts = "Contacts"

type contactAddress struct {
	Email  string `path:"email" doc:"The address, percent-encoded if necessary." example:"bob@example.net"`
	UserID string `query:"user_id" doc:"The user_id in custom events. Events and automation runs of this user are deleted too." example:"user-17"`
}

type erasedAnswer struct {
	OK     bool         `json:"ok" doc:"Always true."`
	Erased erasedCounts `json:"erased" doc:"The number of erased records, by kind."`
}

type erasedCounts struct {
	Emails       int `json:"emails" doc:"Emails only to this address, deleted with all their data."`
	Redacted     int `json:"redacted" doc:"Emails that also went to other recipients. The address, the body and the attachments were deleted."`
	Suppressions int `json:"suppressions" doc:"Suppressions and opt-outs whose address was deleted. They still block the address through a keyed hash."`
	Received     int `json:"received" doc:"Received emails from or to the address, deleted with their content."`
	Events       int `json:"events" doc:"Events about the address that do not belong to its emails."`
}

// Routes returns the routes of recipients.
func Routes(service Service) api.Routes {
	return api.NewRoutes("contacts", func(a *api.API) {
		g := a.Tag(tagContacts, "The people you send to.")
		api.Handle(g, api.Operation{
			Method: http.MethodDelete, Path: "/contacts/{email}/data", ID: "eraseContact", Needs: rights.Write,
			Slow: true, Private: true,
			Summary: "Erase a recipient's data",
			Description: "Deletes all data about a recipient immediately and permanently: emails to the address, " +
				"their attempts, events, opens and clicks, received mail from or to it, its custom events and its " +
				"automation runs. Unsent mail to it is never sent. An email to several recipients loses the address " +
				"and its body. A suppressed address remains suppressed. Repeating the request is safe; an unknown " +
				"address returns zeros.",
			Example: map[string]any{"ok": true, "erased": map[string]any{"emails": 3, "redacted": 1, "suppressions": 1,
				"received": 2, "events": 0}},
		}, func(ctx context.Context, c *api.Call, in *contactAddress) (erasedAnswer, error) {
			if in.UserID != "" {
				if err := service.EraseUser(ctx, c.AccountID, in.UserID); err != nil {
					return erasedAnswer{}, err
				}
			}
			done, err := service.Erase(ctx, c.AccountID, in.Email)
			return erasedAnswer{OK: true, Erased: erasedCounts(done)}, err
		})
	})
}
