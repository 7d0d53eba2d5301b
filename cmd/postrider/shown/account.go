package shown

import (
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/ops/transfer"
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
	FrozenAt            *time.Time `json:"frozen_at"` // when its move to another installation began
	Move                string     `json:"move"`      // the next step of a move; empty if there is no move
	MovedTo             *string    `json:"moved_to"`
	ForwardRequests     bool       `json:"forward_requests"` // with an API key, to MovedTo
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
		FrozenAt: a.FrozenAt, Move: moveOf(a), MovedTo: a.MovedTo, ForwardRequests: a.ForwardRequests,
		BodyRetentionDays: a.BodyRetentionDays, RecordRetentionDays: a.RecordRetentionDays,
		MonthlyLimit: a.MonthlyLimit, StoredBytes: a.StoredBytes, DailyBytes: a.DailyBytes,
		CreatedAt: a.CreatedAt.UTC()}
	for _, at := range []**time.Time{&view.PaymentMethodAt, &view.SuspendedAt, &view.FrozenAt} {
		if *at != nil {
			utc := (*at).UTC()
			*at = &utc
		}
	}
	return view
}

// moveOf describes the move of an account, and the commands that continue it.
func moveOf(a *ent.Account) string {
	switch transfer.StateOf(a.FrozenAt != nil, a.MovedTo, a.MoveCode) {
	case transfer.Leaving:
		if a.MoveDigest == nil {
			return "frozen, without a complete export: cancel-move resumes it, export --move begins again"
		}
		return "frozen and exported: finish-move once the target has imported it, or cancel-move"
	case transfer.Moved:
		return "moved: finish-move prints the code again, which start-move needs at the target"
	case transfer.Waiting:
		return "copy: start-move starts it once finish-move has printed the code at the source"
	case transfer.Settled:
	}
	return ""
}

// UsageOf returns the JSON of an account's usage.
func UsageOf(u accounts.Usage) *Usage {
	return &Usage{Day: u.Day, Month: u.Month, DailyCap: u.DailyCap, MonthlyCap: u.MonthlyCap,
		StoredBytes: u.StoredBytes, StoredBytesCap: u.StoredBytesCap, DailyBytes: u.DailyBytes,
		DailyBytesCap: u.DailyBytesCap}
}
