package event

// Suppression is the payload of suppression.added and suppression.removed.
type Suppression struct {
	SuppressionID string  `json:"suppression_id"`
	Email         *string `json:"email"`    // null once the address is erased
	Reason        string  `json:"reason"`   // bounce, failure, complaint, unsubscribe, manual
	EmailID       *string `json:"email_id"` // the email that led to it
}

// SubjectID is the suppression.
func (s Suppression) SubjectID() string { return s.SuppressionID }

func sampleSuppression() Suppression {
	email, about := "bob@example.net", "msg_01kf0m4w7he6x8q2v5b3n9c1ta"
	return Suppression{SuppressionID: "sup_01kf0m4w7he6x8q2v5b3n9c1ta", Email: &email, Reason: "bounce", EmailID: &about}
}
