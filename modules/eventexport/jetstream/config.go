package jetstream

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/postrider/postrider/runtime/base/secret"
)

// Config describes the stream and how to create it.
type Config struct {
	Target Target
	Files  Files
	Stream string
	Prefix string // prefix of subjects

	Replicas int
	MaxAge   time.Duration // how long the stream keeps messages
	// Duplicates is the deduplication window of the stream. Defaults to 10 minutes.
	Duplicates time.Duration
	Name       string // name of this process in the server's list of connections
	Logger     *slog.Logger
}

// Target contains the servers and the login. Its text form hides secrets.
type Target struct {
	Servers  []string // for example nats://host:4222
	User     string
	Password secret.String
	Token    secret.String
}

// IsZero reports whether there is no target.
func (t Target) IsZero() bool { return len(t.Servers) == 0 }

// Files authenticate the client and the servers. All may be empty.
type Files struct {
	Credentials string // a JWT and its seed, as nsc writes them
	CA          string // signers of the servers' certificates; empty for the system's authorities
	Cert, Key   string // files of the client certificate
}

func (c Config) duplicateWindow() time.Duration { return cmp.Or(c.Duplicates, 10*time.Minute) }

const (
	dialLimit = 2 * time.Second
	ackLimit  = 2 * time.Second // for one acknowledgement, including retries while the stream has no leader
	// A dead connection is detected after two of these.
	pingEvery = 5 * time.Second
)
