package doctor

import (
	"context"
	"fmt"
	"syscall"
	"time"
)

// The kernel's flag for a clock that is not synchronized (adjtimex(2)).
const unsynchronised = 0x40 // STA_UNSYNC

// checkClock asks the kernel whether the clock is synchronized.
func checkClock(context.Context) []Finding {
	s := subject{"clock", "the clock is synchronized by NTP"}
	var t syscall.Timex
	if _, err := syscall.Adjtimex(&t); err != nil {
		return []Finding{s.finding(Skipped, err.Error(), "Check the clock manually: timedatectl.")}
	}
	now := time.Now().UTC().Format(time.RFC3339)
	if t.Status&unsynchronised != 0 {
		return []Finding{s.finding(Warning, now+"; according to the kernel it is not synchronized",
			"Run chrony or systemd-timesyncd (in a container: on its host). Signatures of mail and of webhooks, certificates and scheduled times depend on the clock.")}
	}
	return []Finding{s.ok(fmt.Sprintf("%s, at most %s off", now, (time.Duration(t.Maxerror) * time.Microsecond).
		Round(time.Millisecond)))}
}
