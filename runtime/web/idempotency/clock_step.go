package idempotency

import (
	"time"

	"github.com/postrider/postrider/runtime/storage/clockstep"
)

// ClockRepair makes keys expire on time after the database clock stepped back.
var ClockRepair = clockstep.Repair{What: "idempotency keys", Columns: []clockstep.TimeColumn{
	{Table: "idempotency_keys", Name: "expires_at", Limit: 24 * time.Hour, Reset: 24 * time.Hour},
}}
