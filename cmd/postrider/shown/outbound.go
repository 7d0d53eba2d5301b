package shown

import (
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/outbound"
)

// Source is the JSON of a source address in `postrider admin source`.
type Source struct {
	ID        string     `json:"id"`
	Address   string     `json:"address"`
	Hostname  string     `json:"hostname"`
	Pool      string     `json:"pool"`
	AccountID *string    `json:"account_id"`
	Node      *string    `json:"node"`    // null if any process that has the address can use it
	WarmUp    *WarmUp    `json:"warm_up"` // null if warmed up
	PausedAt  *time.Time `json:"paused_at"`
	CreatedAt time.Time  `json:"created_at"`
}

// WarmUp is the progress of a warm-up.
type WarmUp struct {
	StartedAt  time.Time `json:"started_at"`
	Day        int       `json:"day"`        // starts at 1
	Allowance  int64     `json:"allowance"`  // today
	Deliveries int64     `json:"deliveries"` // today
}

// SourceOf returns the JSON of a source address.
func SourceOf(s outbound.SourceState) Source {
	view := Source{ID: s.ID, Address: s.Address, Hostname: s.Hostname, Pool: string(s.Pool), AccountID: s.AccountID,
		Node: s.Node, CreatedAt: s.CreatedAt.UTC()}
	if s.PausedAt != nil {
		at := s.PausedAt.UTC()
		view.PausedAt = &at
	}
	if !s.Warm {
		view.WarmUp = &WarmUp{StartedAt: s.WarmupStartedAt.UTC(), Day: s.Day, Allowance: s.Limit, Deliveries: s.Used}
	}
	return view
}

// Smarthost is the JSON of a smarthost in `postrider admin smarthost`.
type Smarthost struct {
	ID        string    `json:"id"`
	AccountID string    `json:"account_id"`
	DomainID  *string   `json:"domain_id"` // null if it relays all mail of the account
	URL       string    `json:"url"`       // without the password
	Password  bool      `json:"password"`  // whether one is set
	Use       string    `json:"use"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// SmarthostOf returns the JSON of a smarthost.
func SmarthostOf(h *ent.Smarthost) Smarthost {
	return Smarthost{ID: h.ID, AccountID: h.AccountID, DomainID: h.DomainID, URL: outbound.SmarthostURL(h),
		Password: outbound.HasPassword(h), Use: string(h.Use),
		CreatedAt: h.CreatedAt.UTC(), UpdatedAt: h.UpdatedAt.UTC()}
}
