package event

// Scopes of an unsubscribe.
const (
	ScopeAll      = "all"      // the address was added to the suppressions: all sends are blocked
	ScopeCategory = "category" // only the mail of one category stops
)

// Unsubscribe is the payload of contact.unsubscribed. A receiver looks at Scope
// before it takes the address for suppressed altogether.
type Unsubscribe struct {
	Email            string  `json:"email"`
	Source           string  `json:"source"`              // one_click (RFC 8058), page
	Scope            string  `json:"scope"`               // all, category
	Category         *string `json:"category"`            // null with scope all
	CategoryLabel    *string `json:"category_label"`      // null with scope all
	SuppressionID    *string `json:"suppression_id"`      // null with scope category
	CategoryOptOutID *string `json:"category_opt_out_id"` // null with scope all
	EmailID          *string `json:"email_id"`            // the email whose link was used
}

// SubjectID is the email whose link was used, else what the unsubscribe made.
func (u Unsubscribe) SubjectID() string {
	for _, id := range []*string{u.EmailID, u.SuppressionID, u.CategoryOptOutID} {
		if id != nil {
			return *id
		}
	}
	return u.Email
}

func sampleUnsubscribe() Unsubscribe {
	category, label, optOut, email := "product-news", "Product news", "opt_01kf0m4w7he6x8q2v5b3n9c1ta", "msg_01kf0m4w7he6x8q2v5b3n9c1ta"
	return Unsubscribe{Email: "bob@example.net", Source: "one_click", Scope: ScopeCategory, Category: &category, CategoryLabel: &label,
		CategoryOptOutID: &optOut, EmailID: &email}
}
