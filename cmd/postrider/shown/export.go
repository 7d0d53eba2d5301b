package shown

import (
	"time"

	"github.com/postrider/postrider/modules/eventexport"
)

// Export is the state of the event export.
type Export struct {
	Position      string     `json:"position"`
	PositionAt    time.Time  `json:"position_at"`
	MovedAt       time.Time  `json:"moved_at"`
	Waiting       int        `json:"waiting"` // counted up to 100,000
	BehindSeconds float64    `json:"behind_seconds"`
	SendingAgain  bool       `json:"sending_again"`
	Failures      int        `json:"failures"`
	LastError     string     `json:"last_error"`
	LastErrorAt   *time.Time `json:"last_error_at"`
	Node          string     `json:"node"` // current publisher
}

// ExportOf returns the JSON of the event export.
func ExportOf(is eventexport.ExportState) Export {
	view := Export{Position: is.Position, PositionAt: is.PositionAt.UTC(), MovedAt: is.MovedAt.UTC(),
		Waiting:       is.Waiting,
		BehindSeconds: is.Behind.Round(time.Millisecond).Seconds(), SendingAgain: is.Again, Failures: is.Failures,
		LastError: is.Error, Node: is.Node}
	if is.FailedAt != nil {
		at := is.FailedAt.UTC()
		view.LastErrorAt = &at
	}
	return view
}
