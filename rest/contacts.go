package rest

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/retention"
)

// ContactService erases what is stored of a person.
type ContactService interface {
	Erase(ctx context.Context, accountID, email string) (retention.Erased, error)
}

var _ ContactService = (*retention.Service)(nil)

const tagContacts = "Contacts"

type contactAddress struct {
	Email string `path:"email" doc:"The address, percent-encoded where it has to be." example:"bob@example.net"`
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

// Contacts makes the routes about people who are written to.
func Contacts(service ContactService) Routes {
	return Routes{name: "contacts", add: func(a *API) {
		a.describeTag(tagContacts, "People that you write to.")
		register(a, operation{
			method: http.MethodDelete, path: "/contacts/{email}/data", id: "eraseContact", tag: tagContacts, needs: accounts.Write,
			summary: "Erase a recipient's data",
			description: "Deletes what is stored of an address as a recipient, at once and for good: emails to it, their attempts, events, opens and " +
				"clicks, and the mail that came from it or to it. Mail to it that is not sent yet is not sent any more. An email to several people loses the address and its body. A suppressed " +
				"address stays suppressed. Repeating it is harmless; an address that nothing is known of is answered with zeros.",
			example: map[string]any{"ok": true, "erased": map[string]any{"emails": 3, "redacted": 1, "suppressions": 1, "received": 2, "events": 0}},
		}, func(ctx context.Context, c *call, in *contactAddress) (*erasedAnswer, error) {
			done, err := service.Erase(ctx, c.AccountID, in.Email)
			if err != nil {
				return nil, err
			}
			return &erasedAnswer{OK: true, Erased: erasedCounts(done)}, nil
		})
	}}
}
