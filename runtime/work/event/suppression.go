package event

// Suppression is the payload of suppression.added and suppression.removed.
type Suppression struct {
	SuppressionID string  `json:"suppression_id" doc:"The ID of the suppression."`
	Email         *string `json:"email" doc:"The address; null once it is erased."`
	Reason        string  `json:"reason" doc:"bounce, failure, complaint, unsubscribe or manual."`
	EmailID       *string `json:"email_id" doc:"The email that caused it; null if none did."`
}

// SubjectID returns the suppression.
func (s Suppression) SubjectID() string { return s.SuppressionID }

func sampleSuppression() Suppression {
	email, about := "bob@example.net", "msg_01kf0m4w7he6x8q2v5b3n9c1ta"
	return Suppression{SuppressionID: "sup_01kf0m4w7he6x8q2v5b3n9c1ta", Email: &email, Reason: "bounce",
		EmailID: &about}
}
