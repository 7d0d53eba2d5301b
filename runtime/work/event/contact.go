package event

// The scopes of an unsubscribe.
const (
	ScopeAll      = "all"      // the address was added to the suppression list: all sends are blocked
	ScopeCategory = "category" // only mail of one category is blocked
)

// Unsubscribe is the payload of contact.unsubscribed. Receivers must check Scope before they treat the
// address as suppressed.
type Unsubscribe struct {
	Email            string  `json:"email" doc:"The address that opted out."`
	Source           string  `json:"source" doc:"one_click: with the unsubscribe button of the mail client (RFC 8058); page: on the page that the link opens."`
	Scope            string  `json:"scope" doc:"all: the address was added to the suppressions, and all sends to it are blocked; category: only the mail of one category stops."`
	Category         *string `json:"category" doc:"null if the scope is all."`
	CategoryLabel    *string `json:"category_label" doc:"The category as it was written in the send; null if the scope is all."`
	SuppressionID    *string `json:"suppression_id" doc:"null if the scope is category."`
	CategoryOptOutID *string `json:"category_opt_out_id" doc:"null if the scope is all."`
	EmailID          *string `json:"email_id" doc:"The email whose link was used."`
}

// SubjectID returns the email whose link was used, else the record created by the unsubscribe.
func (u Unsubscribe) SubjectID() string {
	for _, id := range []*string{u.EmailID, u.SuppressionID, u.CategoryOptOutID} {
		if id != nil {
			return *id
		}
	}
	return u.Email
}

func sampleUnsubscribe() Unsubscribe {
	category, label, optOut, email := "product-news", "Product news", "opt_01kf0m4w7he6x8q2v5b3n9c1ta",
		"msg_01kf0m4w7he6x8q2v5b3n9c1ta"
	return Unsubscribe{Email: "bob@example.net", Source: "one_click", Scope: ScopeCategory, Category: &category,
		CategoryLabel:    &label,
		CategoryOptOutID: &optOut, EmailID: &email}
}
