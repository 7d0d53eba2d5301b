package config

import (
	"regexp"
	"strconv"
	"time"
)

// Process says what this process is among others, and how it ends.
type Process struct {
	Node       string        // its name, the same after a restart
	DrainDelay time.Duration // between "not ready" and closed listeners
}

// MaxDrainDelay leaves time for what has begun to end: a stop ends within 30 seconds.
const MaxDrainDelay = 15 * time.Second

var nodeName = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,100}$`)

func (r *resolver) process(s Settings) Process {
	p := Process{Node: s.Node, DrainDelay: r.drainDelay(s.DrainDelay)}
	switch {
	case s.Node == "":
		p.Node = orElse(s.MachineName, "localhost")
	case !nodeName.MatchString(s.Node):
		r.wrong.addf("POSTRIDER_NODE", "is %q; want 1 to 100 letters, digits, dots, colons, hyphens or underscores", s.Node)
	}
	return p
}

// drainDelay takes 5s and, as other settings are, a plain number of seconds.
func (r *resolver) drainDelay(text string) time.Duration {
	if text == "" {
		return 0
	}
	delay, err := time.ParseDuration(text)
	if seconds, plain := strconv.Atoi(text); plain == nil {
		delay, err = time.Duration(seconds)*time.Second, nil
	}
	if err != nil || delay < 0 || delay > MaxDrainDelay {
		r.wrong.addf("POSTRIDER_DRAIN_DELAY", "is %q; want a time from 0 to %s, as 5s", text, MaxDrainDelay)
		return 0
	}
	return delay
}
