package shown

import (
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
)

// Account is the JSON of an account.
type Account struct {
	ID                  string     `json:"id"`
	Name                string     `json:"name"`
	Email               string     `json:"email"`
	Plan                string     `json:"plan"`
	ProductionUnlocked  bool       `json:"production_unlocked"` // set by the operator
	PaymentMethodAt     *time.Time `json:"payment_method_at"`
	SuspendedAt         *time.Time `json:"suspended_at"`
	Unmetered           bool       `json:"unmetered"`
	BodyRetentionDays   int        `json:"body_retention_days"`
	RecordRetentionDays int        `json:"record_retention_days"`
	MonthlyLimit        *int       `json:"monthly_limit"`
	StoredBytes         *int       `json:"stored_bytes"` // cap set by the operator
	DailyBytes          *int       `json:"daily_bytes"`
	CreatedAt           time.Time  `json:"created_at"`
	Usage               *Usage     `json:"usage,omitempty"` // only when a single account is shown
}

// Usage is the usage of an account against its caps. A nil cap means unlimited.
type Usage struct {
	Day        int64 `json:"day"`
	Month      int64 `json:"month"`
	DailyCap   *int  `json:"daily_cap"`
	MonthlyCap *int  `json:"monthly_cap"`

	StoredBytes    *int64 `json:"stored_bytes"`
	StoredBytesCap *int   `json:"stored_bytes_cap"`
	DailyBytes     *int64 `json:"daily_bytes"`
	DailyBytesCap  *int   `json:"daily_bytes_cap"`
}

// AccountOf returns the JSON of an account, without its usage.
func AccountOf(a *ent.Account) Account {
	view := Account{ID: a.ID, Name: a.Name, Email: a.Email, Plan: a.PlanID, ProductionUnlocked: a.ProductionUnlocked,
		PaymentMethodAt: a.PaymentMethodAt, SuspendedAt: a.SuspendedAt, Unmetered: a.Unmetered,
		BodyRetentionDays: a.BodyRetentionDays, RecordRetentionDays: a.RecordRetentionDays,
		MonthlyLimit: a.MonthlyLimit, StoredBytes: a.StoredBytes, DailyBytes: a.DailyBytes,
		CreatedAt: a.CreatedAt.UTC()}
	for _, at := range []**time.Time{&view.PaymentMethodAt, &view.SuspendedAt} {
		if *at != nil {
			utc := (*at).UTC()
			*at = &utc
		}
	}
	return view
}

// UsageOf returns the JSON of an account's usage.
func UsageOf(u accounts.Usage) *Usage {
	return &Usage{Day: u.Day, Month: u.Month, DailyCap: u.DailyCap, MonthlyCap: u.MonthlyCap,
		StoredBytes: u.StoredBytes, StoredBytesCap: u.StoredBytesCap, DailyBytes: u.DailyBytes,
		DailyBytesCap: u.DailyBytesCap}
}
