package smtpclient

import (
	"context"
	"log/slog"
	"strconv"
	"strings"

	"github.com/mjl-/mox/mlog"
)

// tap reads the trace log of mox's client while it opens a session: the only source of the server's
// complete EHLO reply. It also marks the start of each wait for a reply. Credentials are traced at another
// level.
type tap struct {
	command   func() // called before each command is sent
	listening bool   // receiving the reply to an EHLO
	starttls  bool   // STARTTLS was requested
	missing   bool   // although the server does not offer it
	refuse    func(error)
	heard     strings.Builder
}

var _ slog.Handler = (*tap)(nil)

func (t *tap) Enabled(_ context.Context, level slog.Level) bool { return level == mlog.LevelTrace }

func (t *tap) Handle(_ context.Context, record slog.Record) error {
	if sent, ok := strings.CutPrefix(record.Message, "LC: "); ok {
		verb, _, _ := strings.Cut(strings.TrimRight(sent, "\r\n"), " ")
		t.listening = verb == "EHLO" || verb == "HELO"
		if verb == "STARTTLS" {
			// If TLS is required, mox sends STARTTLS even to a server that does not offer it (RFC 3207, 4).
			t.starttls, t.missing = true, !t.parseExtensions().starttls
			if t.missing && t.refuse != nil {
				t.refuse(errNotOffered)
			}
		}
		if t.listening {
			t.heard.Reset()
		}
		t.command()
		return nil
	}
	if got, ok := strings.CutPrefix(record.Message, "RS: "); ok && t.listening {
		t.heard.WriteString(got)
	}
	return nil
}

func (t *tap) WithAttrs([]slog.Attr) slog.Handler { return t }
func (t *tap) WithGroup(string) slog.Handler      { return t }

// extensions are the extensions of a server (RFC 5321, 4.1.1.1).
type extensions struct {
	pipelining bool
	eightBit   bool
	smtputf8   bool
	starttls   bool
	size       bool
	maxSize    int64 // 0: no known limit
	mailMax    int   // transactions per connection (RFC 9422); 0: no known limit
}

// parseExtensions parses the last EHLO reply.
func (t *tap) parseExtensions() extensions {
	var ext extensions
	for i, line := range strings.Split(t.heard.String(), "\n") {
		line = strings.TrimRight(line, "\r")
		code, more, err := splitLine(line)
		if err != nil || code != 250 {
			break
		}
		if i > 0 && len(line) > 4 { // the first line is a greeting
			ext.addExtension(strings.Fields(strings.ToUpper(line[4:])))
		}
		if !more {
			break
		}
	}
	return ext
}

func (ext *extensions) addExtension(words []string) {
	if len(words) == 0 {
		return
	}
	switch words[0] {
	case "PIPELINING":
		ext.pipelining = true
	case "8BITMIME":
		ext.eightBit = true
	case "SMTPUTF8":
		ext.smtputf8 = true
	case "STARTTLS":
		ext.starttls = true
	case "SIZE":
		ext.size = true
		if len(words) > 1 {
			if n, err := strconv.ParseInt(words[1], 10, 64); err == nil {
				ext.maxSize = n
			}
		}
	case "LIMITS":
		for _, limit := range words[1:] {
			if value, ok := strings.CutPrefix(limit, "MAILMAX="); ok {
				if n, err := strconv.Atoi(value); err == nil && n > 0 {
					ext.mailMax = n
				}
			}
		}
	}
}
