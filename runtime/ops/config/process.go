package config

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

const (
	process = "Process"
	logging = "Log and traces"
)

// MaxDrainDelay leaves time for running work to finish: a stop takes at most 30 seconds.
const MaxDrainDelay = 15 * time.Second

var plainName = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,100}$`)

var nameForm = setting.Syntax[string]{Placeholder: "NAME",
	Takes: "1 to 100 letters, digits, dots, colons, hyphens or underscores", Parse: func(text string) (string, error) {
		return text, CheckName(text)
	}}

// CheckName returns the problem of a process name, if any.
func CheckName(text string) error {
	if !plainName.MatchString(text) {
		return fmt.Errorf("is %q; want 1 to 100 letters, digits, dots, colons, hyphens or underscores", text)
	}
	return nil
}

// Node is the name of this process, the same after a restart.
var Node = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_NODE", Group: process, DefaultText: "the host name",
	Help: "Name of this process, unique among those that share the database and the same after a restart. Each " +
		"process on a machine needs its own name.",
	Form: nameForm,
	From: func(v setting.Values) string { return cmp.Or(v.Machine, "localhost") },
})

// Cell is the number of the cell in new ids and keys, the same for all processes that share a database.
var Cell = setting.Declare(setting.Setting[int]{
	Name: "POSTRIDER_CELL", Group: process, Form: setting.Number(0, id.MaxCell),
	Help: "Number of the cell that this process belongs to, in new ids and keys. All processes that share the database need the same number.",
})

// Cells are the base URLs of all cells, without slashes at the end. They may include this cell.
var Cells = setting.Declare(setting.Setting[[]string]{
	Name: "POSTRIDER_CELLS", Group: process, DefaultText: "none",
	Help: "Base URLs of all cells, separated by commas. Each needs a host name that leads only to its cell. People can then reset their password at any cell.",
	Form: setting.Syntax[[]string]{Placeholder: "URL,...", Parse: parseCells},
})

func parseCells(text string) (cells []string, err error) {
	for _, item := range setting.List(text) {
		cell, err := parseBaseURL(item)
		if err != nil {
			return nil, fmt.Errorf("contains %q, which %w", item, err)
		}
		cells = append(cells, cell)
	}
	return cells, nil
}

// CellsKey signs the requests between cells.
var CellsKey = setting.Declare(setting.Setting[[]secret.Key]{
	Name: "POSTRIDER_CELLS_KEY", Group: process, Secret: true, DefaultText: "none",
	Help: "Signs requests between cells, the same in all: 32 bytes in base64. With several, separated by commas, the first one signs.",
	Form: keysForm, Show: showKeys,
	Check: func(v setting.Values, keys []secret.Key) error {
		if (len(keys) == 0) != (len(Cells.Get(v)) == 0) {
			return errors.New("must be set together with POSTRIDER_CELLS")
		}
		return nil
	},
})

// Egress is the name of the public address from which mail is sent, if there is no source address. Processes
// that share an address also share the limits of providers for it.
var Egress = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_EGRESS", Group: "Delivery", DefaultText: "the host name",
	Help: "Name of the public address that mail is sent from. Processes with the same name share one address " +
		"(behind a NAT router) and divide the limits of mailbox providers for it.",
	Form: nameForm,
	From: func(v setting.Values) string { return cmp.Or(v.Machine, "localhost") },
})

// DrainDelay is the time between reporting "not ready" and closing the listeners.
var DrainDelay = setting.Declare(setting.Setting[time.Duration]{
	Name: "POSTRIDER_DRAIN_DELAY", Group: process, Form: setting.Duration(0, MaxDrainDelay),
	Help: "How long a stopping process reports draining on /readyz and still accepts requests and mail. Use 5s behind a load balancer.",
})

// Modules is parsed by ParseModules.
var Modules = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_MODULES", Group: process, DefaultText: "all",
	Help: "Modules to disable (-inbound,-tracking) or the list of modules to run.",
	Form: setting.Syntax[string]{Placeholder: "NAME,...",
		Parse: func(text string) (string, error) { return strings.TrimSpace(text), nil }},
})

// DNSServer is ip:port; empty means the system's resolver.
var DNSServer = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_DNS", Group: process, DefaultText: "the system's",
	Help: "Resolver for all DNS queries.",
	Form: setting.Syntax[string]{Placeholder: "IP:PORT", Parse: func(text string) (string, error) {
		if addr, err := netip.ParseAddr(text); err == nil {
			return netip.AddrPortFrom(addr, 53).String(), nil
		}
		server, err := netip.ParseAddrPort(text) // a name would itself need a resolver
		if err != nil || server.Port() == 0 {
			return "", fmt.Errorf("is %q; want an address and port, for example 127.0.0.1:53", text)
		}
		return server.String(), nil
	}},
})

// DeliveryConcurrency is 0 in a process that only accepts mail: it delivers neither mail nor webhooks.
var DeliveryConcurrency = setting.Declare(setting.Setting[int]{
	Name: "POSTRIDER_DELIVERY_CONCURRENCY", Group: "Delivery", Form: setting.Number(0, 10_000), Default: 128,
	Help: "Concurrent connections to mail servers. With 0 the process only accepts mail and leaves delivery to others.",
})

// LogFormat is the format of log lines.
var LogFormat = setting.Declare(setting.Setting[telemetry.Format]{
	Name: "POSTRIDER_LOG_FORMAT", Group: logging, Form: setting.OneOf("FORMAT", telemetry.Text, telemetry.JSON),
	DefaultText: "json; text in development",
	Help:        "Format of log lines.",
	From: func(v setting.Values) telemetry.Format {
		if v.Mode == setting.Serve {
			return telemetry.JSON
		}
		return telemetry.Text
	},
})

var levels = map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn,
	"error": slog.LevelError}

// LogLevel is the minimum level of log lines.
var LogLevel = setting.Declare(setting.Setting[slog.Level]{
	Name: "POSTRIDER_LOG_LEVEL", Group: logging, Default: slog.LevelInfo, DefaultText: "info",
	Help: "Minimum level of log lines.",
	Form: setting.Syntax[slog.Level]{Placeholder: "LEVEL", Takes: "debug, info, warn or error",
		Parse: func(text string) (slog.Level, error) {
			level, known := levels[strings.ToLower(text)]
			if !known {
				return 0, fmt.Errorf("is %q; want debug, info, warn or error", text)
			}
			return level, nil
		}},
})

// TraceEndpoint is the destination of spans, by OTLP over HTTP; empty for none.
var TraceEndpoint = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_OTLP_ENDPOINT", Also: "OTEL_EXPORTER_OTLP_ENDPOINT", Group: logging,
	Help: "Collector of traces, OTLP over HTTP.",
	Form: setting.Syntax[string]{Placeholder: "URL", Parse: func(text string) (string, error) {
		u, err := url.Parse(text)
		if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Hostname() == "" {
			return "", errors.New("must be a URL of OTLP over HTTP, for example http://collector:4318")
		}
		return text, nil
	}},
	Show: WithoutPassword,
})

// WithoutPassword returns a URL for display without its password.
func WithoutPassword(text string) slog.Value {
	u, err := url.Parse(text)
	if err != nil {
		return slog.StringValue(secret.Redacted)
	}
	return slog.StringValue(u.Redacted())
}
