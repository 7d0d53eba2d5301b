package contacts

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/retention"
	"github.com/postrider/postrider/rest/api"
)

// Service erases what is stored of a person.
type Service interface {
	Erase(ctx context.Context, accountID, email string) (retention.Erased, error)
	EraseUser(ctx context.Context, accountID, userID string) error
}

var _ Service = (*retention.Service)(nil)

const tagContacts = "Contacts"

type contactAddress struct {
	Email  string `path:"email" doc:"The address, percent-encoded where it has to be." example:"bob@example.net"`
	UserID string `query:"user_id" doc:"The person's user_id in custom events: its events, and runs of automations, are deleted too." example:"user-17"`
}

type erasedAnswer struct {
	OK     bool         `json:"ok"`
	Erased erasedCounts `json:"erased"`
}

type erasedCounts struct {
	Emails       int `json:"emails" doc:"Emails that went to nobody else: they are gone, with everything about them."`
	Redacted     int `json:"redacted" doc:"Emails that went to others too: the address, the body and the attachments are gone."`
	Suppressions int `json:"suppressions" doc:"Suppressions and opt-outs that forgot the address. They go on blocking it, by a keyed hash."`
	Received     int `json:"received" doc:"Received emails from the address or to it: they are gone, with their content."`
	Events       int `json:"events" doc:"Events about the address apart from its emails."`
}

// Routes makes the routes about people who are written to.
func Routes(service Service) api.Routes {
	return api.NewRoutes("contacts", func(a *api.API) {
		g := a.Tag(tagContacts, "People that you write to.")
		api.Handle(g, api.Operation{
			Method: http.MethodDelete, Path: "/contacts/{email}/data", ID: "eraseContact", Needs: rights.Write, Slow: true, Private: true,
			Summary: "Erase a recipient's data",
			Description: "Deletes what is stored of an address as a recipient, at once and for good: emails to it, their attempts, events, opens and " +
				"clicks, the mail that came from it or to it, its custom events and its runs of automations. Mail to it that is not sent yet is not sent any more. An email to several people loses the address and its body. A suppressed " +
				"address stays suppressed. Repeating it is harmless; an address that nothing is known of is answered with zeros.",
			Example: map[string]any{"ok": true, "erased": map[string]any{"emails": 3, "redacted": 1, "suppressions": 1, "received": 2, "events": 0}},
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
