package event

// The rates of an ExceededRate.
const (
	BounceRate    = "bounce"
	ComplaintRate = "complaint"
)

// ExceededRate is the payload of account.rate_exceeded.
type ExceededRate struct {
	AccountID  string  `json:"account_id" doc:"The ID of the account."`
	Rate       string  `json:"rate" doc:"bounce or complaint."`
	Share      float64 `json:"share" doc:"The share of recipients over the last 24 hours: 0.06 means 6 %."`
	Limit      float64 `json:"limit" doc:"The limit that the share exceeds: 0.05 for bounces, 0.001 and 0.003 for complaints."`
	Recipients int64   `json:"recipients" doc:"Number of recipients of which this is a share. Bounces count among delivered and bounced recipients, complaints among delivered ones."`
}

// SubjectID returns the account.
func (r ExceededRate) SubjectID() string { return r.AccountID }

// ReachedUsage is the payload of account.usage_reached.
type ReachedUsage struct {
	AccountID string `json:"account_id" doc:"The ID of the account."`
	Cap       string `json:"cap" doc:"limit: further emails are rejected beyond it. included: further emails are billed, if the plan charges for them."`
	Month     string `json:"month" doc:"The month in UTC, such as 2026-01."`
	Percent   int    `json:"percent" doc:"80 or 100."`
	Emails    int64  `json:"emails" doc:"Number of emails in the month so far."`
	Limit     int64  `json:"limit" doc:"Number of emails per month."`
}

// SubjectID returns the account.
func (u ReachedUsage) SubjectID() string { return u.AccountID }

const sampleAccount = "acc_01kf0m4w7he6x8q2v5b3n9c1ta"

func sampleExceededRate() ExceededRate {
	return ExceededRate{AccountID: sampleAccount, Rate: BounceRate, Share: 0.0625, Limit: 0.05, Recipients: 1600}
}

func sampleReachedUsage() ReachedUsage {
	return ReachedUsage{AccountID: sampleAccount, Cap: "limit", Month: "2026-01", Percent: 80, Emails: 8004,
		Limit: 10000}
}
