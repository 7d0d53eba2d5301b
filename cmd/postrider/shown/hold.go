package shown

import "time"

// Hold is the hold of the installation, and the work that it holds.
type Hold struct {
	Held    bool       `json:"held"`
	Since   *time.Time `json:"since"`
	Reason  string     `json:"reason"`
	Waiting Waiting    `json:"waiting"`
	DueNow  Waiting    `json:"due_now"`
}

// Waiting counts the work that would be sent without the hold.
type Waiting struct {
	Recipients int `json:"recipients"`
	Scheduled  int `json:"scheduled_emails"`
	Webhooks   int `json:"webhooks"`
}
